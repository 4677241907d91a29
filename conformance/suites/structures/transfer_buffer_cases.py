"""Values of CACTransferBufferV1, and the checks of an implementation's; a refusal has a control before it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from conformance.harness.repro_files import NotRepeatable
from conformance.judge.structures.judge import CERTIFICATE
from conformance.judge.structures.transfer_buffer import (
    ARM_REQUIREMENTS,
    ASPECTS,
    MEMBER_ASPECTS,
    bits_first,
    compare_values,
    judge_read,
    judge_transfer_buffer,
    unreadable,
)
from conformance.judge.structures.transfer_buffer_rules import (
    PLAIN,
    PLAIN_ARMS,
    RULES,
    SECTION,
    SID,
    WHOLE,
    BufferRule,
    octets,
    patched,
    plain,
)
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.suites.structures.checks import Step, answer_json, base64_of, bytes_of
from conformance.verdict import Evidence, Outcome, Verdict, in_phase
from conformance.wire.transfer_buffer import (
    ARMS,
    BUFFERS,
    MEMBERS,
    RECEIVE,
    STRUCTURE,
    TAG,
    TRANSFER_TYPE,
    Arm,
    Member,
    key,
    read_transfer_buffer,
    value_of,
)

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

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


READ = tuple(dict.fromkeys([*ARM_REQUIREMENTS.values(), *(word for one in ASPECTS for word in one.requirements)]))
WRITTEN = tuple(dict.fromkeys([*READ, *(rule.requirement for rule in RULES)]))


def written(value: Mapping[str, Any]) -> bytes:
    """The bytes of a value, by scapy, which the first value loads."""
    from conformance.wire.transfer_buffer_layers import write_transfer_buffer

    return write_transfer_buffer(value)


def blamed(value: Mapping[str, Any]) -> str:
    """Return the requirement that a refusal of a value breaks: on its one member, where it has but one."""
    kind = ARMS[value[TRANSFER_TYPE.json]].json
    given: list[tuple[str, ...]] = [(name,) for name in value if name not in (TRANSFER_TYPE.json, kind)]
    given += [(kind, name) for name in value.get(kind) or ()]
    found = [aspect.requirements[0] for aspect in MEMBER_ASPECTS if [aspect.path] == given]
    return found[0] if found else WHOLE


def encode_case(client: Port, value: Mapping[str, Any], options: RunOptions, step: Step) -> Iterator[Verdict]:
    """Have the implementation write a value; compare the bytes member by member, then judge them by the rules."""
    evidence = Evidence("structure", "structure", {"structure": STRUCTURE, "value": dict(value)})
    subject = f"structures.encode {STRUCTURE}"
    result = _call(client, step, f"Encode a {_buffer_text(value)}.", "structures.encode", value=dict(value))
    data = bytes_of(result.values.get("data")) if result.ok else None
    if data is None:
        yield Verdict(blamed(value), Outcome.FAIL, subject, {"data": "bytes"}, answer_json(result), evidence=evidence)
        return
    structure = read_transfer_buffer(data)
    held = {"structure": STRUCTURE, "value": dict(value), "data": base64_of(data)}
    evidence = Evidence("structure", "structure", held)
    judged = judge_read(
        structure,
        profile=options.profile,
        readings=options.readings,
        level="may",
        subject=subject,
        evidence=evidence,
    )
    if structure.whole:
        got = value_of(structure)
        compared = compare_values(value, got, profile=options.profile, subject=subject, evidence=evidence)
        demand = blamed(value)
        for verdict in bits_first([*compared, *judged], value, got):
            whole = verdict.requirement == WHOLE and verdict.outcome is Outcome.FAIL
            yield replace(verdict, requirement=demand) if whole else verdict
    else:
        yield from unreadable(structure, subject=subject, evidence=evidence)
        if (demand := blamed(value)) != WHOLE:
            actual = {"trouble": structure.trouble[0].says}
            yield Verdict(demand, Outcome.FAIL, subject, {"data": "the structure"}, actual, evidence=evidence)
        yield from judged


def decode_case(
    client: Port,
    value: Mapping[str, Any],
    options: RunOptions,
    step: Step,
    *,
    data: bytes | None = None,
    requirement: str | None = None,
) -> Iterator[Verdict]:
    """Have the implementation read a value of the harness.

    data: its bytes, if they differ from the encoded value on purpose. requirement: the demand that a refusal or a
    difference then breaks, or a refusal only for the encoded value; None: the demands on each member, all judged.
    """
    packed = written(value) if data is None else data
    held = {"structure": STRUCTURE, "value": dict(value), "data": base64_of(packed)}
    evidence = Evidence("structure", "structure", held)
    subject = f"structures.decode {STRUCTURE}"
    text = f"Decode a {_buffer_text(value)}, {len(packed)} bytes."
    result = _call(client, step, text, "structures.decode", data=base64_of(packed))
    if not result.ok:
        expected = {"value": "as encoded"}
        demand = requirement or blamed(value)
        yield Verdict(demand, Outcome.FAIL, subject, expected, answer_json(result), evidence=evidence)
        return
    got = result.values.get("value")
    verdicts = compare_values(value, got, profile=options.profile, subject=subject, evidence=evidence)
    if requirement is None:
        yield from verdicts
        return
    wrong = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    if wrong and data is None:
        yield wrong[0]
    elif wrong:
        yield Verdict(requirement, Outcome.FAIL, subject, wrong[0].expected, wrong[0].actual, evidence=evidence)
    else:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)


def refuse_case(
    client: Port, data: bytes, requirement: str, options: RunOptions, step: Step, *, what: str = "malformed"
) -> Iterator[Verdict]:
    """Have bytes read that must be refused."""
    yield from in_phase("control", decode_case(client, plain(), options, step, requirement=WHOLE))
    evidence = Evidence("structure", "malformed", {"structure": STRUCTURE, "data": base64_of(data)})
    text = f"Decode {len(data)} bytes that are no {STRUCTURE}: {what}."
    result = _call(client, step, text, "structures.decode", data=base64_of(data))
    outcome = Outcome.FAIL if result.ok else Outcome.PASS
    subject = f"structures.decode {STRUCTURE}"
    yield Verdict(requirement, outcome, subject, {"refused": True}, answer_json(result), evidence=evidence)
    yield from in_phase("liveness", decode_case(client, plain(), options, step, requirement=WHOLE))


def forbidden_case(
    client: Port, value: Mapping[str, Any], requirement: str, options: RunOptions, step: Step
) -> Iterator[Verdict]:
    """Have a value with a forbidden member written: it must be refused, or the bytes must not hold the member."""
    yield from in_phase("control", decode_case(client, plain(), options, step, requirement=WHOLE))
    held = {"structure": STRUCTURE, "value": dict(value)}
    evidence = Evidence("structure", "structure", held)
    subject = f"structures.encode {STRUCTURE}"
    text = f"Encode a {_buffer_text(value)}, with what {requirement} forbids."
    result = _call(client, step, text, "structures.encode", value=dict(value))
    data = bytes_of(result.values.get("data")) if result.ok else None
    if data is None:
        outcome = Outcome.FAIL if result.ok else Outcome.PASS
        yield Verdict(
            requirement, outcome, subject, {"data": "bytes, or a refusal"}, answer_json(result), evidence=evidence
        )
    else:
        evidence = Evidence("structure", "structure", {**held, "data": base64_of(data)})
        found = _failing(data, options, evidence)
        fallback = Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
        yield next((verdict for verdict in found if verdict.requirement == requirement), fallback)
    yield from in_phase("liveness", decode_case(client, plain(), options, step, requirement=WHOLE))


def odd_case(client: Port, data: bytes, requirement: str, options: RunOptions, step: Step) -> Iterator[Verdict]:
    """Have bytes with a forbidden member read: they must be refused or read unchanged."""
    yield from in_phase("control", decode_case(client, plain(), options, step, requirement=WHOLE))
    value = _unreserved(value_of(read_transfer_buffer(data)))
    evidence = Evidence("structure", "structure", {"structure": STRUCTURE, "value": value, "data": base64_of(data)})
    subject = f"structures.decode {STRUCTURE}"
    text = f"Decode a {_buffer_text(value)}, with what {requirement} forbids."
    result = _call(client, step, text, "structures.decode", data=base64_of(data))
    got = _unreserved(result.values.get("value"))
    verdicts = compare_values(value, got, profile=options.profile, subject=subject) if result.ok else []
    wrong = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    if wrong:
        yield Verdict(requirement, Outcome.FAIL, subject, wrong[0].expected, wrong[0].actual, evidence=evidence)
    else:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
    yield from in_phase("liveness", decode_case(client, plain(), options, step, requirement=WHOLE))


def _unreserved(value: Any) -> Any:
    """Return the value without the ignored bits of pClass, which a reader may return or leave out."""
    number = value.get("p_class") if isinstance(value, Mapping) else None
    return {**value, "p_class": number & ~0x1F00} if isinstance(number, int) else value


def _failing(data: bytes, options: RunOptions, evidence: Evidence | None = None) -> list[Verdict]:
    subject = f"structures.encode {STRUCTURE}"
    found = judge_transfer_buffer(
        data, profile=options.profile, readings=options.readings, level="may", subject=subject, evidence=evidence
    )
    return [verdict for verdict in found if verdict.outcome is Outcome.FAIL]


def is_forbidden(rule: BufferRule, options: RunOptions) -> bool:
    """Return True if the rule's mutation is broken under the run's readings."""
    return rule.requirement in {verdict.requirement for verdict in _failing(rule.breaks.broken(), options)}


def forbidden() -> tuple[BufferRule, ...]:
    """Return the rules that a value alone can break: those whose mutation changes only the value."""
    return tuple(rule for rule in RULES if rule.breaks.of_value and rule.requirement not in _CONTENTS)


def _call(client: Port, step: Step, text: str, method: str, **params: Any) -> Result:
    result = client.call(method, structure=STRUCTURE, **params)
    step(text, {"method": method, "params": {"structure": STRUCTURE, **params}}, answer_json(result))
    return result


def _buffer_text(value: Mapping[str, Any]) -> str:
    arm = ARMS[value[TRANSFER_TYPE.json]]
    there = sum(one is not None for name, one in value.items() if name.startswith("p"))
    return f"{STRUCTURE} of {arm.name} with {there} pointers that lead somewhere"


# The content of a buffer of bytes, which a writer of the structure copies unchecked.
_CONTENTS = tuple(requirement_id(SECTION + word) for word in ("sender-cert-x509", "sender-cert-length"))


@dataclass(frozen=True)
class Malformed:
    """Bytes to refuse. name: for the test id. requirement: the demand that accepting them breaks. make: the bytes.

    They are made when a test wants them: a list of the tests needs no scapy.
    """

    name: str
    requirement: str
    make: Callable[[], bytes]

    @cached_property
    def data(self) -> bytes:
        """The bytes."""
        return self.make()


@dataclass(frozen=True)
class Ignored:
    """Bytes with an ignored oddity, which read as the plain value. make: the bytes, when a test wants them."""

    name: str
    make: Callable[[], bytes]

    @cached_property
    def data(self) -> bytes:
        """The bytes."""
        return self.make()


@cache
def malformed() -> tuple[Malformed, ...]:
    """Return cut bytes, missing arms, and counts that reach beyond the end or contradict each other."""
    return (*_cut(), *_union(), *_ranges(), *_counts())


@cache
def _plain_bytes(case: int = 0) -> bytes:
    """The bytes of the plain value of a transfer type."""
    return written(plain(case))


def _patched(case: int, changes: Mapping[str, int]) -> bytes:
    return patched(_plain_bytes(case), changes)


def _cut() -> Iterator[Malformed]:
    cuts: dict[str, Callable[[bytes], int]] = {
        "last-byte": lambda data: len(data) - 1,
        "half": lambda data: len(data) // 2,
        "flat": lambda data: 8,
        "all": lambda data: 0,
    }
    for arm in ARMS:
        for word, length in cuts.items():
            yield Malformed(f"{arm.name}-without-{word}", WHOLE, partial(_cut_at, arm.case, length))


def _cut_at(case: int, length: Callable[[bytes], int]) -> bytes:
    data = _plain_bytes(case)
    return data[: length(data)]


def _union() -> Iterator[Malformed]:
    listed = requirement_id(f"{SECTION}transfer-type-values")
    kind, tag = key(TRANSFER_TYPE.name), key(TAG)
    for arm in ARMS:
        changed = partial(partial, _patched, arm.case)
        for number in (3, 0x80000000, 0xFFFFFFFF):
            yield Malformed(f"transfer-type-{number:#x}-as-{arm.name}", listed, changed({kind: number, tag: number}))
        # The two discriminants differ, to catch a reader that uses only one of them.
        yield Malformed(f"transfer-type-3-before-{arm.name}", listed, changed({kind: 3}))
        yield Malformed(f"transfer-type-of-{arm.name}-before-3", listed, changed({tag: 3}))


def _ranges() -> Iterator[Malformed]:
    for word in ("response", "admin", "dest", "ordering"):
        requirement = requirement_id(f"{SECTION}{word}-format-name-length-range")
        yield Malformed(f"{word}-format-name-1025", requirement, partial(_long_name, word))


def _long_name(word: str) -> bytes:
    name = {f"pp_{word}_format_name": "x" * 1024 + "\0", f"ul_{word}_format_name_len": 1025}
    return written(plain(1, arm=name))


def _counts() -> Iterator[Malformed]:
    for arm, members in ((None, MEMBERS), (RECEIVE, RECEIVE.members)):
        for member in (one for one in members if one.kind in BUFFERS):
            for word in ("behind-the-end", "sign-bit", "highest"):
                yield Malformed(f"{member.name}-{word}", WHOLE, partial(_counted, arm, member, word))
    body, used = key("ppBody"), key("ulBodyBufferSizeInBytes")
    overfull = partial(_patched, 0, {f"{body}.ActualCount": 25, used: 25})
    yield Malformed("ppBody-overfull", requirement_id(f"{SECTION}body-buffer-size-maximum"), overfull)


def _counted(arm: Arm | None, member: Member, word: str) -> bytes:
    """The plain value with another count of a member's elements."""
    structure = read_transfer_buffer(_plain_bytes(arm.case if arm else 0))
    name = key(member.name, arm)
    top = (1 << 8 * structure.spans[key(member.size, arm)][1]) - 1 if member.size else 0xFFFFFFFF
    if word == "behind-the-end":
        number = (len(structure.data) - structure.spans[name][0]) // BUFFERS[member.kind] + 1
    else:
        number = (top >> 1) + 1 if word == "sign-bit" else top
    counts = {f"{name}.MaxCount": number}
    counts |= {key(one, arm): number for one in (member.size, member.length) if one}
    if member.varying:
        counts[f"{name}.ActualCount"] = number
    return patched(structure.data, counts)


