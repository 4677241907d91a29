"""Writes deviations, hints and conversations as EVE JSON lines, which Suricata writes and many programs read.

Each deviation and hint is an event of the type `alert`, with `mqconform` beside it, which tells more; each conversation
is one of the type `mqconform`. `community_id` joins them with the flows of Suricata and Zeek.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b, sha1
from ipaddress import ip_address
from pathlib import Path
from typing import IO, Any

from conformance.capture import Endpoint, Event, Frame
from conformance.captures.conversations import Conversation
from conformance.captures.engine import destination
from conformance.captures.onlookers import hints_on, writing
from conformance.files import aside
from conformance.judge.hints import known_hints
from conformance.judge.sessions.context import Seen
from conformance.spec.catalogue import requirement
from conformance.verdict import Outcome, Verdict

_PROTOCOLS = {"tcp": ("TCP", 6), "udp": ("UDP", 17)}
_SEVERITY = {Outcome.FAIL: 2, Outcome.WARN: 3, Outcome.READING: 3}
_DEVIATION, _HINT = "MSMQ deviation", "MSMQ hint"
_MAX_TEXT = 1_024
_SIGNATURE_IDS = 0x7FFFFFFF  # Ids of signatures are 31 bits here, made from their names, and stay the same.


@dataclass(slots=True)
class Eve:
    """An onlooker that writes a line for each deviation and hint. lines: how many it wrote. live: flush each."""

    target: Path
    file: IO[str]
    live: bool = False
    lines: int = 0

    def packet(self, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict]) -> None:
        """Write the deviations that a packet has shown, and the hints on it."""
        for verdict in verdicts:
            self._verdict(path, seen, sender, verdict)
        for name in hints_on(seen.frame, seen.packet, verdicts):
            hint = known_hints()[name]
            told = {"hint": hint.to_json(), **_about(path, seen, sender)}
            said = f"looks like {', '.join(hint.names)}: {hint.says}"
            self._write(
                {**_head(path, seen.frame, "alert"), **_alert(f"hint {name}", said, _HINT, 2), "mqconform": told}
            )

    def event(self, path: str, event: Event, verdicts: Sequence[Verdict]) -> None:
        """Write the deviations that an event allows; of their packets only the number is known."""
        for verdict in verdicts:
            self._verdict(path, None, "", verdict, getattr(event, "time_ns", 0))

    def conversations(self, rows: Sequence[Conversation]) -> None:
        """Write a line for each conversation."""
        for row in rows:
            event = {"timestamp": _time(row.last_ns), "event_type": "mqconform", "pcap_filename": row.capture}
            self._write(event | {"mqconform": {"conversation": row.to_json()}})

    def _verdict(self, path: str, seen: Seen | None, sender: str, verdict: Verdict, time_ns: int = 0) -> None:
        severity = _SEVERITY.get(verdict.outcome)
        if severity is None:
            return
        here = seen is not None and verdict.frame in (None, seen.frame.number)
        about = _about(path, seen, sender) if seen is not None and here else {"packet": verdict.frame}
        if seen is not None and here:
            head = _head(path, seen.frame, "alert")
        else:
            now = time_ns if seen is None else seen.frame.time_ns
            head = {"timestamp": _time(now), "event_type": "alert", "pcap_filename": path}
        said = requirement(verdict.requirement).says
        told = {
            "requirement": verdict.requirement,
            "outcome": verdict.outcome.value,
            "readings": dict(verdict.readings),
            "expected": _short(verdict.expected),
            "actual": _short(verdict.actual),
            **about,
        }
        self._write({**head, **_alert(verdict.requirement, said, _DEVIATION, severity), "mqconform": told})

    def _write(self, event: dict[str, Any]) -> None:
        with writing(self.target):
            self.file.write(json.dumps(event) + "\n")
            if self.live:
                self.file.flush()
        self.lines += 1


@contextmanager
def eve_file(target: Path, *, live: bool) -> Iterator[Eve]:
    """Yield a writer of EVE lines. live: to the file itself, line by line; else it appears whole.

    Raises NotWrittenError.
    """
    with ExitStack() as stack:
        with writing(target):
            place = target if live else stack.enter_context(aside(target))
            file = stack.enter_context(place.open("w", encoding="ascii"))
        yield Eve(target, file, live)
        with writing(target):
            file.flush()


def community_id(source: Endpoint, destination: Endpoint, protocol: int, seed: int = 0) -> str:
    """Return the Community ID, version 1, of a flow: the same for both directions."""
    ends = sorted((ip_address(end.address.partition("%")[0]).packed, end.port) for end in (source, destination))
    (one, from_port), (other, to_port) = ends
    data = seed.to_bytes(2, "big") + one + other + bytes((protocol, 0))
    digest = sha1(data + from_port.to_bytes(2, "big") + to_port.to_bytes(2, "big"), usedforsecurity=False)
    return f"1:{b64encode(digest.digest()).decode('ascii')}"


def _head(path: str, frame: Frame, kind: str) -> dict[str, Any]:
    name, number = _PROTOCOLS[frame.transport]
    community = community_id(frame.source, frame.destination, number)
    return {
        "timestamp": _time(frame.time_ns),
        "flow_id": int.from_bytes(blake2b(f"{path}\0{frame.connection}\0{community}".encode("utf-8", "replace"),
                                          digest_size=6).digest()),
        "pcap_cnt": frame.record,
        "pcap_filename": path,
        "event_type": kind,
        "src_ip": frame.source.address,
        "src_port": frame.source.port,
        "dest_ip": frame.destination.address,
        "dest_port": frame.destination.port,
        "proto": name,
        "app_proto": "msmq",
        "community_id": community,
    }  # fmt: skip


def _alert(name: str, said: str, category: str, severity: int) -> dict[str, Any]:
    number = int.from_bytes(blake2b(name.encode(), digest_size=4).digest()) & _SIGNATURE_IDS
    alert = {"action": "allowed", "gid": 1, "signature_id": number, "rev": 1}
    return {"alert": {**alert, "signature": f"mqconform {name}: {said}", "category": category, "severity": severity}}


def _about(path: str, seen: Seen, sender: str) -> dict[str, Any]:
    frame = seen.frame
    return {
        "packet": frame.number,
        "stream": frame.stream,
        "kind": seen.kind,
        "sender": sender,
        "queue": _short(destination(seen.packet)),
        "label": _short(seen.text("MessagePropertiesHeader.Label")),
    }


def _short(value: Any) -> Any:
    """Return a value that is not too long for a line, cut as text otherwise."""
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"


def _time(time_ns: int) -> str:
    """Format a time as Suricata does; a capture may claim one that no calendar has."""
    try:
        when = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        when = datetime.fromtimestamp(0, UTC)
    return f"{when:%Y-%m-%dT%H:%M:%S}.{time_ns % 1_000_000_000 // 1000:06}+0000"
