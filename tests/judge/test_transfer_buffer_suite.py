"""The transfer buffer part of the structures suite: a right codec passes, each wrong one is blamed for its defect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
import transfer_buffer_codecs as codecs

from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import RunOptions
from conformance.harness.repro_files import NotRepeatable
from conformance.judge.structures.transfer_buffer_rules import PLAIN, WHOLE, BufferRule, plain
from conformance.spec.catalogue import assignment
from conformance.suites.structures.checks import base64_of
from conformance.suites.structures.rejudge import rejudge
from conformance.suites.structures.transfer_buffer_cases import (
    POINTED,
    READ,
    WRITTEN,
    blamed,
    decode_case,
    encode_case,
    examples,
    forbidden,
    forbidden_case,
    ignored,
    limits,
    malformed,
    odd_case,
    refuse_case,
)
from conformance.verdict import Outcome, Verdict
from conformance.wire.transfer_buffer import STRUCTURE
from conformance.wire.transfer_buffer_layers import write_transfer_buffer


def options(readings: str = "windows") -> RunOptions:
    return RunOptions("msmq-4.0", "must", assignment(readings), readings, 0, 10, 10)


def quiet(*_: Any) -> None:
    return None


def client(codec: codecs.BufferCodec) -> GuardedClient:
    return cast("GuardedClient", codec)


def verdicts(codec: codecs.BufferCodec, chosen: RunOptions) -> Iterator[Verdict]:
    """All the suite says of a codec, in the order of a run, by the examples alone."""
    values = (*limits(), *examples(chosen.readings))
    for value in values:
        yield from encode_case(client(codec), value, chosen, quiet)
    for value in values:
        yield from decode_case(client(codec), value, chosen, quiet)
    for case in malformed():
        yield from refuse_case(client(codec), case.data, case.requirement, chosen, quiet)
    for rule in forbidden():
        yield from odd_case(client(codec), rule.breaks.broken(), rule.requirement, chosen, quiet)
    for odd in ignored():
        yield from decode_case(client(codec), plain(), chosen, quiet, data=odd.data, requirement=WHOLE)


@pytest.mark.parametrize("readings", ["windows", "strict", "permissive"])
def test_a_right_codec_passes(readings: str) -> None:
    found = list(verdicts(codecs.BufferCodec(), options(readings)))
    assert [verdict for verdict in found if verdict.outcome is not Outcome.PASS] == []


def test_each_pointer_is_tried_alone_and_each_is_absent_once() -> None:
    values = limits()
    buffers = {name for name in PLAIN if name.startswith("pp_") and name not in POINTED}
    for name, ones in POINTED.items():
        alone = [one[name] for one in values if name in one and len(one) == 3]
        assert alone == list(ones)
    for name in (*POINTED, *buffers - {"pp_sender_id"}):
        assert any(one.get(name) is None and len(one) > 3 for one in values), name


def test_a_refused_member_is_blamed_where_it_is_alone() -> None:
    assert blamed({"u_transfer_type": 0, "send": {}, "p_trace": 1}) == "MQMP-2.2.3.2.p-trace"
    assert blamed({"u_transfer_type": 1, "receive": {"cursor": 1}}) == "MQMP-2.2.3.2.cursor"
    assert blamed(plain()) == WHOLE


def test_the_examples_reach_everything_that_is_claimed() -> None:
    codec, chosen = codecs.BufferCodec(), options()
    written = {
        v.requirement for one in examples(chosen.readings) for v in encode_case(client(codec), one, chosen, quiet)
    }
    read = {v.requirement for one in examples(chosen.readings) for v in decode_case(client(codec), one, chosen, quiet)}
    assert written == set(WRITTEN)
    assert read == set(READ)


@pytest.mark.parametrize(
    ("codec", "requirement"), [*codecs.WRONG.items()], ids=lambda one: getattr(one, "__name__", "")
)
def test_a_wrong_codec_is_blamed(codec: type[codecs.BufferCodec], requirement: str) -> None:
    first = next((one for one in verdicts(codec(), options()) if one.outcome is Outcome.FAIL), None)
    assert first is not None and first.requirement == requirement


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in forbidden()])
def test_forbidden_values_are_refused_or_not_written(rule: BufferRule) -> None:
    chosen, value = options(), rule.breaks.value()
    meant = [*forbidden_case(client(codecs.BufferCodec()), value, rule.requirement, chosen, quiet)][1:2]
    assert [(one.requirement, one.outcome) for one in meant] == [(rule.requirement, Outcome.FAIL)]
    for codec in (codecs.RefusesTheForbidden(), codecs.MendsTheForbidden()):
        found = list(forbidden_case(client(codec), value, rule.requirement, chosen, quiet))
        assert {verdict.outcome for verdict in found} == {Outcome.PASS}


def test_repros_are_judged_again() -> None:
    codec, value = client(codecs.BufferCodec()), plain()
    held = {"structure": STRUCTURE, "value": value, "data": base64_of(write_transfer_buffer(value))}
    for case in ("encode", "decode"):
        again = list(rejudge({"case": case, **held}, codec, options()))
        assert again and {verdict.outcome for verdict in again} == {Outcome.PASS}
    rule = forbidden()[0]
    kept = {**held, "requirement": rule.requirement, "value": rule.breaks.value(), "data": "AA=="}
    again = list(rejudge({"case": "forbidden", **kept}, codec, options()))
    assert [verdict.outcome for verdict in again] == [Outcome.PASS, Outcome.FAIL, Outcome.PASS]
    again = list(rejudge({"case": "odd", **kept, "data": base64_of(rule.breaks.broken())}, codec, options()))
    assert {verdict.outcome for verdict in again} == {Outcome.PASS}
    refused = {"case": "refuse", "structure": STRUCTURE, "value": None, "data": "AAA=", "requirement": WHOLE}
    assert {verdict.outcome for verdict in list(rejudge(refused, codec, options()))} == {Outcome.PASS}


@pytest.mark.parametrize(
    "repro",
    [
        {"case": "encode", "value": 1},
        {"case": "encode", "value": {"u_transfer_type": 9}},
        {"case": "decode", "value": plain(), "data": "?"},
        {"case": "decode", "value": plain(), "data": "AA==", "requirement": 5},
        {"case": "refuse", "data": "AA=="},
        {"case": "encode", "value": {"u_transfer_type": 0, "pp_body": "no base64"}},
        {"case": "encode", "value": {"u_transfer_type": 0, "p_class": "text"}},
    ],
)
def test_a_foreign_repro_is_told(repro: dict[str, Any]) -> None:
    with pytest.raises(NotRepeatable):
        list(rejudge({"structure": STRUCTURE, **repro}, client(codecs.BufferCodec()), options()))
