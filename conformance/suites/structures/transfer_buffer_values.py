"""Values of CACTransferBufferV1 (MS-MQMP 2.2.3.2): one for each requirement, and a strategy for more."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from conformance.judge.structures.rules import CERTIFICATE
from conformance.judge.structures.transfer_buffer_rules import SID, octets, plain
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
