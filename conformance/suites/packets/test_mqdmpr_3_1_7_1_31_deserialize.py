"""MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer: valid packets of ours, read by the implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets import claims
from conformance.suites.packets.building import base64_of, packet_of
from conformance.suites.packets.cases import decode_case
from conformance.suites.packets.exploring import explore
from conformance.suites.packets.handled_cases import unused_case
from conformance.suites.packets.malformed import IGNORED, TRANSACTION_BITS, Ignored
from conformance.suites.packets.messages import user_messages

if TYPE_CHECKING:
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge, RunOptions

Need = Callable[..., None]


@pytest.mark.requirement(*claims.DECODED, "MQDMPR-3.1.7.1.31.transaction-fields", "MQDMPR-3.1.7.1.31.security-fields")
def test_packets_are_read(mq: GuardedClient, mq_need: Need, judge: Judge, run_options: RunOptions) -> None:
    """Messages of all kinds: each field becomes the attribute it was."""
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
    case: Ignored, mq: GuardedClient, mq_need: Need, judge: Judge, run_options: RunOptions
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
    _plain_first(case, mq, judge, run_options)
    judge.begin_example("packet", repro)
    judge.record(*decode_case(mq, data, case.message, run_options, judge.step, requirement=case.requirement))


def _plain_first(case: Ignored, mq: GuardedClient, judge: Judge, run_options: RunOptions) -> None:
    """The same message without what is to be ignored."""
    plain = packet_of(case.message)
    judge.begin_example("packet", {"case": "decode", "message": dict(case.message), "packet": base64_of(plain)})
    judge.record(*decode_case(mq, plain, case.message, run_options, judge.step))


@pytest.mark.requirement("MQMQ-2.2.20.5.flags-reserved-ignored")
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in TRANSACTION_BITS])
def test_unused_transaction_bits(
    case: Ignored, mq: GuardedClient, mq_need: Need, judge: Judge, run_options: RunOptions
) -> None:
    """MS-MQMQ 2.2.20.5: ignored or, as another reading has it, refused; never read as something else."""
    mq_need("packets.decode")
    data = case.data()
    _plain_first(case, mq, judge, run_options)
    message = dict(case.message)
    repro = {"case": "unused", "message": message, "packet": base64_of(data), "requirement": case.requirement}
    judge.begin_example("packet", repro)
    for verdict in unused_case(mq, data, message, run_options, judge.step, requirement=case.requirement):
        judge.record(verdict)
