"""MS-MQMQ 2.2.20 UserMessage Packet: every pair of options, every field at the ends of its range."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from conformance.judge.packets import misplaced_fields
from conformance.suites.packets import claims
from conformance.suites.packets.cases import decode_case, decode_lists_case, encode_case
from conformance.suites.packets.combinations import combine
from conformance.suites.packets.messages import base64_of, packet_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]
_ENCODED = dict.fromkeys(
    (
        *(*claims.BASE, *claims.USER, *claims.PROPERTIES, *claims.DEBUG, *claims.TRANSACTION),
        *(*claims.SECURITY, *claims.SESSION, *claims.LISTS, *claims.SOAP),
        "MQMQ-2.2.19.2.soap-header-present",
        *misplaced_fields.DEMANDS,
    )
)


@pytest.mark.requirement(*_ENCODED)
def test_combinations_are_encoded(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Every rule judges each encoded combination, which is also compared field by field."""
    mq_need("packets.encode")
    combine(
        run_options,
        judge,
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
    )


@pytest.mark.requirement(*claims.DECODED, *(name for name in claims.LISTS_DECODED if name not in claims.DECODED))
def test_combinations_are_decoded(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each combination is read as the message it encodes."""
    mq_need("packets.decode")

    def repro(message: dict[str, Any]) -> dict[str, Any]:
        case = "decode-lists" if message.get("destinations") else "decode"
        return {"case": case, "message": message, "packet": base64_of(packet_of(message))}

    combine(
        run_options,
        judge,
        repro,
        lambda message: (
            decode_lists_case(mq, message, run_options, judge.step)
            if message.get("destinations")
            else decode_case(mq, packet_of(message), message, run_options, judge.step)
        ),
        readable=True,
    )
