"""The structures suite's own logic: a right codec passes, each wrong one fails at what it is named after."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import structure_codecs as codecs
from cases import all_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.adapter.session import Result
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import RunOptions
from conformance.harness.repro_files import NotRepeatable
from conformance.judge.structures.judge import compare_decoded, compare_encoded
from conformance.run import run
from conformance.runlog import read_run
from conformance.spec.catalogue import assignment
from conformance.suites.structures.checks import (
    KINDS,
    Kind,
    base64_of,
    claims,
    decode_case,
    encode_case,
    forbidden_case,
    refuse_case,
)
from conformance.suites.structures.malformed import FORBIDDEN, IGNORED, MALFORMED, ODD, Forbidden
from conformance.suites.structures.rejudge import rejudge
from conformance.verdict import Outcome, Verdict
from conformance.wire.structures import complete, decode, encode

READINGS = assignment("windows")
OPTIONS = RunOptions("msmq-4.0", "must", READINGS, "windows", 0, 10, 10)
FEW = settings(
    max_examples=fewer(25), deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)


def quiet(*_: Any) -> None:
    return None


def verdicts(codec: codecs.StructureCodec) -> Iterator[Verdict]:
    """All the suite says of a codec, in the order of a run, by the examples alone."""
    client = cast("GuardedClient", codec)
    for kind in KINDS:
        yield from encode_case(client, kind.structure, kind.example, OPTIONS, quiet)
        yield from decode_case(client, kind.structure, kind.example, OPTIONS, quiet)
    for case in (*MALFORMED, *ODD):
        yield from refuse_case(client, case.structure, case.data, case.requirement, OPTIONS, quiet, value=case.instead)
    for odd in IGNORED:
        yield from decode_case(
            client, odd.structure, odd.value, OPTIONS, quiet, data=odd.data, requirement=odd.requirement
        )


def failing(found: Iterator[Verdict]) -> list[Verdict]:
    return [verdict for verdict in found if verdict.outcome is Outcome.FAIL]


def test_a_right_codec_passes() -> None:
    assert {verdict.outcome for verdict in verdicts(codecs.StructureCodec())} <= {Outcome.PASS, Outcome.READING}


@pytest.mark.parametrize(
    ("codec", "requirement"), [*codecs.WRONG.items()], ids=lambda each: getattr(each, "__name__", "")
)
def test_a_wrong_codec_is_blamed(codec: type[codecs.StructureCodec], requirement: str) -> None:
    found = failing(verdicts(codec()))
    assert found and found[0].requirement == requirement


class RefusesToWrite(codecs.StructureCodec):
    """Reads everything and writes nothing."""

    def call(self, method: str, /, **params: Any) -> Result:
        return Result(codecs.REFUSED, {}, None) if method == "structures.encode" else super().call(method, **params)


@pytest.mark.parametrize("case", FORBIDDEN, ids=lambda case: case.name)
def test_a_codec_that_writes_what_is_forbidden_is_seen(case: Forbidden) -> None:
    def found(codec: codecs.StructureCodec) -> list[str]:
        asked = (case.structure, case.value, case.requirement, OPTIONS, quiet)
        return [each.requirement for each in failing(forbidden_case(cast("GuardedClient", codec), *asked))]

    assert found(codecs.StructureCodec()) == [case.requirement]
    assert found(RefusesToWrite()) == []
    repro = {"case": "forbidden", "structure": case.structure, "value": case.value, "requirement": case.requirement}
    assert failing(iter(list(rejudge(repro, cast("Any", codecs.StructureCodec()), OPTIONS))))


@all_of("kind", KINDS, ids=lambda kind: kind.name)
def test_generated_values_come_back(kind: Kind) -> None:
    @FEW
    @given(kind.values)
    def run(value: Any) -> None:
        data = encode(kind.structure, value)
        found = decode(kind.structure, data)
        assert found.whole and found.value == complete(kind.structure, value)
        for verdict in (
            *compare_encoded(kind.structure, value, data, readings=READINGS),
            *compare_decoded(kind.structure, value, found.value, readings=READINGS),
        ):
            assert verdict.outcome is Outcome.PASS, verdict

    run()


@all_of("kind", KINDS, ids=lambda kind: kind.name)
def test_every_member_counts(kind: Kind) -> None:
    """A byte changed anywhere but in reserved members and gaps is no structure of the value any more."""
    data = encode(kind.structure, kind.example)
    found = decode(kind.structure, data)
    free = [span for path, span in found.spans.items() if path.endswith(".gap") or "reserved" in path]
    free += [span for path, span in found.spans.items() if path.endswith(".referent")]
    untouched = {at + index for at, length in free for index in range(length)}
    for at in set(range(len(data))) - untouched:
        changed = data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :]
        said = list(compare_encoded(kind.structure, kind.example, changed, readings=READINGS))
        assert any(verdict.outcome is Outcome.FAIL for verdict in said), (at, found.spans)


@all_of("kind", KINDS, ids=lambda kind: kind.name)
def test_a_byte_too_many_or_too_few(kind: Kind) -> None:
    data = encode(kind.structure, kind.example)
    for changed in (data + b"\0", data[:-1], b"\0" + data, b""):
        said = list(compare_encoded(kind.structure, kind.example, changed, readings=READINGS))
        assert any(verdict.outcome is Outcome.FAIL for verdict in said)


@all_of("kind", KINDS, ids=lambda kind: kind.name)
def test_no_claim_without_a_verdict(kind: Kind) -> None:
    assert claims("encode", kind.name) and claims("decode", kind.name)


def test_repros_are_judged_again() -> None:
    client = cast("GuardedClient", codecs.StructureCodec())
    value, data = (
        {"address_type": 1, "address": "AQIDBA=="},
        encode("TA_ADDRESS", {"address_type": 1, "address": "AQIDBA=="}),
    )
    plain = {"structure": "TA_ADDRESS", "value": value, "data": base64_of(data)}
    assert list(rejudge({"case": "encode", **plain}, client, OPTIONS))
    assert list(rejudge({"case": "decode", **plain}, client, OPTIONS))
    refused = {**plain, "case": "refuse", "data": "AAA=", "requirement": "MQMQ-2.2.4.declaration"}
    assert all(verdict.outcome is Outcome.PASS for verdict in list(rejudge(refused, client, OPTIONS)))


@pytest.mark.parametrize(
    "repro",
    [
        {},
        {"case": "encode", "structure": "NOTHING", "value": 1},
        {"case": "encode", "structure": "TA_ADDRESS", "value": 1},
        {"case": "decode", "structure": "TA_ADDRESS", "value": {"address_type": 1, "address": "AQ=="}, "data": "?"},
        {"case": "refuse", "structure": "TA_ADDRESS", "data": "AA=="},
    ],
)
def test_a_foreign_repro_is_told(repro: dict[str, Any]) -> None:
    with pytest.raises(NotRepeatable):
        list(rejudge(repro, cast("GuardedClient", codecs.StructureCodec()), OPTIONS))


@settings(FEW, max_examples=fewer(150))
@given(st.sampled_from(sorted({kind.structure for kind in KINDS})), st.binary(max_size=80))
def test_any_bytes_are_read_or_told(name: str, data: bytes) -> None:
    found = decode(name, data)
    assert found.whole or found.trouble or found.extra


@pytest.mark.parametrize(("driver", "blamed"), [("RightStructures", None), ("ForgetsTheDigest", "MQMQ-2.2.22.digest")])
def test_a_run_of_the_suite(driver: str, blamed: str | None, tmp_path: Path) -> None:
    result = run(
        adapter=f"python:structure_driver:{driver}",
        suites="structures",
        out=tmp_path,
        in_process=True,
        max_examples=fewer(10),
    )
    found = read_run(tmp_path)
    failed = {each.verdict.requirement for each in found.verdicts if each.verdict.outcome is Outcome.FAIL}
    unheard = {each.verdict.requirement for each in found.verdicts if each.verdict.outcome is Outcome.INCONCLUSIVE}
    assert failed == ({blamed} if blamed else set())
    assert blamed or not unheard
    assert result.exit_code == (1 if blamed else 0)
