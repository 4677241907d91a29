"""Values of structures, the checks of their encoding and decoding, and tests that explore one kind of value."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.structures.blame import LISTS
from conformance.judge.structures.judge import (
    CERTIFICATE,
    LIST_ALIGNMENT,
    PLAIN,
    RSA_KEY,
    compare_decoded,
    compare_encoded,
    judge_structure,
    whole_requirement,
)
from conformance.spec.catalogue import assignment
from conformance.verdict import Evidence, Outcome, Verdict, in_phase
from conformance.wire.structures import complete, encode

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

GUIDS = st.uuids().map(str)
U16, U32 = st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
U64 = st.integers(0, (1 << 64) - 1).map(str)
I64 = st.integers(-(1 << 63), (1 << 63) - 1).map(str)
I32 = st.integers(-(1 << 31), (1 << 31) - 1)
TEXTS = st.text(st.characters(codec="utf-16-le", min_codepoint=1), max_size=9)
WORDS = st.from_regex(r"\A[a-z][a-z0-9]{0,8}\Z")
OCTETS = st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode("ascii"))
KEYS = st.binary(min_size=8, max_size=16).map(
    lambda modulus: base64.b64encode(
        base64.b64decode(RSA_KEY)[:12] + (8 * len(modulus)).to_bytes(4, "little") + b"\1\0\1\0" + modulus
    ).decode("ascii")
)
_GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
_OTHER_CERTIFICATE = (
    "MIIBXDCCAQagAwIBAgIBATANBgkqhkiG9w0BAQsFADAMMQowCAYDVQQDDAFhMB4XDTI2MTEyMjAzMzgwOFoXDTM2MTExOTAzMzgwOFowDDEKMAgG"
    "A1UEAwwBYTBcMA0GCSqGSIb3DQEBAQUAA0sAMEgCQQC6TxGxPfN6V6R6OruCa1u0OUbie6Z40X26rNuYWgNX9jCZ0H6BlAaBnTOJG8tjyZfDb31Y"
    "l5QafRlEuOC3urURAgMBAAGjUzBRMB0GA1UdDgQWBBSJ2L5mTwcBCAogO6KPxoWVGBJgszAfBgNVHSMEGDAWgBSJ2L5mTwcBCAogO6KPxoWVGBJg"
    "szAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA0EAcOGXpcPaXnut6zwolMH14C7X2ghp+yT7FohYzdGkIIh/9K8w0WrdGlBaUi1+E0mN"
    "yenVjJO0fXCM6fCDkvJcjw=="
)
CERTIFICATES = st.sampled_from((CERTIFICATE, _OTHER_CERTIFICATE))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value. name: for a test id. example: a value that has every feature of the kind."""

    name: str
    structure: str
    example: Any
    values: st.SearchStrategy[Any]


def _kind(structure: str, values: st.SearchStrategy[Any], example: Any = None, word: str = "") -> Kind:
    name = f"{structure}-{word}" if word else structure
    return Kind(name, structure, PLAIN[structure] if example is None else example, values)


