"""MS-MQMQ 2.2.19 Common Headers: what the implementation encodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets import claims
from conformance.suites.packets.cases import encode_case
from conformance.suites.packets.combinations import explore
from conformance.suites.packets.messages import user_messages

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]


@pytest.mark.requirement(*claims.BASE, *claims.USER, *claims.PROPERTIES, *claims.DEBUG)
def test_encoded_messages(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Messages of all kinds: BaseHeader, UserHeader, MessagePropertiesHeader, DebugHeader."""
    mq_need("packets.encode")
    explore(
        run_options,
        judge,
        user_messages(),
        lambda message: {"case": "encode", "message": message},
        lambda message: encode_case(mq, message, run_options, judge.step),
        share=2.0,
    )
