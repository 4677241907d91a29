"""What every session rule works with: a packet in its place, the accepted readings, and how verdicts are written."""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from conformance.capture import Frame, Side, Trouble
from conformance.spec.assignment import possible
from conformance.verdict import Evidence, Json, Outcome, Verdict
from conformance.wire import Packet, dissect
from conformance.wire.layout import Value

# What a session counts as its messages (MS-MQQB 3.1.1.4): everything that is not an internal packet.
MESSAGES: Final[frozenset[str]] = frozenset({"UserMessage", "OrderAck", "FinalAck"})
MAX_REMEMBERED = 32_768  # Messages in any table that grows with the traffic; the oldest is forgotten.
MAX_HOSTS = 8_192  # Hosts, pairs of hosts or connections in any table of those: an entry holds far more than a message.

_MAX_SUSPICIONS = 4096
_SETTLED_NS = 1_000_000_000  # After this long, every loss has been noticed.
_SHORT = 256  # Characters of a name that is remembered in the form it is compared in.
_EVIDENCE = 65_536  # Bytes of a packet kept with a verdict.

Readings = Mapping[str, tuple[str, ...]]
Assumed = tuple[tuple[str, str], ...]
"""Readings and the alternative that is assumed of each."""
Kind = tuple[str, Outcome, Assumed]
"""What verdicts that are counted together share."""
Said = Verdict | int
"""A verdict, or the number of a kind of which one was told before (`Notes.kinds`)."""


QUEUE: Final = (
    "UserHeader.QueueManagerAddress",
    "UserHeader.DestinationQueue.PrivateQueueIdentifier",
    "UserHeader.DestinationQueue.PublicQueueIdentifier",
    "UserHeader.DestinationQueue.DirectFormatName",
)
BODY: Final = "MessagePropertiesHeader.MessageBody"


def one_name(names: tuple[Value | None, ...]) -> str:
    """A queue, of the values of QUEUE."""
    last = names[-1]
    return _joined(names) if last is None or len(str(last)) <= _SHORT else _joined.__wrapped__(names)


@lru_cache(maxsize=4096)
def _joined(names: tuple[Value | None, ...]) -> str:
    return "|".join("" if name is None else str(name).lower() for name in names)


def digest_of(raw: bytes | memoryview) -> bytes:
    """What is remembered of bytes that may be many."""
    return blake2b(raw, digest_size=16).digest()


class Seen:
    """A frame and what is in it.

    Rules ask for values by their keys, and for the few words about the frame that are named here, so that whoever has
    those need have nothing more (`Row`). What is remembered beyond the packet's turn is `kept()`.
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
        """What is in it."""
        assert self._packet is not None
        return self._packet

    @property
    def subject(self) -> str:
        """How verdicts name it."""
        return f"frame {self.frame_number}"

    @property
    def kind(self) -> str:
        """As `Packet.kind`."""
        return self.packet.kind

    @property
    def whole(self) -> bool:
        """Whether everything was decoded."""
        return self.packet.whole

    @property
    def frame_number(self) -> int:
        """As `Frame.number`."""
        return self.frame.number

    @property
    def time_ns(self) -> int:
        """As `Frame.time_ns`."""
        return self.frame.time_ns

    @property
    def connection(self) -> int | None:
        """As `Frame.connection`."""
        return self.frame.connection

    @property
    def side(self) -> Side | None:
        """As `Frame.side`."""
        return self.frame.side

    @property
    def gap_before(self) -> int:
        """As `Frame.gap_before`."""
        return self.frame.gap_before

    @property
    def trouble(self) -> Trouble | None:
        """As `Frame.trouble`."""
        return self.frame.trouble

    @property
    def hosts(self) -> tuple[str, str]:
        """The addresses of who sent it and of whom it was sent to."""
        return self.frame.source.address, self.frame.destination.address

    def kept(self) -> Seen:
        """The same, to be remembered."""
        return self

    def number(self, key: str) -> int | None:
        """A numeric field, None when it was not decoded."""
        value = self.packet.fields.get(key)
        return int(value) if isinstance(value, int) else None

    def text(self, key: str) -> str | None:
        """A text or GUID field, None when it was not decoded."""
        value = self.packet.fields.get(key)
        return value if isinstance(value, str) else None

    def raw(self, key: str) -> bytes | None:
        """A field of bytes, None when it was not decoded."""
        value = self.packet.fields.get(key)
        return value if isinstance(value, bytes) else None

    def values(self, keys: tuple[str, ...]) -> tuple[Value | None, ...]:
        """Fields of any sort, each None when it was not decoded; flags are numbers."""
        return tuple(map(self.packet.fields.get, keys))

    def queue(self) -> str:
        """The destination queue, in a form that is the same for each message to it."""
        return one_name(self.values(QUEUE))

    def body(self) -> bytes:
        """A digest of the body; one that is not there is like an empty one."""
        return digest_of(self.raw(BODY) or b"")


class Kept(Seen):
    """A frame that is remembered, decoded again when somebody asks what is in it."""

    __slots__ = ()

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame, None)

    @property
    def packet(self) -> Packet:
        """What is in it."""
        if self._packet is None:
            self._packet = dissect(self.frame.data, transport=self.frame.transport)
        return self._packet


@dataclass(slots=True)
class Path:
    """What goes from one host to another, over all their connections. generation: grows with every loss."""

    generation: int = 0


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A fail, unless it turns out soon that something on one of `paths` was not captured.

    Connections are put in order one by one: what another one proves may come a moment later.
    """

    verdict: Verdict
    seen: Seen
    paths: tuple[tuple[Path, int], ...]

    @property
    def stands(self) -> bool:
        """Whether nothing has been lost since."""
        return all(path.generation == generation for path, generation in self.paths)