def _object(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(members)


_KEY = _object(ul_provider_type=st.sampled_from((1, 24)), s_provider_name=TEXTS, a_buf=KEYS)
_CERTIFICATE = _object(identifier=GUIDS, certificate=CERTIFICATES)


def _address(kind: int, size: int, word: str) -> Kind:
    address = st.binary(min_size=size, max_size=size).map(lambda data: base64.b64encode(data).decode("ascii"))
    example = base64.b64encode(bytes(range(1, size + 1))).decode("ascii")
    return _kind(
        "TA_ADDRESS",
        _object(address_type=st.just(kind), address=address),
        {"address_type": kind, "address": example},
        word,
    )


FLAT: tuple[Kind, ...] = (
    _kind("MQDSPUBLICKEY", _KEY),
    _kind("MQDSPUBLICKEYS", _object(a_public_keys=st.lists(_KEY, max_size=3))),
    _kind("SECURITY_INFORMATION", st.integers(0, 15)),
    _address(1, 4, "ip"),
    _address(2, 4, "ip-ras"),
    _address(3, 10, "ipx"),
    _address(5, 16, "foreign"),
    _kind("SEQUENCE_INFO", _object(seq_id=I64, seq_no=U32, prev_no=U32)),
    _kind("OBJECTID", _object(lineage=GUIDS, uniquifier=U32)),
    _kind("MULTICAST_ID", _object(m_address=U32, m_port=U32)),
    _kind("VARIANT_BOOL", st.just(value=True), True, "true"),
    _kind("VARIANT_BOOL", st.just(value=False), False, "false"),
    _kind("ULARGE_INTEGER", _object(quad_part=U64)),
    _kind("XACTUOW", _object(rgb=GUIDS)),
    _kind("TxSequenceID", _object(ordinal=U32, time_stamp=U32)),
    _kind("MessageIdentifier", _object(queue_manager_guid=GUIDS, ordinal=U32)),
    _kind("MQUSERSIGNCERT", _CERTIFICATE),
    _kind("MQUSERSIGNCERTS", _object(certificates=st.lists(_CERTIFICATE, max_size=3))),
)

_HOSTS = WORDS.map(lambda word: f"OS:{word}")
_QUEUES = st.builds(lambda host, queue: f"{host}\\private$\\{queue}", _HOSTS, WORDS)
_OBJECTS = _object(lineage=GUIDS, uniquifier=U32)


def _queue(
    qft: int, word: str, both: int, member: str, values: st.SearchStrategy[Any] | None = None, example: Any = None
) -> Kind:
    plain = {"m_qft": qft, "m_suffix_and_flags": both}
    strategy = st.just(plain) if values is None else values.map(lambda held: {**plain, member: held})
    name = f"{word}-{both:#04x}"
    return Kind(
        f"QUEUE_FORMAT-{name}", "QUEUE_FORMAT", {**plain, member: example} if values is not None else plain, strategy
    )


def _system(what: str) -> st.SearchStrategy[str]:
    return _HOSTS.map(lambda host: f"{host}\\SYSTEM$;{what}")


def _queue_formats() -> Iterable[Kind]:
    yield _queue(0, "unknown", 0, "")
    objectid = dict(PLAIN["OBJECTID"])
    for both in (0x00, 0x81):
        yield _queue(1, "public", both, "m_g_public_id", GUIDS, _GUID)
        yield _queue(2, "private", both, "m_o_private_id", _OBJECTS, objectid)
    yield _queue(3, "direct", 0x00, "m_p_direct_id", _QUEUES, "OS:host\\private$\\q")
    for number, what in enumerate(("JOURNAL", "DEADLETTER", "DEADXACT"), start=1):
        both = 0x80 | number
        yield _queue(3, "direct", both, "m_p_direct_id", _system(what), f"OS:host\\SYSTEM$;{what}")
        yield _queue(4, "machine", both, "m_g_machine_id", GUIDS, _GUID)
    for both in (0x00, 0x04):
        yield _queue(5, "connector", both, "m_g_connector_id", GUIDS, _GUID)
    lists = _object(m_dl_guid=GUIDS, m_pwz_domain=WORDS)
    yield _queue(6, "dl", 0, "m_dl_id", lists, dict(PLAIN["DL_ID"]))
    groups = _object(m_address=U32, m_port=U16)
    yield _queue(7, "multicast", 0, "m_multicast_id", groups, dict(PLAIN["MULTICAST_ID"]))
    subqueues = st.builds(lambda queue, sub: f"{queue};{sub}", _QUEUES, WORDS)
    yield _queue(8, "subqueue", 0x05, "m_p_direct_subqueue_id", subqueues, "OS:host\\private$\\q;sub")


QUEUE_FORMATS: tuple[Kind, ...] = (
    *_queue_formats(),
    _kind("DL_ID", _object(m_dl_guid=GUIDS, m_pwz_domain=WORDS)),
)

_SCALARS: dict[int, tuple[str, st.SearchStrategy[Any], Any]] = {
    16: ("i1", st.integers(-128, 127), -2),
    17: ("ui1", st.integers(0, 255), 254),
    2: ("i2", st.integers(-0x8000, 0x7FFF), -2),
    18: ("ui2", U16, 0xFFFE),
    3: ("i4", I32, -2),
    19: ("ui4", U32, 0xFFFFFFFE),
    20: ("i8", I64, "-2"),
    21: ("ui8", U64, "18446744073709551614"),
    72: ("clsid", GUIDS, _GUID),
    65: ("blob", OCTETS, "AAEC"),
    31: ("lpwstr", TEXTS, "text"),
}
_ELEMENTS: dict[int, tuple[str, str, st.SearchStrategy[Any]]] = {
    17: ("ui1", "CAUB", OCTETS),
    18: ("ui2", "CAUI", st.lists(U16, max_size=5)),
    3: ("i4", "CAL", st.lists(I32, max_size=5)),
    19: ("ui4", "CAUL", st.lists(U32, max_size=5)),
    21: ("ui8", "CAUH", st.lists(U64, max_size=5)),
    72: ("clsid", "CACLSID", st.lists(GUIDS, max_size=3)),
    31: ("lpwstr", "CALPWSTR", st.lists(TEXTS, max_size=3)),
}


def _variant(vt: int, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values.map(lambda held: {"vt": vt, "value": held})


_SIMPLE = st.one_of(
    st.just({"vt": 0}),
    _variant(11, st.booleans()),
    *(_variant(vt, values) for vt, (_, values, _) in _SCALARS.items()),
    *(_variant(0x1000 | vt, values) for vt, (_, _, values) in _ELEMENTS.items()),
)
VARIANT_LISTS = st.lists(_SIMPLE | _variant(0x100C, st.lists(_SIMPLE, max_size=2)), max_size=3)


def _variants() -> Iterable[Kind]:
    name = "PROPVARIANT"
    for vt, word in ((0, "empty"), (1, "null")):
        yield _kind(name, st.just({"vt": vt}), {"vt": vt}, word)
    for truth in (True, False):
        held = {"vt": 11, "value": truth}
        yield _kind(name, st.just(held), held, f"bool-{str(truth).lower()}")
    for vt, (word, values, value) in _SCALARS.items():
        yield _kind(name, _variant(vt, values), {"vt": vt, "value": value}, word)
    for vt, (word, array, values) in _ELEMENTS.items():
        example = {"vt": 0x1000 | vt, "value": PLAIN[array]["p_elems"]}
        yield _kind(name, _variant(0x1000 | vt, values), example, f"vector-{word}")
    example = {"vt": 0x100C, "value": PLAIN["CAPROPVARIANT"]["p_elems"]}
    yield _kind(name, _variant(0x100C, VARIANT_LISTS), example, "vector-variant")
    yield _kind("BLOB", _object(p_blob_data=OCTETS))
    for _, array, values in _ELEMENTS.values():
        yield _kind(array, _object(p_elems=values))
    yield _kind("CAPROPVARIANT", _object(p_elems=VARIANT_LISTS))


VARIANTS: tuple[Kind, ...] = tuple(_variants())
KINDS: tuple[Kind, ...] = (*FLAT, *QUEUE_FORMATS, *VARIANTS)

Step = Callable[..., None]


@cache
def claims(way: str, name: str) -> tuple[str, ...]:
    """Return the requirements that judge a kind of value when an implementation encodes it, or decodes it.

    They come from judging the right answer to its example, so that no marker names a requirement the test cannot judge.
    """
    kind = next(kind for kind in KINDS if kind.name == name)
    readings = assignment("windows")
    if way == "encode":
        data = encode(kind.structure, kind.example)
        verdicts = compare_encoded(kind.structure, kind.example, data, readings=readings)
    else:
        answer = complete(kind.structure, kind.example)
        verdicts = compare_decoded(kind.structure, kind.example, answer, readings=readings)
    return tuple(dict.fromkeys(verdict.requirement for verdict in verdicts))


def encode_case(client: Port, name: str, value: Any, options: RunOptions, step: Step) -> Iterator[Verdict]:
    """Have the implementation write a structure; compare the bytes member by member."""
    evidence = _evidence(name, value, None)
    result = _call(client, step, f"Encode a {name}.", "structures.encode", structure=name, value=value)
    data = bytes_of(result.values.get("data")) if result.ok else None
    if data is None:
        yield Verdict(
            whole_requirement(name, value),
            Outcome.FAIL,
            f"structures.encode {name}",
            {"data": "bytes"},
            answer_json(result),
            evidence=evidence,
        )
        return
    evidence = _evidence(name, value, data)
    yield from compare_encoded(name, value, data, readings=options.readings, evidence=evidence)


def decode_case(
    client: Port,
    name: str,
    value: Any,
    options: RunOptions,
    step: Step,
    *,
    data: bytes | None = None,
    requirement: str | None = None,
) -> Iterator[Verdict]:
    """Have the implementation read a structure of the harness.

    data: its bytes, if they differ from the encoded `value` on purpose. requirement: the demand that a refusal or a
    difference then breaks; None: the demand on each member.
    """
    packed = encode(name, value) if data is None else data
    evidence = _evidence(name, value, packed)
    result = _read(client, name, packed, step, "a valid")
    verdicts = list(_judged(name, value, result, options, evidence))
    if _failed(verdicts) and data is None and name in LISTS and "aligned" in options.readings[LIST_ALIGNMENT]:
        other = encode(name, value, aligned=True)
        again = list(_judged(name, value, _read(client, name, other, step, "an aligned"), options, evidence))
        if not _failed(again):
            outcome = Outcome.PASS if options.readings[LIST_ALIGNMENT][0] == "aligned" else Outcome.READING
            followed = ((LIST_ALIGNMENT, "aligned"),)
            verdicts = [Verdict(each.requirement, outcome, each.subject, readings=followed) for each in again]
    if requirement is None:
        yield from verdicts
        return
    wrong = _failed(verdicts)
    subject = f"structures.decode {name}"
    if wrong:
        yield Verdict(requirement, Outcome.FAIL, subject, wrong[0].expected, wrong[0].actual, evidence=evidence)
    else:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)


def refuse_case(
    client: Port,
    name: str,
    data: bytes,
    requirement: str,
    options: RunOptions,
    step: Step,
    *,
    value: Any = None,
    what: str = "malformed",
) -> Iterator[Verdict]:
    """Have bytes read that must be refused or, if there is a `value`, may be read as that and nothing else."""
    yield from in_phase("control", decode_case(client, name, PLAIN[name], options, step))
    evidence = Evidence("structure", "malformed", {"structure": name, "data": base64_of(data)})
    result = _read(client, name, data, step, what)
    subject = f"structures.decode {name}"
    taken = result.ok and (value is None or _failed(_judged(name, value, result, options, evidence)))
    if taken:
        expected: dict[str, Any] = {"refused": True} if value is None else {"refused, or value": value}
        yield Verdict(requirement, Outcome.FAIL, subject, expected, answer_json(result), evidence=evidence)
    else:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
    yield from in_phase("liveness", decode_case(client, name, PLAIN[name], options, step))


def forbidden_case(
    client: Port, name: str, value: Any, requirement: str, options: RunOptions, step: Step
) -> Iterator[Verdict]:
    """Have a forbidden value written: it must be refused, or the bytes must not hold it."""
    yield from in_phase("control", decode_case(client, name, PLAIN[name], options, step))
    evidence = _evidence(name, value, None)
    subject = f"structures.encode {name}"
    text = f"Encode a {name} with what {requirement} forbids."
    result = _call(client, step, text, "structures.encode", structure=name, value=value)
    data = bytes_of(result.values.get("data")) if result.ok else None
    if data is None:
        outcome = Outcome.FAIL if result.ok else Outcome.PASS
        yield Verdict(
            requirement, outcome, subject, {"data": "bytes, or a refusal"}, answer_json(result), evidence=evidence
        )
    else:
        evidence = _evidence(name, value, data)
        found = judge_structure(name, data, readings=options.readings, subject=subject, evidence=evidence)
        fallback = Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
        yield next((one for one in _failed(found) if one.requirement == requirement), fallback)
    yield from in_phase("liveness", decode_case(client, name, PLAIN[name], options, step))


def _judged(name: str, value: Any, result: Result, options: RunOptions, evidence: Evidence) -> Iterator[Verdict]:
    if not result.ok:
        yield Verdict(
            whole_requirement(name, value),
            Outcome.FAIL,
            f"structures.decode {name}",
            {"value": "as encoded"},
            answer_json(result),
            evidence=evidence,
        )
        return
    answer = result.values.get("value")
    yield from compare_decoded(name, value, answer, readings=options.readings, evidence=evidence)


def _failed(verdicts: Any) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]


