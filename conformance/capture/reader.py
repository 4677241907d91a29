"""A capture file as a stream of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from conformance.capture.connections import MSMQ_PORT, Connections
from conformance.capture.events import Cut, Ended, Endpoint, Event, Frame, Trouble
from conformance.capture.following import Stop
from conformance.capture.fragments import Fragment, Fragments
from conformance.capture.network import Datagram, Segment, decode, transport
from conformance.capture.records import CutError, read_records

PING_PORT = 3527


def read_capture(
    path: str | Path, *, on_progress: Callable[[int, int], None] | None = None, follow: Stop | None = None
) -> Iterator[Event]:
    """The events of a pcap or pcapng file (or either gzip-compressed), read forward once in bounded memory.

    path: `-` is standard input. Looks at TCP port 1801 and UDP port 3527 (MS-MQQB 2.1). on_progress gets (bytes read,
    bytes in all, 0 when nobody knows). follow: at the end of the file, wait for more until it says stop. The last
    event is `Ended`; a file cut within a record yields `Cut` before it. Raises CaptureError when it is no capture.
    """
    numbered = count(1)
    connections = Connections(numbered)
    skipped: Counter[str] = Counter()
    fragments = Fragments()
    records = 0
    try:
        for record in read_records(path, on_progress=on_progress, follow=follow):
            records = record.number
            yield from connections.tick(record.time_ns)
            found = decode(record)
            if isinstance(found, Fragment):
                whole = fragments.add(record.time_ns, found)
                if whole is None:
                    continue
                found = transport(found, whole)
            if isinstance(found, str):
                skipped[found] += 1
            elif isinstance(found, Segment):
                if MSMQ_PORT in (found.source[1], found.destination[1]):
                    yield from connections.segment(record.number, record.time_ns, found)
                else:
                    skipped["other ports"] += 1
            elif PING_PORT in (found.source[1], found.destination[1]):
                yield _datagram(next(numbered), record.number, record.time_ns, found)
            else:
                skipped["other ports"] += 1
    except CutError as cut:
        yield from connections.end()
        yield Cut(records + 1, str(cut))
    else:
        yield from connections.end()
    fragments.end()
    if fragments.given_up:
        skipped["IP fragment"] += fragments.given_up
    yield Ended(records, tuple(sorted(skipped.items())))


def _datagram(number: int, record: int, time_ns: int, found: Datagram) -> Frame:
    return Frame(
        number=number,
        record=record,
        time_ns=time_ns,
        source=Endpoint(*found.source),
        destination=Endpoint(*found.destination),
        transport="udp",
        data=found.payload,
        trouble=Trouble("not-captured", f"{found.lost} bytes of it were not captured") if found.lost else None,
    )