@cache
def ignored() -> tuple[Ignored, ...]:
    """Return bytes with filled gaps, and with other numbers for pointers."""
    return (
        Ignored("gaps", _with_gaps),
        Ignored("small-referents", partial(_with_referents, 1, 1)),
        Ignored("large-referents", partial(_with_referents, 0xFFFFFFFF, -1)),
    )


def _with_gaps() -> bytes:
    data = _plain_bytes()
    held = {at for begin, size in read_transfer_buffer(data).spans.values() for at in range(begin, begin + size)}
    return bytes(byte if at in held else 0xA5 for at, byte in enumerate(data))


def _with_referents(first: int, step: int) -> bytes:
    data = _plain_bytes()
    spans = read_transfer_buffer(data).spans
    pointers = [name for name in spans if name.endswith((".Referent", ".Inner"))]
    lead = [name for name in pointers if int.from_bytes(data[spans[name][0] : spans[name][0] + 4], "little")]
    return patched(data, {name: first + step * index for index, name in enumerate(lead)})


def each(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the verdicts of a repro. Raises NotRepeatable for a repro of another suite or format."""
    case, value, requirement = repro.get("case"), repro.get("value"), repro.get("requirement")
    data = bytes_of(repro.get("data"))
    known = isinstance(value, Mapping) and _writable(value)
    if case == "encode" and known:
        return encode_case(client, dict(value or {}), options, _quiet)
    if case == "decode" and known and data is not None and isinstance(requirement, str | None):
        return decode_case(client, dict(value or {}), options, _quiet, data=data, requirement=requirement)
    if case == "forbidden" and known and isinstance(requirement, str):
        return forbidden_case(client, dict(value or {}), requirement, options, _quiet)
    if case == "odd" and data is not None and read_transfer_buffer(data).whole and isinstance(requirement, str):
        return odd_case(client, data, requirement, options, _quiet)
    if case == "refuse" and data is not None and isinstance(requirement, str):
        return refuse_case(client, data, requirement, options, _quiet)
    raise NotRepeatable("The repro file holds no example of the suite structures.")


def _writable(value: Mapping[str, Any]) -> bool:
    try:
        return bool(written(value))
    except ValueError:
        return False


def _quiet(*_: Any) -> None:
    return None
