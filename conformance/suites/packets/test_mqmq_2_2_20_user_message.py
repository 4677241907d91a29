"""MS-MQMQ 2.2.20 UserMessage Packet: TransactionHeader and SecurityHeader in encoded packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets import claims
from conformance.suites.packets.cases import encode_case
from conformance.suites.packets.combinations import explore
from conformance.suites.packets.messages import messages_in_a_session, transactional_messages, user_messages

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.requirement(
    *claims.TRANSACTION,
    "MQMQ-2.2.19.1.transactional-priority-zero",
    "MQMQ-2.2.19.2.transactional-recoverable",
    "MQMQ-2.2.19.2.transaction-header-present",
)
def test_transactional_messages(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """2.2.20.5 TransactionHeader."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        transactional_messages(),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )


@pytest.mark.requirement(*claims.SECURITY, *claims.SENDERS, "MQMQ-2.2.19.2.security-header-present")
def test_messages_with_a_sender(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """2.2.20.6 SecurityHeader: sender identifiers, certificates, signatures, providers."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        user_messages(secured=True),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )


@pytest.mark.requirement(*claims.SESSION)
def test_messages_with_a_session_header(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """2.2.20.4 SessionHeader: a session acknowledgment behind a message, which PacketSize does not count."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        messages_in_a_session(),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )
