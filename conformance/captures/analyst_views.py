"""The views that an analyst wants beside the verdicts: a table of conversations, extracted messages, EVE JSON lines."""

from __future__ import annotations

import json
import secrets
import shutil
from base64 import b64encode
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b, sha1, sha256
from ipaddress import ip_address
from pathlib import Path
from typing import IO, Any

from conformance.capture import Closed, Ended, Endpoint, Event, Frame, Opened
from conformance.capture.events import Attempt
from conformance.captures.across import Facts
from conformance.captures.engine import destination
from conformance.captures.onlookers import NotWrittenError, Onlooker, hints_on, writing
from conformance.files import aside, make_folder
from conformance.judge.hints import known_hints
from conformance.judge.sessions.context import Seen
from conformance.spec.catalogue import requirement
from conformance.verdict import Json, Outcome, Verdict, worst

MAX_CONVERSATIONS = 10_000
"""Conversations with a row of their own; those that come later are one row together."""
MAX_FACTS = 1_000
"""Sentences about captures; no further capture is told of then."""
_MAX_FRAMES = 1 << 16  # Packets back that a late verdict can be on.
_MESSAGE = "UserMessage"
_SHOWN = 4  # names in one hint
Key = tuple[str, int | str]


@dataclass(slots=True)
class Conversation:
    """One row. Pairs: what the first end sent, and the second; the first opened the connection, or was seen first.

    connection: its number in the capture, None for pings. stream: as in `Frame`. ends: addresses with ports. who: the
    senders, where packets name them. messages: packets with a message of an application. deviations: failed verdicts on
    its packets. attempts: how many connections it stands for, all without a byte, and came: what came of them; a row of
    them has no ports of the first end.
    """

    capture: str
    connection: int | None
    stream: int | None
    ends: tuple[str, str]
    first_ns: int
    last_ns: int
    who: list[str | None] = field(default_factory=lambda: [None, None])
    packets: list[int] = field(default_factory=lambda: [0, 0])
    bytes: list[int] = field(default_factory=lambda: [0, 0])
    messages: list[int] = field(default_factory=lambda: [0, 0])
    deviations: int = 0
    attempts: int = 0
    came: str | None = None

    def add(self, seen: Seen, sender: str, side: int) -> None:
        """Count a packet."""
        frame = seen.frame
        self.packets[side] += 1
        self.bytes[side] += len(frame.data)
        self.messages[side] += seen.kind == _MESSAGE
        if sender not in ("", frame.source.address):
            self.who[side] = sender
        if self.stream is None:
            self.stream = frame.stream
        self.first_ns, self.last_ns = min(self.first_ns, frame.time_ns), max(self.last_ns, frame.time_ns)

    @property
    def seconds(self) -> float:
        """The time from its first packet to its last."""
        return (self.last_ns - self.first_ns) / 1e9

    def to_json(self) -> dict[str, Json]:
        """Return the row as `--json` prints it."""
        return {
            "capture": self.capture,
            "connection": self.connection,
            "stream": self.stream,
            "from": self.ends[0],
            "to": self.ends[1],
            "who": list(self.who),
            "packets": list(self.packets),
            "bytes": list(self.bytes),
            "messages": list(self.messages),
            "deviations": self.deviations,
            "attempts": self.attempts,
            "came": self.came,
            "began": self.first_ns / 1e9,
            "seconds": round(self.seconds, 6),
        }


@dataclass(slots=True)
class Conversations:
    """An onlooker that makes the table. more: the conversations that have no row: their number, packets and bytes.

    elsewhere: failed verdicts on packets that have no row, or are too long ago to tell. whole: all packets are looked
    at, so that an absence tells something. facts: sentences about captures that were read to their end.
    """

    rows: list[Conversation] = field(default_factory=list)
    more: dict[str, int] = field(default_factory=lambda: {"conversations": 0, "packets": 0, "bytes": 0})
    elsewhere: int = 0
    whole: bool = True
    facts: list[str] = field(default_factory=list)
    _across: tuple[str, Facts] | None = None
    _open: dict[Key, Conversation] = field(default_factory=dict)
    _frames: OrderedDict[tuple[str, int], Key] = field(default_factory=OrderedDict)

    def packet(self, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict]) -> None:
        """Count a packet and what its turn has shown."""
        frame = seen.frame
        if self.whole:
            self._facts(path).packet(seen)
        key, ends, side = _place(path, frame)
        found = self._open.get(key)
        if found is None and len(self.rows) < MAX_CONVERSATIONS:
            first, last = ends[0], ends[1]
            found = Conversation(path, frame.connection, frame.stream, (first, last), frame.time_ns, frame.time_ns)
            self._open[key] = found
            self.rows.append(found)
        if found is None:
            self.more["conversations"] += frame.connection is None  # Connections are counted as they open.
            self.more["packets"] += 1
            self.more["bytes"] += len(frame.data)
        else:
            found.add(seen, sender, side if ends == found.ends else 1 - side)
        self._frames[path, frame.number] = key
        if len(self._frames) > _MAX_FRAMES:
            self._frames.popitem(last=False)
        self._deviate(path, key, verdicts)

    def event(self, path: str, event: Event, verdicts: Sequence[Verdict]) -> None:
        """Count a connection without a row, and late verdicts."""
        if isinstance(event, Opened) and len(self.rows) >= MAX_CONVERSATIONS:
            self.more["conversations"] += 1
        if isinstance(event, Closed) and event.attempt is not None:
            self._attempt(path, event.attempt, event.time_ns)
        if self.whole:
            self._facts(path).event(event)
            if isinstance(event, Ended) and len(self.facts) < MAX_FACTS:
                self.facts += [f"{path}: {one}" for one in self._facts(path).sentences()]
        number = getattr(event, "connection", None)
        self._deviate(path, None if number is None else (path, number), verdicts)

    def to_json(self) -> dict[str, Json]:
        """Return the table as `--json` prints it."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "more": dict(self.more),
            "deviations_elsewhere": self.elsewhere,
            "hints": list(self.hints()),
        }

    def hints(self) -> Iterator[str]:
        """Yield a sentence for each queue manager at several addresses, and each address of several queue managers.

        No verdict follows from that: a machine may have two addresses, and a router or a cluster may share one. Then
        what each capture shows across its conversations.
        """
        at: dict[str, dict[str, None]] = {}
        of: dict[str, dict[str, None]] = {}
        for row in self.rows:
            for end, who in zip(row.ends, row.who, strict=True):
                if who is not None:
                    host = end.rpartition(":")[0].strip("[]")
                    at.setdefault(who, {})[host] = None
                    of.setdefault(host, {})[who] = None
        for who, hosts in at.items():
            if len(hosts) > 1:
                yield (
                    f"the queue manager {who} is at {len(hosts):,} addresses, {_few(hosts)}: copies of one machine "
                    "have one identifier, and messages and acknowledgments then go to the wrong one"
                )
        for host, managers in of.items():
            if len(managers) > 1:
                yield f"{len(managers):,} queue managers are at one address, {host}: {_few(managers)}"
        yield from self.facts

    def _facts(self, path: str) -> Facts:
        """Return the facts of the capture that is read."""
        if self._across is None or self._across[0] != path:
            self._across = path, Facts()
        return self._across[1]

    def _attempt(self, path: str, one: Attempt, time_ns: int) -> None:
        """Count a connection without a byte, with those between the same hosts that ended so."""
        key = path, f"{one.source.address} {one.destination} {one.came}"
        found = self._open.get(key)
        if found is None and len(self.rows) < MAX_CONVERSATIONS:
            ends = one.source.address, str(one.destination)
            found = self._open[key] = Conversation(path, None, one.stream, ends, time_ns, time_ns, came=one.came)
            self.rows.append(found)
        if found is not None:
            found.attempts += 1
            found.first_ns, found.last_ns = min(found.first_ns, time_ns), max(found.last_ns, time_ns)

    def _deviate(self, path: str, key: Key | None, verdicts: Sequence[Verdict]) -> None:
        for verdict in verdicts:
            if verdict.outcome is not Outcome.FAIL:
                continue
            of = key if verdict.frame is None else self._frames.get((path, verdict.frame), key)
            found = None if of is None else self._open.get(of)
            if found is None:
                self.elsewhere += 1
            else:
                found.deviations += 1


def _few(names: Iterable[str]) -> str:
    every = list(names)
    others = len(every) - _SHOWN
    return ", ".join(every[:_SHOWN]) + (f" and {others:,} other{'s' if others > 1 else ''}" if others > 0 else "")


def _place(path: str, frame: Frame) -> tuple[Key, tuple[str, str], int]:
    """Return the key of a packet's conversation, its ends, and which of them sent it."""
    source, destination = str(frame.source), str(frame.destination)
    if frame.connection is not None:
        side = int(frame.side == "acceptor")
        return (path, frame.connection), ((source, destination), (destination, source))[side], side
    turned = destination < source
    ends = (destination, source) if turned else (source, destination)
    return (path, " ".join(ends)), ends, int(turned)


INDEX = "index.json"
MAX_MESSAGES, MAX_BYTES, MAX_INDEX = 100_000, 1 << 30, 1 << 30
"""Messages, bytes of their bodies and of the index that are written; the index counts the messages left out."""
FORMAT = 1
_MAX_VALUE = 4_096  # Characters of a text, or bytes, of a property that the index has.
_BODY, _LABEL = "MessagePropertiesHeader.MessageBody", "MessagePropertiesHeader.Label"


@dataclass(slots=True)
class Extraction:
    """An onlooker that writes messages. size, indexed: bytes of bodies and index. left_out: messages, by the reason."""

    folder: Path
    index: IO[str]
    written: int = 0
    size: int = 0
    indexed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def packet(self, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict]) -> None:
        """Write a message. Raises NotWrittenError."""
        if seen.kind != _MESSAGE:
            return
        body = seen.packet.fields.get(_BODY)
        data = body if isinstance(body, bytes) else b""
        if seen.frame.trouble is not None or seen.packet.trouble:
            self.left_out["not whole"] += 1
        elif self.written >= MAX_MESSAGES:
            self.left_out[f"beyond {MAX_MESSAGES:,} messages"] += 1
        elif self.size + len(data) > MAX_BYTES:
            self.left_out[f"beyond {MAX_BYTES:,} bytes"] += 1
        elif self.indexed > MAX_INDEX:
            self.left_out[f"beyond {MAX_INDEX:,} bytes of the index"] += 1
        else:
            self._write(path, seen, sender, verdicts, data)

    def event(self, path: str, event: Event, verdicts: Sequence[Verdict]) -> None:
        """Do nothing."""

    def to_json(self) -> dict[str, Json]:
        """Return the counts as `--json` and the index tell them."""
        return {"written": self.written, "bytes": self.size, "left_out": dict(sorted(self.left_out.items()))}

    def _write(self, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict], body: bytes) -> None:
        name = f"{self.written + 1:06}.bin"
        line = json.dumps(_entry(name, path, seen, sender, verdicts, body))
        with writing(self.folder):
            (self.folder / name).write_bytes(body)
            self.index.write(("" if not self.written else ",\n") + line)
        self.written += 1
        self.size += len(body)
        self.indexed += len(line)


