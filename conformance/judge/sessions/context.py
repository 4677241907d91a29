"""The context of every session rule: a packet in its place, the accepted readings, and a writer of verdicts."""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, Protocol

from conformance.capture import Frame, Side, Trouble
from conformance.spec.followed_readings import possible
from conformance.verdict import Evidence, Json, Outcome, Verdict, of_frame
from conformance.wire import Packet, dissect
from conformance.wire.layout import Value

# The packets that a session counts as messages (MS-MQQB 3.1.1.4): all but internal packets.
MESSAGES: Final[frozenset[str]] = frozenset({"UserMessage", "OrderAck", "FinalAck"})
NOTICED_NS: Final = 1_000_000_000
"""So late may a busy program notice a connection that was made to it."""
DUTIES: Final = "-closes"
"""Ends the requirements that who receives a packet fulfils: their verdict names that packet."""
MAX_REMEMBERED = 32_768
"""A message is remembered for so many packets of the capture, so that at most as many are.

The number of a packet is the same wherever a capture is cut, and whoever judges which connections: what is still
remembered depends on it alone. Other tables that grow with the traffic have at most as many entries.
"""
MAX_HOSTS = 8_192  # Entries of a table of hosts, pairs of hosts or connections; one holds far more than a message.

_MAX_SUSPICIONS = 4096
_NEVER = (1 << 63) - 1
_SETTLED_NS = 1_000_000_000  # After this long, every loss has been noticed.
_SHORT = 256  # Longer names are not cached.
_EVIDENCE = 65_536  # Bytes of a packet stored with a verdict.
LOST = "packets of this connection are not in the capture"
"""The reason of a verdict that needs packets which the capture lacks."""

NO_TIMES = "the capture has no times"
SET_BACK = "the clock of the recording was set, or its records are not in order"
COARSE = "the capture has times of whole seconds, or tenths of one"
TIMELESS: Final = frozenset({NO_TIMES, SET_BACK, COARSE})
"""Why an interval is not judged."""
_COARSE_NS = (1_000_000_000, 100_000_000)

Readings = Mapping[str, tuple[str, ...]]
Assumed = tuple[tuple[str, str], ...]
"""Readings with the assumed alternative of each."""
Kind = tuple[str, Outcome, Assumed]
"""The requirement, outcome and readings of verdicts that are counted together."""
Said = Verdict | int
"""A verdict, or the number of a kind that was reported once before (`Notes.kinds`)."""


QUEUE: Final = (
    "UserHeader.QueueManagerAddress",
    "UserHeader.DestinationQueue.PrivateQueueIdentifier",
    "UserHeader.DestinationQueue.PublicQueueIdentifier",
    "UserHeader.DestinationQueue.DirectFormatName",
)
BODY: Final = "MessagePropertiesHeader.MessageBody"


def one_name(names: tuple[Value | None, ...]) -> str:
    """Return one text for a queue, given by the values of QUEUE."""
    last = names[-1]
    return _joined(names) if last is None or len(str(last)) <= _SHORT else _joined.__wrapped__(names)


@lru_cache(maxsize=4096)
def _joined(names: tuple[Value | None, ...]) -> str:
    return "|".join("" if name is None else str(name).lower() for name in names)


def digest_of(raw: bytes | memoryview) -> bytes:
    """Return a digest to remember in place of possibly long bytes."""
    return blake2b(raw, digest_size=16).digest()


