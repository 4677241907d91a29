"""Certificates that objects register for their users: MC-MQAC 3.2.4.2.1, MS-MQDMPR 3.1.1.15, 3.1.1.19."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from conformance.activex.expected import Seen
from conformance.activex.values import MISSING, S_OK, long, octets
from conformance.spec.constants.hresults import MQ_INFORMATION_INTERNAL_USER_CERT_EXIST
from conformance.suites.objects.beside import Sides, Stories
from conformance.suites.objects.playing import NotCreated
from conformance.suites.packets.signing import FIRST, second
from conformance.suites.security.crossings import LEVELS, levels
from conformance.wire.certificates import read_certificate

_ID: Final = "MQAC-3.2.4.2.1."
_ALWAYS, _IF_NOT_EXIST = 1, 2  # MQCERT_REGISTER
_METHOD: Final = "method-register-certificate-mqusersigncert-user"
_FLAGS: Final = "flags-p-mqusersigncert-user-certificates"
_EXTERNAL: Final = "external-certificate-contain-mqusersigncert-x-509"
_OF_USER: Final = "retrieve-internal-certificate-user-adm"
_NEW: Final = "create-x-509-blob-rfc3280"
_ADDED: Final = ("delete-internal-certificate-internal-certificate", "add-int-mq-cert", _METHOD)
_CASES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = MappingProxyType(
    {
        "kept": (("return-mq-information-internal-user-cert-exist",), ("input-flags", _FLAGS)),
        "external": (
            (_EXTERNAL, "status"),
            ("add-ext-mq-cert", "create-mqusersigncert-ext-mq-cert-new", _EXTERNAL, _METHOD),
        ),
        "first": (("flags-mqcert-register-if-not-exist-row", _OF_USER, "status"), _ADDED[1:]),
        "default": (("flags-default", "status"), _ADDED),
        "always": (("status",), (_FLAGS, *_ADDED)),
    }
)
"""Requirements on the status and on the entries of the user afterwards, by the effect that a call has."""
_CALLS: Final = ((_ALWAYS, 0), (None, 0), (_IF_NOT_EXIST, 0), (_ALWAYS, 1), (None, 2))
"""Flags of the calls of a history, and no certificate or the number of a signer."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered certificate and its digest. internal: the queue manager has made it."""

    certificate: bytes
    digest: bytes
    internal: bool


def two_users(sides: Sides) -> tuple[str, str]:
    """Return two users of a domain as whom calls can be made. Raises NotCreated for a driver that has none."""
    callers = (sides.mq.hello.security or {}).get("callers", ())
    found = [str(one["sid"]) for one in callers if one.get("domain_user") and not one.get("guest")]
    if len(found) < 2:
        raise NotCreated("the driver declares no two users of a domain")
    return found[0], found[1]


def listed(sides: Sides, user: str) -> tuple[Entry, ...]:
    """Return what the directory has for a user."""
    entries = sides.plain("security.certificates", caller=user).values["certificates"]
    return tuple(
        Entry(base64.b64decode(one["certificate"]), base64.b64decode(one["digest"]), one["internal"]) for one in entries
    )


def internal_of(sides: Sides, user: str) -> bytes:
    """Return the internal certificate of a user; empty for none."""
    return next((one.certificate for one in listed(sides, user) if one.internal), b"")


def register(sides: Sides, user: str, flags: int | None = None, certificate: bytes | None = None) -> Seen:
    """Call RegisterCertificate as a user. None: the argument is left out."""
    with sides.by(user):
        application = sides.created("MSMQApplication")
        arguments = (MISSING if flags is None else long(flags), MISSING if certificate is None else octets(certificate))
        return sides.invoke(application, "RegisterCertificate", *arguments)


def registrations(sides: Sides, row: int, column: int) -> None:
    """Two users register in turn, what the row of an orthogonal array has; judge each call by what was there before."""
    users = two_users(sides)
    earlier: set[bytes] = set()
    before = [listed(sides, user) for user in users]
    for turn, choice in enumerate(levels(row, column)):
        who, (flags, signer) = min(turn % 3, 1), _CALLS[choice]
        certificate = (None, FIRST.certificate, second().certificate)[signer]
        exists = any(one.internal for one in before[who])
        case = {_ALWAYS: "always", None: "default"}.get(flags, "kept" if exists else "first")
        case = case if certificate is None else "external"
        status = register(sides, users[who], flags, certificate).status
        after = [listed(sides, user) for user in users]
        earlier |= {one.certificate for some in before for one in some}
        _judge(sides, case, status, before[who], after[who], certificate, earlier)
        sides.expect(_ID + _OF_USER, _shown(before[1 - who]), _shown(after[1 - who]))
        before = after


def _judge(
    sides: Sides,
    case: str,
    status: int,
    before: tuple[Entry, ...],
    after: tuple[Entry, ...],
    certificate: bytes | None,
    earlier: set[bytes],
) -> None:
    """Judge status and entries of a call's user. certificate: that of the call. earlier: all that anybody has had."""
    of_status, of_entries = _CASES[case]
    wanted = MQ_INFORMATION_INTERNAL_USER_CERT_EXIST if case == "kept" else S_OK
    for name in of_status:
        sides.expect(_ID + name, {"status": wanted}, {"status": status})
    expected = {one.certificate: one.internal for one in before}
    if certificate is not None:
        expected[certificate] = False
    elif case != "kept":
        new = [one.certificate for one in after if one.internal and one.certificate not in earlier]
        actual = {"new": len(new), "x509": all(read_certificate(one).x509 is not False for one in new)}
        for name in (*(["flags-default"] if case == "default" else []), _NEW):
            sides.expect(_ID + name, {"new": 1, "x509": True}, actual)
        expected = {one: internal for one, internal in expected.items() if not internal} | {new[0]: True}
    shown = sorted(f"{one.hex()} {'internal' if internal else 'external'}" for one, internal in expected.items())
    for name in of_entries:
        sides.expect(_ID + name, shown, _shown(after))
    for one in after:
        name = "add-int-mq-cert" if one.internal else "create-mqusersigncert-ext-mq-cert-new"
        digest = hashlib.md5(one.certificate, usedforsecurity=False)
        sides.expect(_ID + name, digest.hexdigest(), one.digest.hex())


def _shown(entries: tuple[Entry, ...]) -> list[str]:
    """Return entries in words; one that was added twice counts once."""
    return sorted({f"{one.certificate.hex()} {'internal' if one.internal else 'external'}" for one in entries})


def no_certificate(sides: Sides) -> None:
    """Bytes are registered that are no certificate: nothing but certificates is registered then."""
    user, _ = two_users(sides)
    register(sides, user, _ALWAYS, b"no certificate")
    wrong = [one.certificate.hex() for one in listed(sides, user) if read_certificate(one.certificate).x509 is False]
    sides.expect(f"{_ID}{_EXTERNAL}", [], wrong)


_EACH: Final = tuple(
    _ID + name
    for name in sorted({_NEW, _OF_USER, *(name for case in _CASES.values() for names in case for name in names)})
)
STORIES: Final[Stories] = MappingProxyType(
    {
        **{
            f"registrations-{row}{column}": (partial(registrations, row=row, column=column), _EACH)
            for row in range(LEVELS)
            for column in range(LEVELS)
        },
        "registered-no-certificate": (no_certificate, (f"{_ID}{_EXTERNAL}",)),
    }
)
"""Stories by name, with the requirements that they judge."""