def _read(client: Port, name: str, data: bytes, step: Step, what: str) -> Result:
    text = f"Decode {what} {name} of {len(data)} bytes."
    return _call(client, step, text, "structures.decode", structure=name, data=base64_of(data))


def _call(client: Port, step: Step, text: str, method: str, **params: Any) -> Result:
    result = client.call(method, **params)
    step(text, {"method": method, "params": params}, answer_json(result))
    return result


def _evidence(name: str, value: Any, data: bytes | None) -> Evidence:
    held = {"structure": name, "value": value}
    return Evidence("structure", "structure", held if data is None else {**held, "data": base64_of(data)})


def answer_json(result: Result) -> dict[str, Any]:
    """Return an answer as data for the story."""
    out: dict[str, Any] = {"status": result.status, **result.values}
    if result.failure is not None:
        out["failure"] = {"kind": result.failure.kind, "text": result.failure.text}
    return out


def base64_of(data: bytes) -> str:
    """Return bytes as the adapter protocol writes them, in base64."""
    return base64.b64encode(data).decode("ascii")


def bytes_of(text: Any) -> bytes | None:
    """Return the bytes of a base64 text; None if it is not one."""
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except binascii.Error:
        return None


_SHARE = 0.2  # for each of over sixty kinds, most of which hold a handful of numbers


def kinds_of(way: str, *names: Kind) -> list[Any]:
    """Return pytest parameters for these kinds, each marked with the requirements that judge it."""
    return [pytest.param(kind, id=kind.name, marks=pytest.mark.requirement(*claims(way, kind.name))) for kind in names]


def explore(way: str, kind: Kind, client: Port, judge: Recorder, options: RunOptions) -> None:
    """Judge values of this kind. way: `encode` or `decode`."""
    check = encode_case if way == "encode" else decode_case

    @from_options(options, share=_SHARE)
    @given(kind.values)
    @example(kind.example)
    def run(value: Any) -> None:
        data = {} if way == "encode" else {"data": base64_of(encode(kind.structure, value))}
        judge.begin_example("structure", {"case": way, "structure": kind.structure, "value": value, **data})
        for verdict in check(client, kind.structure, value, options, judge.step):
            judge.record(verdict)

    run()