@dataclass(slots=True)
class Notes:
    """The verdicts of one event, and what was already said to be undecidable. Nothing is said to be so twice.

    kinds: where passes are counted, the kinds that have a number: the first of a kind is told as a verdict, further
    ones as its place here. None: every verdict is told. full: other outcomes are counted like passes.
    """

    readings: Readings
    verdicts: list[Said] = field(default_factory=list)
    single: bool = False  # Whether a verdict is among them.
    suspicions: deque[Suspicion] = field(default_factory=deque)
    kinds: list[Kind] | None = None
    full: bool = False
    _said: set[tuple[str, int | None]] = field(default_factory=set)
    _plain: dict[str, int] = field(default_factory=dict)  # Passes that assume no reading, by requirement.
    _numbers: dict[Kind, int] = field(default_factory=dict)
    _outcomes: dict[Assumed, Outcome] = field(default_factory=dict)

    def take(self) -> list[Said]:
        """What was said since the last call."""
        taken, self.verdicts, self.single = self.verdicts, [], False
        return taken

    def tell(self, verdict: Verdict) -> None:
        """Note a verdict."""
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
        """Note a fail that stands only if no loss on these paths comes to light."""
        verdict = Verdict(requirement, Outcome.FAIL, seen.subject, expected, actual, readings, evidence=evidence(seen))
        self.suspicions.append(Suspicion(verdict, seen.kept(), tuple((path, path.generation) for path in paths)))

    def resolve(self, now_ns: int | None) -> None:
        """Decide the suspicions that have waited long enough; all of them at the end (None)."""
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

    def judge(
        self,
        requirement: str,
        holds: bool,
        seen: Seen,
        expected: Json,
        actual: Json,
        readings: Assumed = (),
    ) -> bool:
        """Note whether a demand holds, by the default of each reading or by another accepted one; returns `holds`.

        What is told by number is about the packet whose turn it is; of another one `judge_late` tells.
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
        """As `judge`, of a packet whose turn is over: always as a verdict."""
        self._say(requirement, self._holds(readings) if holds else Outcome.FAIL, seen, expected, actual, readings)

    def _say(
        self, requirement: str, outcome: Outcome, seen: Seen, expected: Json, actual: Json, readings: Assumed
    ) -> None:
        proof = evidence(seen) if outcome is Outcome.FAIL else None
        self.tell(Verdict(requirement, outcome, seen.subject, expected, actual, readings, evidence=proof))

    def _holds(self, readings: Assumed) -> Outcome:
        outcome = self._outcomes.get(readings)
        if outcome is None:
            other = any(self.readings[reading][0] not in possible(alternative) for reading, alternative in readings)
            outcome = self._outcomes[readings] = Outcome.READING if other else Outcome.PASS
        return outcome

    def passed(self, requirement: str, readings: Assumed = ()) -> bool:
        """Note that a demand holds where that is told by number; False: it is not, and `judge` has to tell it.

        So that what is said with a verdict is not made for nothing.
        """
        number = self._numbers.get((requirement, Outcome.PASS, readings)) if readings else self._plain.get(requirement)
        if number is None:
            return False
        self.verdicts.append(number)
        return True

    def same(self, requirement: str, seen: Seen, expected: Json, actual: Json) -> bool:
        """Note whether two values agree."""
        holds = expected == actual
        return (holds and self.passed(requirement)) or self.judge(requirement, holds, seen, expected, actual)

    def undecided(self, requirement: str, seen: Seen, reason: str, *, anywhere: bool = False) -> None:
        """Note that nothing can be said, once a connection and requirement; `anywhere`: once a requirement."""
        key = (requirement, None if anywhere else seen.connection)
        if key not in self._said and (anywhere or len(self._said) < MAX_REMEMBERED):
            self._said.add(key)
            self.tell(Verdict(requirement, Outcome.INCONCLUSIVE, seen.subject, reason=reason))

    def accepted(self, reading: str) -> tuple[str, ...]:
        """The accepted alternatives of a reading, the default first."""
        return self.readings[reading]


def evidence(seen: Seen) -> Evidence:
    """The packet itself, so that it can be judged again."""
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
        },
    )
