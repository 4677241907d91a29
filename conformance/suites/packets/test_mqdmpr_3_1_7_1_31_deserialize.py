"""MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer: the implementation reads valid packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets import claims
from conformance.suites.packets.cases import (
    ABSENT,
    CARRIED,
    PADDED,
    UNSIGNED,
    absent_case,
    carried_case,
    decode_case,
    padded,
    same_case,
    unused_case,
)
from conformance.suites.packets.combinations import explore
from conformance.suites.packets.malformed import IGNORED, TRANSACTION_BITS, Ignored
from conformance.suites.packets.messages import base64_of, packet_of, user_messages
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.requirement(*claims.DECODED, "MQDMPR-3.1.7.1.31.transaction-fields", "MQDMPR-3.1.7.1.31.security-fields")
def test_packets_are_read(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """The implementation reads packets of all kinds of messages; each field becomes its attribute."""
    mq_need("packets.decode")
    explore(
        run_options,
        judge,
        user_messages(),
        lambda message: {"case": "decode", "message": message, "packet": base64_of(packet_of(message))},
        lambda message: decode_case(mq, packet_of(message), message, run_options, judge.step),
        share=2.0,
    )


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=pytest.mark.requirement(case.requirement)) for case in IGNORED],
)
def test_reserved_values_are_ignored(
    case: Ignored, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions
) -> None:
    """Reserved fields and bits, and padding, change nothing on receipt."""
    mq_need("packets.decode")
    data = case.data()
    repro = {
        "case": "decode",
        "message": dict(case.message),
        "packet": base64_of(data),
        "requirement": case.requirement,
    }
    if not _plain_first(case, mq, judge, run_options):
        return
    judge.begin_example("packet", repro)
    judge.record(*decode_case(mq, data, case.message, run_options, judge.step, requirement=case.requirement))


def _plain_first(case: Ignored, mq: Port, judge: Recorder, run_options: RunOptions) -> bool:
    """Judge the message without the ignored value; return False if it is misread, since the rest would show no more."""
    plain = packet_of(case.message)
    judge.begin_example("packet", {"case": "decode", "message": dict(case.message), "packet": base64_of(plain)})
    verdicts = tuple(decode_case(mq, plain, case.message, run_options, judge.step))
    judge.record(*verdicts)
    return not any(verdict.outcome is Outcome.FAIL for verdict in verdicts)


@pytest.mark.requirement("MQMQ-2.2.20.5.flags-reserved-ignored")
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in TRANSACTION_BITS])
def test_unused_transaction_bits(
    case: Ignored, mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions
) -> None:
    """MS-MQMQ 2.2.20.5: one reading ignores the bits, another refuses them; none reads them as something else."""
    mq_need("packets.decode")
    data = case.data()
    if not _plain_first(case, mq, judge, run_options):
        return
    message = dict(case.message)
    repro = {"case": "unused", "message": message, "packet": base64_of(data), "requirement": case.requirement}
    judge.begin_example("packet", repro)
    for verdict in unused_case(mq, data, message, run_options, judge.step, requirement=case.requirement):
        judge.record(verdict)


@pytest.mark.requirement(*(case.requirement for case in CARRIED))
def test_a_field_reaches_the_attribute_it_is_for_and_no_other(mq: Port, mq_need: Need, judge: Recorder) -> None:
    """A changed value of each field that a reader passes on reaches its attribute alone."""
    mq_need("packets.decode")
    for case in CARRIED:
        judge.begin_example("packet", {"case": "carried", "requirement": case.requirement})
        judge.record(*carried_case(mq, case, judge.step))


@pytest.mark.requirement(*(requirement for _, _, requirement in PADDED))
def test_padding_of_lists_may_be_anything(mq: Port, mq_need: Need, judge: Recorder) -> None:
    """Readers ignore the padding after a list of names and within it."""
    mq_need("packets.decode")
    for message, key, requirement in PADDED:
        plain, data = padded(message, key)
        repro = {"plain": base64_of(plain), "packet": base64_of(data), "requirement": requirement}
        judge.begin_example("packet", {"case": "same", **repro})
        judge.record(*same_case(mq, plain, data, requirement, judge.step, what=key))


@pytest.mark.requirement(ABSENT, UNSIGNED)
def test_attributes_of_absent_headers_keep_their_defaults(mq: Port, mq_need: Need, judge: Recorder) -> None:
    """Attributes of absent headers have their defaults, whatever the packet before held."""
    mq_need("packets.decode")
    judge.begin_example("packet", {"case": "absent"})
    judge.record(*absent_case(mq, judge.step))
