"""Values of CACTransferBufferV1 (MS-MQMP 2.2.3.2): one for each requirement, those at limits, a strategy for more."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from hypothesis import strategies as st

from conformance.judge.structures.judge import CERTIFICATE
from conformance.judge.structures.transfer_buffer_rules import PLAIN, PLAIN_ARMS, SID, octets, plain
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire.transfer_buffer import ARMS, TRANSFER_TYPE

ENHANCED = "R-MQMP-enhanced-privacy"
LEVELS = {"three": 3, "two": 2}
Readings = Mapping[str, tuple[str, ...]]

_GUIDS = st.uuids().map(str)
_U8, _U16, _U32 = st.integers(0, 0xFF), st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
_TEXTS = st.text(st.characters(codec="utf-16-le", min_codepoint=1), max_size=9)
_NAMES = st.from_regex(r"\A[a-z][a-z0-9]{0,8}\Z")
_OCTETS = st.binary(max_size=9)
_NOBODY = {"pul_sender_id_type": 0, "pp_sender_id": None, "u_sender_id_len": 0, "pul_sender_id_len_prop": 0}
_MANAGER = {
    "pul_sender_id_type": 2,
    "pp_sender_id": octets(bytes(range(16))),
    "u_sender_id_len": 16,
    "pul_sender_id_len_prop": 16,
}


def _numbers(member: str) -> tuple[int, ...]:
    return tuple(sorted(set(ENUMERATIONS[member].members.values())))


def examples(readings: Readings) -> tuple[dict[str, Any], ...]:
    """Return a value for each requirement on written or read values; none of them breaks a rule."""
    cert = {"pp_sender_cert": CERTIFICATE, "ul_sender_cert_len": len(base64.b64decode(CERTIFICATE))}
    enhanced = LEVELS[readings[ENHANCED][0]]
    members: dict[str, tuple[int, ...]] = {
        "p_class": (0, 1, 2, 0x4000, 0x8000, 0x8009, 0xC002, 0x20C8),
        "p_priority": (0, 3, 7),
        "p_delivery": (0, 1),
        "p_acknowledge": _numbers("pAcknowledge"),
        "p_auditing": (0, 1, 2, 3),
        "p_trace": (0, 1),
        "pul_priv_level": (0, 1, enhanced),
        "p_authenticated": _numbers("pAuthenticated"),
        "pul_hash_alg": _numbers("pulHashAlg"),
        "pul_encrypt_alg": _numbers("pulEncryptAlg"),
        "f_default_provider": (0, 1, -1),
        "b_encrypted": (0, 255),
        "b_authenticated": (0, 255),
    }
    longest = max(len(numbers) for numbers in members.values())
    together = ({name: numbers[row % len(numbers)] for name, numbers in members.items()} for row in range(longest))
    return (
        *(plain(arm.case) for arm in ARMS),
        *({TRANSFER_TYPE.json: arm.case, arm.json: {}} for arm in ARMS),
        {TRANSFER_TYPE.json: 0, "send": {}, "p_trace": 1},
        *(plain(1, arm={"action": action}) for action in _numbers("Action")),
        *(plain(given=given) for given in together),
        plain(given=_NOBODY),
        plain(given=_MANAGER),
        plain(given=cert),
        plain(given={"pp_body": None, "ul_body_buffer_size_in_bytes": 0, "ul_alloc_body_buffer_in_bytes": 0} | _EMPTY),
    )


_EMPTY = {"p_body_size": 0, "pp_title": "", "ul_title_buffer_size_in_wchars": 0}


def values(readings: Readings) -> st.SearchStrategy[dict[str, Any]]:
    """Generate values that break no rule, with any pointer null or not."""
    return _values(LEVELS[readings[ENHANCED][0]])


@st.composite
def _values(draw: st.DrawFn, enhanced: int) -> dict[str, Any]:
    arm = draw(st.sampled_from(ARMS))
    inside = draw({0: _send(), 1: _receive(), 2: _create_cursor()}[arm.case])
    out = {TRANSFER_TYPE.json: arm.case, arm.json: inside, **draw(_pointers(enhanced)), **draw(_in_place())}
    body = draw(st.none() | _OCTETS)
    used = len(body or b"")
    room = used + draw(st.integers(0, 9))
    out |= {
        "pp_body": None if body is None else octets(body),
        "ul_body_buffer_size_in_bytes": used,
        "ul_alloc_body_buffer_in_bytes": room,
        "p_body_size": draw(st.none() | st.integers(0, room)),
    }
    out |= draw(_buffer("pp_symm_keys", "ul_symm_keys_size", "pul_symm_keys_size_prop"))
    out |= draw(_buffer("pp_signature", "ul_signature_size", "pul_signature_size_prop"))
    out |= draw(_buffer("pp_msg_extension", "ul_msg_extension_buffer_in_bytes", "p_msg_extension_size"))
    out |= draw(_text("pp_title", "ul_title_buffer_size_in_wchars", "pul_title_buffer_size_in_wchars"))
    out |= draw(_text("ppwcs_prov_name", "ul_prov_name_len", "pul_auth_prov_name_len_prop", end="\0"))
    out |= draw(_sender())
    cert = draw(st.sampled_from((None, CERTIFICATE)))
    length = 0 if cert is None else len(base64.b64decode(cert))
    return out | {"pp_sender_cert": cert, "ul_sender_cert_len": length, "pul_sender_cert_len_prop": length}


def _nullable(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: st.none() | one for name, one in members.items()})


def _pointers(enhanced: int) -> st.SearchStrategy[dict[str, Any]]:
    return _nullable(
        p_class=_U16.map(lambda number: number & ~0x1F00),
        pp_message_id=st.fixed_dictionaries({"lineage": _GUIDS, "uniquifier": _U32}),
        pp_correlation_id=st.binary(min_size=20, max_size=20).map(octets),
        p_sent_time=_U32,
        p_arrived_time=_U32,
        p_priority=st.integers(0, 7),
        p_delivery=st.integers(0, 1),
        p_acknowledge=st.sampled_from(_numbers("pAcknowledge")),
        p_auditing=st.integers(0, 3),
        p_application_tag=_U32,
        pul_relative_time_to_queue=_U32,
        pul_relative_time_to_live=_U32,
        p_trace=st.integers(0, 1),
        pul_priv_level=st.sampled_from((0, 1, enhanced)),
        p_authenticated=st.sampled_from(_numbers("pAuthenticated")),
        pul_hash_alg=st.sampled_from(_numbers("pulHashAlg")),
        pul_encrypt_alg=st.sampled_from(_numbers("pulEncryptAlg")),
        pul_prov_type=_U32,
        pp_src_qmid=_GUIDS,
        p_uow=st.fixed_dictionaries({"rgb": _GUIDS}),
        pp_connector_type=_GUIDS,
        pul_body_type=st.sampled_from((0, 3, 11, 17, 31, 65, 0x1011)),
        pul_version=_U32,
    )


def _in_place() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "ul_absolute_time_to_queue": _U32,
            "ul_relative_time_to_live": _U32,
            "ul_auth_level": _U32,
            "f_default_provider": st.integers(-(1 << 31), (1 << 31) - 1),
            "b_encrypted": _U8,
            "b_authenticated": _U8,
        }
    )


@st.composite
def _buffer(draw: st.DrawFn, name: str, size: str, actual: str) -> dict[str, Any]:
    data = draw(st.none() | _OCTETS)
    told = draw(st.sampled_from((None, len(data or b""))))
    return {name: None if data is None else octets(data), size: len(data or b""), actual: told}


@st.composite
def _text(draw: st.DrawFn, name: str, size: str, actual: str, end: str = "") -> dict[str, Any]:
    text = draw(st.none() | _TEXTS.map(lambda one: one + end))
    length = len((text or "").encode("utf-16-le")) // 2
    return {name: text, size: length, actual: draw(st.sampled_from((None, length)))}


@st.composite
def _sender(draw: st.DrawFn) -> dict[str, Any]:
    """Generate a sender of one of the three types, sometimes with spare room after the SID."""
    sid = octets(SID + bytes(4 * draw(st.integers(0, 1))))
    length = len(base64.b64decode(sid))
    one = {"pul_sender_id_type": 1, "pp_sender_id": sid, "u_sender_id_len": length, "pul_sender_id_len_prop": 12}
    return draw(st.sampled_from((dict(_NOBODY), one, dict(_MANAGER))))


def _send() -> st.SearchStrategy[dict[str, Any]]:
    return _nullable(p_admin_queue_format=_queue_formats(), p_response_queue_format=_queue_formats())


@st.composite
def _receive(draw: st.DrawFn) -> dict[str, Any]:
    out = draw(st.fixed_dictionaries(dict.fromkeys(("request_timeout", "asynchronous", "cursor"), _U32)))
    out["action"] = draw(st.sampled_from(_numbers("Action")))
    for word in ("response", "admin", "dest", "ordering"):
        size = f"ul_{word}_format_name_len"
        out |= draw(_text(f"pp_{word}_format_name", size, f"pul_{word}_format_name_len_prop", end="\0"))
    return out


def _create_cursor() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(dict.fromkeys(("h_cursor", "srv_h_ac_queue", "cli_p_qm_queue"), _U32))


@st.composite
def _queue_formats(draw: st.DrawFn) -> dict[str, Any]:
    """Generate a QUEUE_FORMAT of a kind that may be a response queue."""
    identifier = st.fixed_dictionaries({"lineage": _GUIDS, "uniquifier": _U32})
    kinds: dict[int, tuple[str, st.SearchStrategy[Any]]] = {
        1: ("m_g_public_id", _GUIDS),
        2: ("m_o_private_id", identifier),
        3: ("m_p_direct_id", _NAMES.map(lambda name: "OS:host\\" + name)),
        6: ("m_dl_id", st.fixed_dictionaries({"m_dl_guid": _GUIDS, "m_pwz_domain": _NAMES})),
        7: ("m_multicast_id", st.fixed_dictionaries({"m_address": _U32, "m_port": _U32})),
    }
    kind = draw(st.sampled_from(sorted(kinds)))
    name, inside = kinds[kind]
    return {"m_qft": kind, "m_suffix_and_flags": 0, "m_reserved": 0, name: draw(inside)}


_LIMIT_U32: Final = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_LIMIT_GUIDS: Final = ("00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff")
_LIMIT_NAMES: Final = ("response", "admin", "dest", "ordering")
_SPARE: Final = 100  # bytes that are allocated for a body and not used


def _listed(member: str) -> tuple[int, ...]:
    return tuple(sorted(set(ENUMERATIONS[member].members.values())))


POINTED: Final[Mapping[str, tuple[Any, ...]]] = {
    "p_class": (0, 0x4000, 0xC002),
    "pp_message_id": tuple(
        {"lineage": one, "uniquifier": number} for one in _LIMIT_GUIDS for number in (0, 0xFFFFFFFF)
    ),
    "pp_correlation_id": (octets(bytes(20)), octets(b"\xff" * 20)),
    "p_sent_time": _LIMIT_U32,
    "p_arrived_time": _LIMIT_U32,
    "p_priority": (0, 7),
    "p_delivery": (0, 1),
    "p_acknowledge": _listed("pAcknowledge"),
    "p_auditing": (0, 1, 2, 3),
    "p_application_tag": _LIMIT_U32,
    "pul_relative_time_to_queue": _LIMIT_U32,
    "pul_relative_time_to_live": _LIMIT_U32,
    "p_trace": (0, 1),
    "pul_priv_level": (0, 1),
    "p_authenticated": _listed("pAuthenticated"),
    "pul_hash_alg": _listed("pulHashAlg"),
    "pul_encrypt_alg": _listed("pulEncryptAlg"),
    "pul_prov_type": _LIMIT_U32,
    "pp_src_qmid": _LIMIT_GUIDS,
    "p_uow": tuple({"rgb": one} for one in _LIMIT_GUIDS),
    "pp_connector_type": _LIMIT_GUIDS,
    "pul_body_type": (0, 31, 0x1011),
    "pul_version": _LIMIT_U32,
}
"""Values of a member that is behind a pointer: its limits, or all that is listed."""
IN_PLACE: Final[Mapping[str, tuple[int, ...]]] = {
    "ul_absolute_time_to_queue": _LIMIT_U32,
    "ul_relative_time_to_live": _LIMIT_U32,
    "ul_auth_level": _LIMIT_U32,
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


def _limit_buffer(name: str, size: str, told: str) -> Iterator[dict[str, Any]]:
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
    yield from _limit_buffer("pp_symm_keys", "ul_symm_keys_size", "pul_symm_keys_size_prop")
    yield from _limit_buffer("pp_signature", "ul_signature_size", "pul_signature_size_prop")
    yield from _limit_buffer("pp_msg_extension", "ul_msg_extension_buffer_in_bytes", "p_msg_extension_size")
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
    for word in _LIMIT_NAMES:
        for told in (False, True):
            for text in (f"DIRECT=OS:host\\{word}\0", "x" * 1023 + "\0"):
                yield {TRANSFER_TYPE.json: 1, ARMS[1].json: {"action": 0, **_name(word, text, told)}}
                yield plain(1, arm=_name(word, text, told))
        yield plain(1, arm=_name(word, None, told=False))
    for number in _LIMIT_U32:
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
