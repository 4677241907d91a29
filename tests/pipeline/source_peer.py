"""The rows of `msmq_pcap`, made packet by packet: the peer of the source, which makes them in columns."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.capture import Frame
from conformance.captures.packet_rules import PacketRules
from conformance.judge.sessions.context import Seen
from conformance.pipeline.parts import events_of
from conformance.pipeline.rows import Row, plain
from conformance.pipeline.rows_writer import packet_row
from conformance.pipeline.streams import How
from conformance.wire import dissect


def rows_of(path: str, start: int, stop: int, how: How) -> Iterator[Row]:
    """The packets of a range."""
    rules = PacketRules(how.profile, how.readings, how.level)
    for frame in (one for one in events_of(path, start, stop) if isinstance(one, Frame)):
        packet = dissect(frame.data, transport=frame.transport)
        verdicts = rules.judge(Seen(frame, packet))
        yield {"path": plain(path), "start": start, **packet_row(frame, packet, verdicts)}