class Seen:
    """A frame and the packet in it.

    Rules read values by key, and the few properties of the frame that are defined here, so that other implementations
    (`PacketRow`) need nothing more. To remember a packet beyond its turn, use `kept()`.
    """

    __slots__ = ("_frame", "_packet")

    def __init__(self, frame: Frame, packet: Packet | None) -> None:
        self._frame: Frame | None = frame
        self._packet = packet

    @property
    def frame(self) -> Frame:
        """The frame, with its bytes."""
        assert self._frame is not None
        return self._frame

    @property
    def packet(self) -> Packet:
        """The packet in the frame."""
        assert self._packet is not None
        return self._packet

    @property
    def subject(self) -> str:
        """The name of the frame in verdicts."""
        return of_frame(self.frame_number)

    @property
    def kind(self) -> str:
        """The kind of the packet, as `Packet.kind`."""
        return self.packet.kind

    @property
    def whole(self) -> bool:
        """True when everything was decoded."""
        return self.packet.whole

    @property
    def frame_number(self) -> int:
        """The number of the frame, as `Frame.number`."""
        return self.frame.number

    @property
    def time_ns(self) -> int:
        """The time of the frame, as `Frame.time_ns`."""
        return self.frame.time_ns

    @property
    def connection(self) -> int | None:
        """The connection of the frame, as `Frame.connection`."""
        return self.frame.connection

    @property
    def side(self) -> Side | None:
        """The sending side, as `Frame.side`."""
        return self.frame.side

    @property
    def gap_before(self) -> int:
        """The gap before the frame, as `Frame.gap_before`."""
        return self.frame.gap_before

    @property
    def heard(self) -> int:
        """How many bytes its sender had received, as `Frame.heard`."""
        return self.frame.heard

    @property
    def end(self) -> int:
        """The place behind it in the bytes of its side."""
        return self.frame.offset + len(self.frame.data)

    @property
    def trouble(self) -> Trouble | None:
        """The trouble of the frame, as `Frame.trouble`."""
        return self.frame.trouble

    @property
    def hosts(self) -> tuple[str, str]:
        """The addresses of the sender and of the receiver."""
        return self.frame.source.address, self.frame.destination.address

    def kept(self) -> Seen:
        """Return a form of this packet that may be remembered."""
        return self

    def number(self, key: str) -> int | None:
        """Return a numeric field; None when it was not decoded."""
        value = self.packet.fields.get(key)
        return int(value) if isinstance(value, int) else None

    def text(self, key: str) -> str | None:
        """Return a text or GUID field; None when it was not decoded."""
        value = self.packet.fields.get(key)
        return value if isinstance(value, str) else None

    def raw(self, key: str) -> bytes | None:
        """Return a field of bytes; None when it was not decoded."""
        value = self.packet.fields.get(key)
        return value if isinstance(value, bytes) else None

    def values(self, keys: tuple[str, ...]) -> tuple[Value | None, ...]:
        """Return fields of any sort, each None when it was not decoded; flags are numbers."""
        return tuple(map(self.packet.fields.get, keys))

    def queue(self) -> str:
        """Return the destination queue in a form that is the same for each message to it."""
        return one_name(self.values(QUEUE))

    def body(self) -> bytes:
        """Return a digest of the body; an absent body equals an empty one."""
        return digest_of(self.raw(BODY) or b"")


class Kept(Seen):
    """A remembered frame, which is decoded again when a value is read."""

    __slots__ = ()

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame, None)

    @property
    def packet(self) -> Packet:
        """The packet in the frame."""
        if self._packet is None:
            self._packet = dissect(self.frame.data, transport=self.frame.transport)
        return self._packet


