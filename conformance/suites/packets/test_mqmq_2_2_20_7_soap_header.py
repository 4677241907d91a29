"""MS-MQMQ 2.2.20.7 SoapHeader: two texts of an application, encoded and decoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets import claims
from conformance.suites.packets.cases import decode_case, encode_case
from conformance.suites.packets.combinations import explore
from conformance.suites.packets.messages import base64_of, packet_of, soap_messages

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.requirement(*claims.SOAP, "MQMQ-2.2.19.2.soap-header-present")
def test_messages_with_soap_texts(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Texts of odd and even length: marks, lengths and texts are encoded in place."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        soap_messages(),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )


@pytest.mark.requirement("MQMQ-2.2.20.7.header-layout", "MQMQ-2.2.20.7.body-layout")
def test_soap_texts_are_read(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Both texts are read unchanged. They need no alignment, in which readers may differ."""
    mq_need("packets.decode")
    explore(
        run_options,
        judge,
        soap_messages(aligned=True),
        lambda message: {"case": "decode", "message": message, "packet": base64_of(packet_of(message))},
        lambda message: decode_case(mq, packet_of(message), message, run_options, judge.step),
    )