@contextmanager
def extraction(target: Path) -> Iterator[Extraction]:
    """Yield an extraction, whose folder becomes `target` at the end.

    Raises NotWrittenError, also for a folder in use.
    """
    check_target(target)
    draft = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with writing(target):
            make_folder(target.parent, above=False)
            draft.mkdir()
            index = (draft / INDEX).open("w", encoding="ascii")
        with index:
            with writing(target):
                index.write(f'{{"format": {FORMAT}, "messages": [\n')
            found = Extraction(draft, index)
            yield found
            with writing(target):
                index.write(f"\n], {json.dumps(found.to_json())[1:]}\n")
                index.flush()
        with writing(target):
            draft.replace(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def check_target(target: Path) -> None:
    """Raise NotWrittenError unless this folder is new or empty."""
    with writing(target):
        if target.is_dir() and not target.is_symlink():
            if any(target.iterdir()):
                raise NotWrittenError(f"{target} is not empty; messages are extracted to a new folder.")
        elif target.is_symlink() or target.exists():
            raise NotWrittenError(f"{target} is not a folder; name a new one.")


def _entry(name: str, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict], body: bytes) -> dict[str, Json]:
    """Return what the index tells of a message."""
    frame, fields = seen.frame, seen.packet.fields
    outcome = worst(one.outcome for one in verdicts if one.frame in (None, frame.number))
    cut: list[Json] = []
    properties: dict[str, Json] = {}
    for key, value in fields.items():
        # Bits of a flags word that are clear go without saying, as do facts about a field.
        told = key in seen.packet.spans or (isinstance(value, int) and not isinstance(value, bool) and value != 0)
        if told and key not in (_BODY, _LABEL) and not key.startswith("Packet."):
            properties[key] = _as_json(key, value, cut)
    label = fields.get(_LABEL)
    return {
        "file": name,
        "capture": path,
        "packet": frame.number,
        "record": frame.record,
        "stream": frame.stream,
        "time": frame.time,
        "from": str(frame.source),
        "to": str(frame.destination),
        "sender": sender,
        "queue": destination(seen.packet),
        "label": _as_json("label", label, cut) if isinstance(label, str) else None,
        "body_bytes": len(body),
        "body_sha256": sha256(body).hexdigest(),
        "encrypted": bool(fields.get("MessagePropertiesHeader.PrivacyLevel")),
        "worst": (outcome or Outcome.PASS).value,
        "properties": properties,
        "cut": cut,
    }


def _as_json(key: str, value: object, cut: list[Json]) -> Json:
    """Return a value for JSON: bytes in hex, and what is too long cut and named."""
    if isinstance(value, (str, bytes)) and len(value) > _MAX_VALUE:
        cut.append(key)
        value = value[:_MAX_VALUE]
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, (str, int)) else str(value)


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


@dataclass(frozen=True, slots=True)
class Looks:
    """The views to make. extract: a new folder for the messages. eve: a file for the lines. whole: of all packets."""

    conversations: bool = False
    extract: Path | None = None
    eve: Path | None = None
    whole: bool = True

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the command line that ask for it."""
        asked = (("--conversations", self.conversations), ("--extract", self.extract), ("--eve", self.eve))
        return tuple(name for name, value in asked if value)

    def check(self) -> None:
        """Raise NotWrittenError when the folder is in use."""
        if self.extract is not None:
            check_target(self.extract)


@dataclass(frozen=True, slots=True)
class Looked:
    """The views made; None for one that nobody asked for."""

    conversations: Conversations | None = None
    extracted: Extraction | None = None
    eve: Eve | None = None

    @property
    def onlookers(self) -> Sequence[Onlooker]:
        """Those that look."""
        every: tuple[Onlooker | None, ...] = (self.conversations, self.extracted, self.eve)
        return [one for one in every if one is not None]


@contextmanager
def looking(asked: Looks, *, live: bool) -> Iterator[Looked]:
    """Yield onlookers; what they write is complete at the end. live: EVE lines can be read as they come.

    Raises NotWrittenError.
    """
    with ExitStack() as stack:
        extracted = None if asked.extract is None else stack.enter_context(extraction(asked.extract))
        eve = None if asked.eve is None else stack.enter_context(eve_file(asked.eve, live=live))
        table = Conversations(whole=asked.whole) if asked.conversations or eve is not None else None
        found = Looked(table, extracted, eve)
        yield found
        if eve is not None and found.conversations is not None:
            eve.conversations(found.conversations.rows)
