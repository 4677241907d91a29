"""MS-MQMQ 2.2.20.1 MultiQueueFormatHeader, its address and signature headers, and the names in them (2.2.18.1.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets import claims
from conformance.suites.packets.cases import decode_lists_case, encode_case
from conformance.suites.packets.combinations import explore
from conformance.suites.packets.messages import base64_of, messages_to_several_queues, packet_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.requirement(*claims.LISTS)
def test_messages_to_several_queues(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Names of every kind in each of the three lists, a signature, a SoapHeader before: all are encoded in place."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        messages_to_several_queues(with_soap=True),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )


@pytest.mark.requirement(*claims.LISTS_DECODED)
def test_lists_are_read(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each list becomes its attribute, in one of the alignments that readings accept."""
    mq_need("packets.decode")
    explore(
        run_options,
        judge,
        messages_to_several_queues(),
        lambda message: {"case": "decode-lists", "message": message, "packet": base64_of(packet_of(message))},
        lambda message: decode_lists_case(mq, message, run_options, judge.step),
    )
