"""Hints on the packets of a capture: which publicly documented malformation one looks like."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.capture import Frame
from conformance.judge.hints import hints
from conformance.judge.packets.judged import deviating
from conformance.verdict import Verdict
from conformance.wire import Packet
from conformance.wire.packet_table import INTERNAL_PACKETS
from conformance.wire.session_packets import ESTABLISH_CONNECTION

_OPENS = INTERNAL_PACKETS[ESTABLISH_CONNECTION][0]


def hints_on(frame: Frame, packet: Packet, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the ids of the hints on a packet, if it deviates, cannot be decoded, or opens a session."""
    trouble = frame.trouble
    if trouble is None and packet.kind != _OPENS and not deviating(verdicts):
        return ()
    return hints(packet, verdicts, complete=trouble is None or trouble.kind == "ended")