class Path(Protocol):
    """The traffic from one host to another, over all their connections. generation: grows with every loss."""

    @property
    def generation(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A failure that is withdrawn when a packet on one of `paths` soon turns out to be missing from the capture.

    Connections are reassembled one by one: evidence from another connection may come a moment later.
    """

    verdict: Verdict
    seen: Seen
    paths: tuple[tuple[Path, int], ...]

    @property
    def stands(self) -> bool:
        """True when nothing has been lost on the paths since."""
        return all(path.generation == generation for path, generation in self.paths)


@dataclass(slots=True)
class Notes:
    """The verdicts of one event, and the requirements already reported as undecidable, which are not reported again.

    kinds: where passes are counted, the kinds that have a number: the first of a kind is reported as a verdict, further
    ones as the index into this list. None: every verdict is reported. full: other outcomes are counted like passes.
    """

    readings: Readings
    verdicts: list[Said] = field(default_factory=list)
    single: bool = False  # `verdicts` has a Verdict, not only numbers.
    suspicions: deque[Suspicion] = field(default_factory=deque)
    kinds: list[Kind] | None = None
    full: bool = False
    suspected: int = 0  # Suspicions so far.
    doubted_ns: int = 0  # The latest time before the clock of the recording was set; 0 is no time at all.
    _said: set[tuple[str, int | None]] = field(default_factory=set)
    _plain: dict[str, int] = field(default_factory=dict)  # Passes without a reading, by requirement.
    _numbers: dict[Kind, int] = field(default_factory=dict)
    _outcomes: dict[Assumed, Outcome] = field(default_factory=dict)

    def take(self) -> list[Said]:
        """Return and remove the verdicts since the last call."""
        taken, self.verdicts, self.single = self.verdicts, [], False
        return taken

    def tell(self, verdict: Verdict) -> None:
        """Add a verdict."""
        self.verdicts.append(verdict)
        self.single = True

    def suspect(
        self,
        requirement: str,
        seen: Seen,
        expected: Json,
        actual: Json,
        paths: tuple[Path, ...],
        readings: Assumed = (),
    ) -> None:
        """Add a failure that stands only if no loss on these paths becomes known."""
        verdict = verdict_on(seen, requirement, Outcome.FAIL, expected, actual, readings, evidence=evidence(seen))
        self.suspected += 1
        self.suspicions.append(Suspicion(verdict, seen.kept(), tuple((path, path.generation) for path in paths)))

    def resolve(self, now_ns: int | None) -> None:
        """Decide the suspicions that have waited long enough; with None, at the end, all of them."""
        while self.suspicions:
            first = self.suspicions[0]
            few = len(self.suspicions) <= _MAX_SUSPICIONS
            if few and now_ns is not None and now_ns - first.seen.time_ns < _SETTLED_NS and first.stands:
                return
            self.suspicions.popleft()
            if first.stands:
                self.tell(first.verdict)
            else:
                self.undecided(first.verdict.requirement, first.seen, "packets of this exchange are not in the capture")

    @property
    def said(self) -> int:
        """The number of requirements and connections that were reported as undecided."""
        return len(self._said)

    def judge(
        self,
        requirement: str,
        holds: bool,
        seen: Seen,
        expected: Json,
        actual: Json,
        readings: Assumed = (),
    ) -> bool:
        """Judge a requirement, by the default of each reading or by another accepted alternative; return `holds`.

        A verdict reported by number belongs to the packet whose turn it is; use `judge_late` for another packet.
        """
        if holds and not readings and self.passed(requirement):
            return True
        outcome = self._holds(readings) if holds else Outcome.FAIL
        if self.kinds is not None and (self.full or outcome is Outcome.PASS):
            kind = (requirement, outcome, readings)
            number = self._numbers.get(kind)
            if number is not None:
                self.verdicts.append(number)
                return holds
            number = self._numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
            if outcome is Outcome.PASS and not readings:
                self._plain[requirement] = number
        self._say(requirement, outcome, seen, expected, actual, readings)
        return holds

    def judge_late(
        self, requirement: str, holds: bool, seen: Seen, expected: Json, actual: Json, readings: Assumed = ()
    ) -> None:
        """Judge a packet whose turn is over: always reported as a verdict."""
        self._say(requirement, self._holds(readings) if holds else Outcome.FAIL, seen, expected, actual, readings)

    def _say(
        self, requirement: str, outcome: Outcome, seen: Seen, expected: Json, actual: Json, readings: Assumed
    ) -> None:
        proof = evidence(seen) if outcome is Outcome.FAIL else None
        self.tell(verdict_on(seen, requirement, outcome, expected, actual, readings, evidence=proof))

    def _holds(self, readings: Assumed) -> Outcome:
        outcome = self._outcomes.get(readings)
        if outcome is None:
            other = any(self.readings[reading][0] not in possible(alternative) for reading, alternative in readings)
            outcome = self._outcomes[readings] = Outcome.READING if other else Outcome.PASS
        return outcome

    def passed(self, requirement: str, readings: Assumed = ()) -> bool:
        """Add a pass by number if its kind has one; False means that `judge` has to report it.

        This saves making the arguments of a verdict in vain.
        """
        number = self._numbers.get((requirement, Outcome.PASS, readings)) if readings else self._plain.get(requirement)
        if number is None:
            return False
        self.verdicts.append(number)
        return True

    def same(self, requirement: str, seen: Seen, expected: Json, actual: Json) -> bool:
        """Judge whether two values agree."""
        holds = expected == actual
        return (holds and self.passed(requirement)) or self.judge(requirement, holds, seen, expected, actual)

    def undecided(self, requirement: str, seen: Seen, reason: str, *, anywhere: bool = False) -> None:
        """Add an inconclusive verdict, once per connection and requirement, or per requirement: see `once`."""
        key = (requirement, None if self.once(seen, anywhere=anywhere) else seen.connection)
        if key not in self._said and (anywhere or len(self._said) < MAX_REMEMBERED):
            self._said.add(key)
            self.tell(verdict_on(seen, requirement, Outcome.INCONCLUSIVE, reason=reason))

    def timeless(self, begun_ns: int, now_ns: int, holds: Callable[[int], bool] | None = None) -> str | None:
        """Return why the times of two records do not tell how long it was from one to the other; None if they do.

        holds: what is asked of that time in ns. If its answer does not depend on the resolution, that is fine enough.
        """
        if begun_ns <= 0 or now_ns <= 0:
            return NO_TIMES
        if begun_ns <= self.doubted_ns:
            return SET_BACK
        for unit in _COARSE_NS:
            if holds is not None and not begun_ns % unit and not now_ns % unit:
                taken = now_ns - begun_ns
                return COARSE if holds(taken - unit + 1) != holds(taken + unit - 1) else None
        return None

    def interval(
        self, requirement: str, seen: Seen, begun_ns: int, now_ns: int, holds: Callable[[int], bool], expected: Json
    ) -> None:
        """Judge the time between two records, if they tell it. holds: as for `timeless`."""
        why = self.timeless(begun_ns, now_ns, holds)
        if why is not None:
            self.undecided(requirement, seen, why, anywhere=True)
            return
        self.judge(requirement, holds(now_ns - begun_ns), seen, expected, {"ms": (now_ns - begun_ns) // 1_000_000})

    @staticmethod
    def once(seen: Seen, *, anywhere: bool) -> bool:
        """Tell whether what is undecided is told once per requirement, in all of the capture.

        That is so where the caller says `anywhere`, and for packets of no connection.
        """
        return anywhere or seen.connection is None

    @property
    def due_ns(self) -> int:
        """The time of the first packet before which suspicions must be looked at."""
        if not self.suspicions:
            return _NEVER
        first = self.suspicions[0]
        return first.seen.time_ns + _SETTLED_NS if len(self.suspicions) <= _MAX_SUSPICIONS and first.stands else -_NEVER

    def accepted(self, reading: str) -> tuple[str, ...]:
        """Return the accepted alternatives of a reading, the default first."""
        return self.readings[reading]


def verdict_on(
    seen: Seen,
    requirement: str,
    outcome: Outcome,
    expected: Json = None,
    actual: Json = None,
    readings: Assumed = (),
    reason: str | None = None,
    evidence: Evidence | None = None,
) -> Verdict:
    """Return a verdict about a packet."""
    number = seen.frame_number
    return Verdict(requirement, outcome, of_frame(number), expected, actual, readings, reason, evidence, frame=number)


def evidence(seen: Seen) -> Evidence:
    """Return the packet itself as evidence, so that it can be judged again."""
    frame = seen.frame
    return Evidence(
        "packet",
        seen.subject,
        {
            "base64": b64encode(frame.data[:_EVIDENCE]).decode("ascii"),
            "transport": frame.transport,
            "source": str(frame.source),
            "destination": str(frame.destination),
            "time_ns": frame.time_ns,
            "record": frame.record,
        },
    )
