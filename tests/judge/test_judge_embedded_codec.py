"""No rule fires on packets of a codec that is not ours: the embedded one, called as any implementation is."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from nightly import amount

from conformance.adapter.connectors import connect
from conformance.judge.packets.field_compare import compare_fields
from conformance.judge.packets.judge import judge_dissected
from conformance.judge.packets.user_messages import compare_encoded
from conformance.suites.packets.messages import messages_in_a_session, packet_of, user_messages
from conformance.verdict import Outcome
from conformance.wire import dissect

PACKETS = amount("judge.packets-of-the-embedded-codec")
MANY = settings(
    max_examples=PACKETS,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_no_rule_fires_on_packets_of_the_embedded_codec(tmp_path: Path) -> None:
    seen: set[str] = set()
    packets: set[bytes] = set()
    with connect("embedded", state_dir=tmp_path, in_process=True) as client:

        @MANY
        @given(user_messages() | messages_in_a_session())
        def run(message: dict[str, Any]) -> None:
            result = client.call("packets.encode", message=message)
            assert result.ok, result
            data = base64.b64decode(result.values["packet"])
            packet = dissect(data, transport="buffer")
            for readings in ("windows", "permissive"):
                verdicts = judge_dissected(
                    packet, profile="msmq-4.0", readings=readings, transport="buffer", level="may"
                )
                assert [one for one in verdicts if one.outcome not in (Outcome.PASS, Outcome.READING)] == []
            compared = [
                *compare_encoded(message, packet),
                *compare_fields(message, dissect(packet_of(message)), packet),
            ]
            assert [one for one in compared if one.outcome is not Outcome.PASS] == []
            seen.update(one.requirement for one in (*verdicts, *compared))
            packets.add(data)

        run()
    assert len(packets) >= PACKETS * 3 // 4
    assert len(seen) > 250
