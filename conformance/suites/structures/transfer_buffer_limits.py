"""Values of CACTransferBufferV1 (MS-MQMP 2.2.3.2) at their limits: each member alone, and each one absent.

A member of the wrong width, sign or place shows where nothing follows that hides it; one that takes the place of its
neighbour shows where the neighbour is absent.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from conformance.judge.structures.rules import CERTIFICATE
from conformance.judge.structures.transfer_buffer_rules import PLAIN, PLAIN_ARMS, octets, plain
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire.transfer_buffer import ARMS, TRANSFER_TYPE

_U32: Final = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_GUIDS: Final = ("00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff")
_NAMES: Final = ("response", "admin", "dest", "ordering")
_SPARE: Final = 100  # bytes that are allocated for a body and not used


def _listed(member: str) -> tuple[int, ...]:
    return tuple(sorted(set(ENUMERATIONS[member].members.values())))


POINTED: Final[Mapping[str, tuple[Any, ...]]] = {
    "p_class": (0, 0x4000, 0xC002),
    "pp_message_id": tuple({"lineage": one, "uniquifier": number} for one in _GUIDS for number in (0, 0xFFFFFFFF)),
    "pp_correlation_id": (octets(bytes(20)), octets(b"\xff" * 20)),
    "p_sent_time": _U32,
    "p_arrived_time": _U32,
    "p_priority": (0, 7),
    "p_delivery": (0, 1),
    "p_acknowledge": _listed("pAcknowledge"),
    "p_auditing": (0, 1, 2, 3),
    "p_application_tag": _U32,
    "pul_relative_time_to_queue": _U32,
    "pul_relative_time_to_live": _U32,
    "p_trace": (0, 1),
    "pul_priv_level": (0, 1),
    "p_authenticated": _listed("pAuthenticated"),
    "pul_hash_alg": _listed("pulHashAlg"),
    "pul_encrypt_alg": _listed("pulEncryptAlg"),
    "pul_prov_type": _U32,
    "pp_src_qmid": _GUIDS,
    "p_uow": tuple({"rgb": one} for one in _GUIDS),
    "pp_connector_type": _GUIDS,
    "pul_body_type": (0, 31, 0x1011),
    "pul_version": _U32,
}
"""What a member that is behind a pointer may be: its limits, or all that is listed."""
IN_PLACE: Final[Mapping[str, tuple[int, ...]]] = {
    "ul_absolute_time_to_queue": _U32,
    "ul_relative_time_to_live": _U32,
    "ul_auth_level": _U32,
    "f_default_provider": (0, 1, -1, 0x7FFFFFFF, -0x80000000),
    "b_encrypted": (0, 1, 0x7F, 0x80, 0xFF),
    "b_authenticated": (0, 1, 0x7F, 0x80, 0xFF),
}
"""The same of a member without a pointer."""


def _body(length: int, spare: int, told: int | None) -> dict[str, Any]:
    sizes = {"ul_body_buffer_size_in_bytes": length, "ul_alloc_body_buffer_in_bytes": length + spare}
    return {"pp_body": octets(bytes(at & 0xFF for at in range(length))), **sizes, "p_body_size": told}


def _title(text: str, told: int | None) -> dict[str, Any]:
    return {"pp_title": text, "ul_title_buffer_size_in_wchars": len(text), "pul_title_buffer_size_in_wchars": told}


def _buffer(name: str, size: str, told: str) -> Iterator[dict[str, Any]]:
    """Yield a buffer of bytes without its second size, empty, of one byte and of many, and absent."""
    yield {told: None}
    for data in (b"", b"\x80", b"x" * 300):
        yield {name: octets(data), size: len(data), told: len(data)}
    yield {name: None, size: 0, told: None}


def _buffers() -> Iterator[dict[str, Any]]:
    for length, spare in ((0, 0), (0, 1), (1, 0), (3, _SPARE), (1000, 7)):
        yield from (_body(length, spare, told) for told in (None, length))
    yield {"pp_body": None, "ul_body_buffer_size_in_bytes": 0, "ul_alloc_body_buffer_in_bytes": 0, "p_body_size": None}
    yield from (_title("x" * length, told) for length in (0, 1, 249) for told in (None, length))
    yield {"pp_title": None, "ul_title_buffer_size_in_wchars": 0, "pul_title_buffer_size_in_wchars": None}
    yield from _buffer("pp_symm_keys", "ul_symm_keys_size", "pul_symm_keys_size_prop")
    yield from _buffer("pp_signature", "ul_signature_size", "pul_signature_size_prop")
    yield from _buffer("pp_msg_extension", "ul_msg_extension_buffer_in_bytes", "p_msg_extension_size")
    length = len(base64.b64decode(CERTIFICATE))
    for told in (None, length):
        yield {"pp_sender_cert": CERTIFICATE, "ul_sender_cert_len": length, "pul_sender_cert_len_prop": told}
    yield {"ppwcs_prov_name": None, "ul_prov_name_len": 0, "pul_auth_prov_name_len_prop": None}


def _name(word: str, text: str | None, told: bool) -> dict[str, Any]:
    length = len(text or "")
    name, size = f"pp_{word}_format_name", f"ul_{word}_format_name_len"
    return {name: text, size: length, f"pul_{word}_format_name_len_prop": length if told else None}


def _arms() -> Iterator[dict[str, Any]]:
    """Yield values of each transfer type: each member of it alone, each absent, and equal ones."""
    for name, queue in PLAIN_ARMS[0].items():
        yield plain(0, arm={name: None})
        yield {TRANSFER_TYPE.json: 0, ARMS[0].json: {name: queue}}
        yield plain(0, arm=dict.fromkeys(PLAIN_ARMS[0], queue))
        yield {TRANSFER_TYPE.json: 0, ARMS[0].json: dict.fromkeys(PLAIN_ARMS[0], queue)}
    for word in _NAMES:
        for told in (False, True):
            for text in (f"DIRECT=OS:host\\{word}\0", "x" * 1023 + "\0"):
                yield {TRANSFER_TYPE.json: 1, ARMS[1].json: {"action": 0, **_name(word, text, told)}}
                yield plain(1, arm=_name(word, text, told))
        yield plain(1, arm=_name(word, None, told=False))
    for number in _U32:
        yield plain(1, arm=dict.fromkeys(("request_timeout", "asynchronous", "cursor"), number))
        yield plain(2, arm=dict.fromkeys(PLAIN_ARMS[2], number))


def limits() -> tuple[dict[str, Any], ...]:
    """Return values that break no rule, each with members at their limits or with absent ones."""
    bare = {TRANSFER_TYPE.json: 0, ARMS[0].json: {}}
    limited = {**POINTED, **IN_PLACE}
    names = [name for name in PLAIN if name in POINTED]
    longest = max(map(len, limited.values()))
    return (
        *({**bare, name: one} for name, values in limited.items() for one in values),
        *(plain(given={name: None}) for name in names),
        *(plain(given={name: None, after: None}) for name, after in pairwise(names)),
        *({**bare, name: PLAIN[name], after: PLAIN[after]} for name, after in pairwise(names)),
        *(plain(given={name: ones[row % len(ones)] for name, ones in limited.items()}) for row in range(longest)),
        *(plain(given=given) for given in _buffers()),
        *({**bare, **given} for given in _buffers()),
        *_arms(),
    )
