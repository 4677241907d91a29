"""Each requirement on senders and certificates of objects fails for a manager that has one defect."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from conformance.activex.values import Variant
from conformance.adapter.session import Result
from conformance.fault_tapes import Port
from conformance.judge.packets.signatures import PLACES, signature_facts
from conformance.spec.catalogue import assignment
from conformance.suites.objects import beside, certificates, senders
from conformance.suites.objects.playing import NotCreated
from conformance.suites.packets.signing import FIRST, second
from conformance.verdict import Json, Outcome, Verdict
from conformance.wire import dissect, patch

Params = dict[str, Any]
STORIES = {**senders.STORIES, **certificates.STORIES} | {
    name: beside.STORIES[name]
    for name in beside.STORIES
    if name.startswith("queue-privacy") or name in ("copies", "directory-path", "lookups", "deleted")
}


class Judge:
    """Keeps verdicts, and goes on behind a failure."""

    def __init__(self, **readings: tuple[str, ...]) -> None:
        chosen = {f"R-MQAC-{name.replace('_', '-')}": words for name, words in readings.items()}
        self.readings, self.profile = {**assignment("windows"), **chosen}, "msmq-4.0"
        self.verdicts: list[Verdict] = []

    def begin_example(self, kind: str, repro: Json) -> None:
        pass

    def step(self, words: str, *values: Json) -> None:
        pass

    def record(self, *verdicts: Verdict) -> None:
        self.verdicts += verdicts


class Defective(Port):
    """The embedded manager, of which calls and answers go through a defect."""

    def __init__(self, asks: Asks | None = None, tells: Tells | None = None) -> None:
        self.asks, self.tells = asks, tells
        super().__init__()

    def call(self, method: str, /, **params: Any) -> Result:
        if self.asks is not None:
            changed = self.asks(method, params)
            if isinstance(changed, int):
                return Result.from_json({"status": changed})
            params = changed
        result = super().call(method, **params)
        if self.tells is not None:
            raw = {"status": result.status, **result.values}
            self.tells(method, params, raw)
            return Result.from_json(raw)
        return result


Asks = Callable[[str, Params], Params | int]
Tells = Callable[[str, Params, Params], None]


def put(member: str, *numbers: int) -> Asks:
    """Takes another number for a property: the next one of some in a ring."""
    ring = dict(zip(numbers, (*numbers[1:], numbers[0]), strict=True))

    def asks(method: str, params: Params) -> Params:
        if params.get("member") == member and params.get("kind") == "put":
            (given,) = params["arguments"]
            return {**params, "arguments": [{**given, "value": ring.get(given["value"], given["value"])}]}
        return params

    return asks


def put_bytes(method: str, params: Params) -> Params:
    """Takes another certificate."""
    if params.get("member") == "SenderCertificate" and params["arguments"][0].get("value"):
        return {**params, "arguments": [Variant("ARRAY", second().certificate, "UI1").to_json()]}
    return params


def ignored(*members: str, status: int = 0) -> Asks:
    return lambda method, params: status if params.get("member") in members else params


def as_another(member: str) -> Asks:
    """Works for the next user whenever a member is called as one of the two."""

    def asks(method: str, params: Params) -> Params:
        if params.get("member") == member and "as" in params:
            last = {"1": "2", "2": "1"}.get(params["as"][-1], "1")
            return {**params, "as": params["as"][:-1] + last}
        return params

    return asks


def flags(change: dict[int | None, int | None]) -> Asks:
    """RegisterCertificate takes its flags for other ones."""

    def asks(method: str, params: Params) -> Params:
        if params.get("member") != "RegisterCertificate" or params["arguments"][1]["vt"] == "ARRAY":
            return params
        first, other = params["arguments"]
        number = first["value"] if first["vt"] == "I4" else None
        return {**params, "arguments": [{"vt": "I4", "value": change.get(number, number or 1)}, other]}

    return asks


def got(member: str, change: Callable[[Any], Any]) -> Tells:
    """Shows another value of a property of objects."""

    def tells(method: str, params: Params, raw: Params) -> None:
        if method == "objects.get" and params["members"] == [member] and "value" in raw["values"][0]:
            one = Variant.from_json(raw["values"][0]["value"])
            raw["values"][0]["value"] = Variant(
                one.vt if one.value is not None else "ARRAY",
                change(one.value),
                one.of or ("UI1" if one.value is None else None),
            ).to_json()
        if method == "objects.invoke" and params["member"] == member and params["kind"] == "get" and "value" in raw:
            raw["value"]["value"] = change(raw["value"].get("value"))

    return tells


def shown(member: str, change: Callable[[Any], Any]) -> Tells:
    """Shows another value of a plain message."""

    def tells(method: str, params: Params, raw: Params) -> None:
        if "message" in raw:
            raw["message"] = {**raw["message"], member: change(raw["message"].get(member))}

    return tells


def answered(method_or_member: str, status: int, was: int | None = None) -> Tells:
    """Answers another status."""

    def tells(method: str, params: Params, raw: Params) -> None:
        if method_or_member in (method, params.get("member")) and was in (None, raw["status"]):
            raw["status"] = status

    return tells


def registered(change: Callable[[list[Params]], list[Params]]) -> Tells:
    def tells(method: str, params: Params, raw: Params) -> None:
        if method == "security.certificates":
            raw["certificates"] = change([dict(one) for one in raw["certificates"]])

    return tells


def broken(method: str, params: Params, raw: Params) -> None:
    """Sends packets whose signature is no signature."""
    if method == "outgoing.take":
        for at, one in enumerate(raw["packets"]):
            packet = dissect(base64.b64decode(one))
            there = {key: bytes(128) for key, _, _ in PLACES if key in packet.spans}
            raw["packets"][at] = base64.b64encode(patch(packet, there)).decode()


ROWS, SENT, OF = "MQAC-2.2.2.", "MQAC-3.17.4.1.48.represented-message-", "MQAC-3.17.4.1."
MSG, CERT, PATH = f"{ROWS}16.mqmsg-auth-level-", "MQAC-3.2.4.2.1.", "MQAC-3.10.4.1.39."
AUTHENTICATED = (
    f"{OF}6.output-pis-authenticated-0x0001-parameter",
    f"{OF}84.output-pis-authenticated-variant-true-0xffff",
)
LEVELS = ("always", "msmq10", "sig10", "msmq20", "sig20", "sig30")


def flip(value: Any) -> Any:
    return not value if isinstance(value, bool) else int(not value)


def other_certificate(value: Any) -> bytes:
    return FIRST.certificate if value != FIRST.certificate else second().certificate


def next_number(value: int) -> int:
    return value + 1


def without_old(entries: list[Params]) -> list[Params]:
    """Lose all but the last."""
    return entries[-1:]


class TwoInternal:
    """Keeps the internal certificates of before."""

    def __init__(self) -> None:
        self.seen: dict[str, Params] = {}

    def __call__(self, method: str, params: Params, raw: Params) -> None:
        if method == "reset":
            self.seen.clear()
        if method == "security.certificates":
            for one in raw["certificates"]:
                if one["internal"]:
                    self.seen.setdefault(params["caller"] + one["certificate"], one)
            found = [one for key, one in self.seen.items() if key.startswith(params["caller"])]
            external = [one for one in raw["certificates"] if not one["internal"]]
            raw["certificates"] = external + found


def digests(kept: bool) -> Tells:
    """Has wrong digests of certificates of one kind."""
    wrong = base64.b64encode(bytes(16)).decode()
    return registered(lambda some: [{**one, "digest": wrong} if one["internal"] is kept else one for one in some])


def no_x509(internal: bool) -> Tells:
    raw = base64.b64encode(b"nothing").decode()

    def change(entries: list[Params]) -> list[Params]:
        return [{**one, "certificate": raw} if one["internal"] is internal else one for one in entries]

    return registered(change)


def also_raw(method: str, params: Params, raw: Params) -> None:
    """Registers bytes that are no certificate."""
    if method == "security.certificates":
        one = {"certificate": base64.b64encode(b"no certificate").decode(), "digest": "", "internal": False}
        raw["certificates"] = [*raw["certificates"], one]


Defect = tuple[tuple[str, ...], Asks | None, Tells | None, tuple[str, ...]]
DEFECTS: dict[str, Defect] = {
    "signs-not": (
        ("crossed",),
        put("AuthLevel", 1, 0),
        None,
        (
            f"{MSG}always-prior-outgoing-queue-inserting",
            f"{MSG.replace('mqmsg-auth-level-', '')}reserved-indicate-send-operation",
        ),
    ),
    "other-kind": (
        ("crossed",),
        put("AuthLevel", 2, 4, 8),
        None,
        tuple(f"{MSG}{word}-prior-outgoing-queue" for word in LEVELS[1:]),
    ),
    "other-hash": (
        ("crossed",),
        put("HashAlgorithm", 0x8003, 0x8004, 0x800C),
        None,
        (f"{OF}48.calculate-message-hash-algorithm",),
    ),
    "broken-signature": (
        ("crossed",),
        None,
        broken,
        (f"{OF}48.obtain-message-sender-certificate-private-key", f"{SENT}signature"),
    ),
    "sender-of-another": (
        ("crossed",),
        as_another("Send"),
        None,
        (f"{SENT}sender-identifier-sid-caller", f"{SENT}sender-certificate-internal"),
    ),
    "attached-to-another": (
        ("crossed",),
        as_another("AttachCurrentSecurityContext"),
        None,
        (
            f"{OF}49.purpose",
            f"{OF}49.variable-sender-id-cache-sid-caller",
            f"{OF}49.variable-sender-certificate-cache-certificate",
        ),
    ),
    "attached2-to-another": (
        ("crossed",),
        as_another("AttachCurrentSecurityContext2"),
        None,
        (f"{OF}87.variable-sender-id-cache-sid-caller", f"{OF}87.variable-sender-certificate-cache-certificate"),
    ),
    "attaches-nothing": (
        ("kept",),
        ignored("AttachCurrentSecurityContext", "AttachCurrentSecurityContext2"),
        None,
        (
            f"{SENT}sender-certificate-sender",
            f"{OF}49.variable-sender-certificate-cache",
            f"{OF}87.variable-sender-certificate-cache",
        ),
    ),
    "new-has-certificate": (
        ("kept",),
        None,
        got("SenderCertificate", lambda value: value and other_certificate(value)),
        ("MQAC-3.17.3.sender-certificate-cache-initial",),
    ),
    "new-has-sender": (("kept",), as_another("Send"), None, ("MQAC-3.17.3.sender-identifier-cache-initial",)),
    "other-certificate": (("crossed",), put_bytes, None, (f"{OF}44.var-sender-cert-certificate-x-509-rfc3280",)),
    "level-not-kept": (
        ("crossed",),
        None,
        got("ReceivedAuthenticationLevel", next_number),
        (f"{SENT}authentication-level",),
    ),
    "arrivals-other-level": (
        ("arrival",),
        None,
        got("ReceivedAuthenticationLevel", next_number),
        tuple(name for names in senders.ARRIVALS for name in names),
    ),
    "never-authenticated": (("arrival",), None, got("IsAuthenticated", lambda value: 0), AUTHENTICATED[:1]),
    "never-authenticated2": (("arrival",), None, got("IsAuthenticated2", lambda value: False), AUTHENTICATED[1:]),
    "always-authenticated": (("arrival-none",), None, got("IsAuthenticated", lambda value: 1), (f"{OF}6.purpose",)),
    "always-authenticated2": (
        ("arrival-none",),
        None,
        got("IsAuthenticated2", lambda value: True),
        (f"{OF}84.purpose",),
    ),
    "sender-without-type": (
        ("sender-type",),
        put("SenderIdType", 0, 1),
        None,
        (f"{ROWS}14.mqmsg-senderid-type-none-row", f"{ROWS}14.mqmsg-senderid-type-sid-row"),
    ),
    "other-privacy": (("privacy",), put("PrivLevel", 0, 1, 3), None, tuple(row.demand for row in senders.PRIVACY)),
    "other-bits": (
        ("encrypted",),
        put("PrivLevel", 1, 3),
        None,
        tuple(f"{ROWS}15.mqmsg-priv-level-body-{word}-during-message-transfer" for word in ("base", "enhanced")),
    ),
    "other-queue-privacy": (
        ("queue-privacy",),
        put("PrivLevel", 0, 1, 2),
        None,
        tuple(f"{ROWS}7.mq-priv-level-{word}-row" for word in beside.QUEUE_PRIVACY),
    ),
    "other-algorithm": (
        ("algorithm",),
        None,
        got("HashAlgorithm", next_number),
        tuple(f"{ROWS}18.mqmsg-calg-{word}-row" for word, (kind, _) in senders.CALGS.items() if kind == "Hash"),
    ),
    "other-cipher": (
        ("algorithm",),
        None,
        got("EncryptAlgorithm", next_number),
        tuple(f"{ROWS}18.mqmsg-calg-{word}-row" for word, (kind, _) in senders.CALGS.items() if kind != "Hash"),
    ),
    "checks-provider": (
        ("connector",),
        ignored("Send", status=0xC00E004B),
        None,
        tuple(f"MQDMPR-3.1.1.12.provider-{word}-by-connector" for word in ("type", "name")),
    ),
    "registers-nothing": (
        ("registrations",),
        ignored("RegisterCertificate"),
        None,
        tuple(
            f"{CERT}{word}"
            for word in (
                "add-ext-mq-cert",
                "method-register-certificate-mqusersigncert-user",
                "create-mqusersigncert-ext-mq-cert-new",
                "create-x-509-blob-rfc3280",
            )
        ),
    ),
    "keeps-the-old-one": (
        ("registrations",),
        None,
        TwoInternal(),
        tuple(
            f"{CERT}{word}"
            for word in ("delete-internal-certificate-internal-certificate", "flags-p-mqusersigncert-user-certificates")
        ),
    ),
    "never-exists": (
        ("registrations",),
        flags({2: 1}),
        None,
        tuple(f"{CERT}{word}" for word in ("input-flags", "return-mq-information-internal-user-cert-exist")),
    ),
    "default-keeps": (("registrations",), flags({None: 2}), None, (f"{CERT}flags-default",)),
    "of-another": (
        ("registrations",),
        as_another("RegisterCertificate"),
        None,
        (f"{CERT}retrieve-internal-certificate-user-adm",),
    ),
    "wrong-digest": (("registrations",), None, digests(True), (f"{CERT}add-int-mq-cert",)),
    "no-status": (
        ("registrations",),
        None,
        answered("RegisterCertificate", 1),
        tuple(
            f"{CERT}{word}"
            for word in (
                "status",
                "flags-mqcert-register-if-not-exist-row",
                "external-certificate-contain-mqusersigncert-x-509",
            )
        ),
    ),
    "copies-without-list": (
        ("copies",),
        None,
        got("FormatName", lambda value: str(value).partition(",")[0]),
        (beside.COPIES[2],),
    ),
    "copies-of-another": (("copies",), None, got("PathName", lambda value: f"{value}x"), beside.COPIES[:2]),
    "any-path": (
        ("directory-path",),
        None,
        answered("ADsPath", 0),
        tuple(
            f"{PATH}{word}"
            for word in (
                "variable-queue-format-name-null",
                "variable-queue-format-name-queue-http",
                "refresh-failure",
                "refresh-failure-code",
                "return-hresult-error-after-else",
            )
        ),
    ),
    "no-path": (
        ("directory-path",),
        None,
        got("ADsPath", lambda value: ""),
        (f"{PATH}call-is-refreshed-false-refresh",),
    ),
    "no-dns-path": (
        ("directory-path",),
        None,
        got("PathNameDNS", lambda value: ""),
        ("MQAC-3.10.4.1.31.call-is-refreshed-false-refresh",),
    ),
    "other-name": (("lookups",), None, got("FormatName", lambda value: f"{value}x"), beside.LOOKUPS[:2]),
    "finds-everything": (("lookups",), None, answered("Refresh", 0), beside.LOOKUPS[2:4]),
    "tells-of-what-is-gone": (("deleted",), None, answered("QueueType", 0), (beside.DELETED,)),
    "updates-nothing": (("lookups",), ignored("Update"), None, beside.LOOKUPS[5:6]),
    "updates-all": (("lookups",), None, got("Label", lambda value: "anew"), beside.LOOKUPS[6:]),
}


def told(
    stories: tuple[str, ...], asks: Asks | None = None, tells: Tells | None = None, **readings: tuple[str, ...]
) -> set[str]:
    judge = Judge(**readings)
    with Defective(asks, tells) as port:
        for name in STORIES:
            if name.startswith(stories):
                port.renew()
                with suppress(NotCreated, IndexError):  # what is behind a failure needs nothing to hold
                    beside.tell(name, STORIES, port, judge)  # type: ignore[arg-type]
    return {one.requirement for one in judge.verdicts if one.outcome is Outcome.FAIL}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found(name: str) -> None:
    stories, asks, tells, demands = DEFECTS[name]
    assert set(demands) <= told(stories, asks, tells)


def test_without_a_defect_nothing_fails() -> None:
    assert told(("",)) == set()


def test_each_requirement_has_a_defect() -> None:
    claimed = {demand for _, demands in STORIES.values() for demand in demands}
    assert claimed == {demand for *_, demands in DEFECTS.values() for demand in demands} | {beside.LOOKUPS[4]}


def test_the_kind_in_the_header_is_a_reading() -> None:
    def typed(method: str, params: Params, raw: Params) -> None:
        """Sends packets whose header tells the kind of signature."""
        for at, one in enumerate(raw.get("packets", ())):
            packet = dissect(base64.b64decode(one))
            kind = next((value for key, value in signature_facts(packet).items() if key.endswith("Signature.Kind")), 0)
            changed = patch(packet, {"SecurityHeader.Flags.AS": (0, 1, 3, 5)[int(kind)]}) if kind else packet.data
            raw["packets"][at] = base64.b64encode(changed).decode()

    assert told(("crossed",), None, typed) == set()
    levels = {f"{MSG}{word}-prior-outgoing-queue" for word in LEVELS[1:]}
    assert levels < told(("crossed",), None, typed, signature_type_field=("zero",))
