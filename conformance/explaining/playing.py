"""Stories of one example, played to the embedded queue manager up to the first answer that differs."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

from conformance.embedded.alternatives import ALTERNATIVES
from conformance.embedded.driver import PROTOCOLS, EmbeddedDriver
from conformance.embedded.faults import NotTogether
from conformance.embedded.manager import COMPUTER, QUEUE_MANAGER
from conformance.embedded.readings import READINGS
from conformance.harness.run_session import EXAMPLE
from conformance.harness.tape import Example, unpacked
from conformance.runlog import Run
from conformance.spec.versions import DEFAULT_PROFILE, PROFILES
from conformance.verdict import Outcome
from conformance.wire import dissect

RawOp = Mapping[str, Any]
MAX_OPS = 2_000


@dataclass(frozen=True, slots=True)
class Told:
    """One taped example.

    before: operations of the test before the example; what they answered is not compared. ops: those of the example.
    kills: of each restart, whether it was a kill. failed: the requirements it broke. calls: the abstract calls, for a
    history.
    """

    suite: str
    ops: tuple[RawOp, ...]
    before: tuple[RawOp, ...] = ()
    kills: tuple[bool, ...] = ()
    failed: tuple[str, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()

    @property
    def methods(self) -> frozenset[str]:
        """The methods that were called, and `restart`."""
        return frozenset(op.get("method") or str(op["what"]) for op in (*self.before, *self.ops))

    @property
    def shown(self) -> frozenset[str]:
        """The paths of all members that answers show."""
        answers = [op["result"] for op in self.ops if isinstance(op.get("result"), Mapping)]
        answers += [raw for op in self.ops for _, raw in op.get("ended", ()) if isinstance(raw, Mapping)]
        return frozenset(path for answer in answers for path in _paths("", answer))


@dataclass(frozen=True, slots=True)
class Implementation:
    """The members of its hello. readings: the alternatives that it follows, by reading."""

    profile: str = "msmq-4.0"
    computer: str = ""
    queue_manager: str = ""
    virtual: bool = True
    readings: Mapping[str, str] = field(default_factory=dict)


def stored(run: Run) -> Iterator[Told]:
    """Yield the examples of a run record that can be played; what is damaged is left out."""
    for evidence in run.evidence_of(EXAMPLE):
        try:
            told = _from_json(unpacked(evidence.data))
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        if told.ops:
            yield told


def once(stories: Sequence[Told]) -> list[Told]:
    """Return the stories without those that ask the same and were answered the same."""
    found: dict[str, Told] = {}
    for told in stories:
        key = repr([(op.get("method"), op.get("params"), op.get("result"), op.get("ended")) for op in told.ops])
        found.setdefault(key, told)
    return list(found.values())


def first_history(ops: Sequence[RawOp]) -> tuple[RawOp, ...]:
    """Return the operations up to the second reset: repetitions of a history are taped behind it."""
    for at, op in enumerate(ops):
        if at and op.get("method") == "reset":
            return tuple(ops[:at])
    return tuple(ops)


def taped(example: Example, suite: str, failed: str = "") -> Told | None:
    """Return the story of a live example; None if its tape is not whole, or if it is no history of calls."""
    calls = example.data.get("calls")
    if not example.whole or example.kind != "calls" or not isinstance(calls, list):
        return None
    ops = first_history([op.to_json() for op in example.ops])[:MAX_OPS]
    kills = tuple(bool(call.get("kill")) for call in calls if call.get("method") == "restart")
    return Told(suite, ops, kills=kills, failed=(failed,) if failed else (), calls=tuple(calls))


def implementation_of(hello: Mapping[str, Any], profile: str, followed: Mapping[str, str]) -> Implementation:
    """Return what an implementation told of itself. followed: readings that a run has shown, over those it claims."""
    claimed = hello.get("readings")
    readings = {str(name): str(chosen) for name, chosen in claimed.items()} if isinstance(claimed, Mapping) else {}
    return Implementation(
        profile=profile if profile in PROFILES else DEFAULT_PROFILE,
        computer=str(hello.get("computer") or ""),
        queue_manager=str(hello.get("queue_manager") or ""),
        virtual=hello.get("clock") == "virtual",
        readings={**readings, **followed},
    )


def _paths(path: str, value: Mapping[str, Any]) -> Iterator[str]:
    for name, member in value.items():
        below = f"{path}.{name}" if path else name
        yield below
        if isinstance(member, Mapping):
            yield from _paths(below, member)


def _from_json(data: Mapping[str, Any]) -> Told:
    repro = data["repro"]
    calls = tuple(repro.get("calls", ())) if repro.get("kind") == "calls" else ()
    failed = {str(said["requirement"]): None for said in data["verdicts"] if said["outcome"] == Outcome.FAIL.value}
    return Told(
        str(data["suite"]),
        first_history(data["ops"])[:MAX_OPS],
        () if calls else tuple(data["before"]),
        tuple(bool(call.get("kill")) for call in calls if call.get("method") == "restart"),
        tuple(failed),
        calls,
    )


_SIZES: Final = (".PacketSize", ".Count", "Length", ".HeadersEnd", ".Unexplained")
"""Ends of the names of fields that depend on how long the implementation's own names are."""
_OWN: Final = frozenset(
    {
        "UserHeader.SourceQueueManager",
        "UserHeader.MessageID",
        "UserHeader.SentTime",
        "UserHeader.QueueManagerAddress",
        "MessagePropertiesHeader.CorrelationID",
        "TransactionHeader.TxSequenceID",
    }
)
"""Fields that are told otherwise, or that each implementation counts on its own."""


def members(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer of `outgoing.take` with the fields of each packet in place of its bytes."""
    packets = answer.get("packets")
    if not isinstance(packets, list) or not all(isinstance(raw, str) for raw in packets):
        return answer
    return {**answer, "packets": [_fields(raw) for raw in packets]}


@lru_cache(256)
def _fields(raw: str) -> Any:
    """Return the fields of a packet, named so that identifiers and times are known as such; its text if it is none."""
    try:
        fields = dissect(binascii.a2b_base64(raw), transport="buffer").fields
    except (binascii.Error, ValueError):
        return raw
    told: dict[str, Any] = {
        name: value.hex() if isinstance(value, bytes) else value
        for name, value in fields.items()
        if name not in _OWN and not name.endswith(_SIZES)
    }
    told["identifier"] = {
        "source": str(fields.get("UserHeader.SourceQueueManager")),
        "ordinal": fields.get("UserHeader.MessageID"),
    }
    told["sent_time"] = fields.get("UserHeader.SentTime")
    correlated = fields.get("MessagePropertiesHeader.CorrelationID")
    told["correlation_identifier"] = base64.b64encode(correlated).decode() if isinstance(correlated, bytes) else ""
    return told


_HANDLE: Final = "handle"
KINDS: Final[Mapping[str, str]] = {
    "queue": _HANDLE,
    "destination": _HANDLE,
    "cursor": "cursor",
    "transaction": "transaction",
    "read": "read",
    "format_name": "format name",
    "lookup_identifier": "lookup identifier",
    "PROPID_Q_INSTANCE": "instance",
}
"""Members whose values are names, by the kind of what they name."""
_GIVEN = frozenset({_HANDLE, "cursor", "transaction", "read"})  # an answer gives them out; they may be used again
_INNER = frozenset({"lookup_identifier", "PROPID_Q_INSTANCE"})  # the others are names at the top of an answer only
_PLAIN = frozenset({"names", "packets", "structures"})  # facets whose answers are values, and no names of anything
_SECONDS = frozenset({"sent_time", "arrival_time", "PROPID_Q_CREATE_TIME", "PROPID_Q_MODIFY_TIME"})
_MILLISECONDS = frozenset({"time_ms"})
_IDENTIFIER_BYTES = 20  # MS-MQMQ 2.2.8: a GUID and a number of four bytes
_ABSENT = object()


class AnswerComparer:
    """The names bound so far in one story. ours: of the embedded manager."""

    def __init__(self, theirs: Implementation, ours: Implementation) -> None:
        self._bound: dict[tuple[str, Any], Any] = {}
        self._taken: dict[tuple[str, Any], Any] = {}
        self._texts: dict[str, str] = {}
        self._offsets: dict[str, int] = {}
        self.lacking: set[tuple[str, str]] = set()
        """Method and path of each member that only our answers have."""
        self._method = ""
        self._lookups: list[tuple[int, int]] = []
        self._virtual = theirs.virtual
        for name, other in ((theirs.computer, ours.computer), (theirs.queue_manager, ours.queue_manager)):
            if name and other and name != other:
                self._texts[name] = other

    def asked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with our names in place of theirs."""
        return {name: self._asked(name, value) for name, value in params.items()}

    def _asked(self, member: str, value: Any) -> Any:
        kind = KINDS.get(member) if isinstance(value, str | int) else None
        if kind is not None and (kind, value) in self._bound:
            return self._bound[kind, value]
        if isinstance(value, str):
            if member == "correlation_identifier":
                return self._correlation(value)
            return self._text(value)
        if isinstance(value, Mapping):
            if member == "identifier":
                return self._bound.get(("identifier", _identifier(value)), value)
            return {name: self._asked(name, inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._asked(member, inner) for inner in value]
        return value

    def differing(self, method: str, theirs: Any, ours: Any) -> Iterator[str]:
        """Yield the paths of the members in which two answers differ, and bind the names that are new in them."""
        if method.partition(".")[0] in _PLAIN:
            if theirs != ours and self._plain(theirs) != ours:
                yield "value"
            return
        self._method = method
        if method == "outgoing.take" and isinstance(theirs, Mapping) and isinstance(ours, Mapping):
            theirs, ours = members(theirs), members(ours)
        yield from self._differing("", theirs, ours)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self._plain(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._plain(inner) for inner in value]
        return self._text(value) if isinstance(value, str) else value

    def _differing(self, member: str, theirs: Any, ours: Any) -> Iterator[str]:
        if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
            if member.endswith("identifier") and "ordinal" in theirs:
                if not self._same("identifier", _identifier(theirs), _identifier(ours)):
                    yield member
                return
            for name in dict.fromkeys((*theirs, *ours)):
                path = f"{member}.{name}" if member else name
                left, right = theirs.get(name, _ABSENT), ours.get(name, _ABSENT)
                if left is _ABSENT:
                    self.lacking.add((self._method, path))
                if left is _ABSENT or right is _ABSENT:
                    yield path
                else:
                    yield from self._differing(path, left, right)
            return
        if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
            for left, right in zip(theirs, ours, strict=True):
                yield from self._differing(member, left, right)
            return
        if not self._equal(member, theirs, ours):
            yield member

    def _equal(self, path: str, theirs: Any, ours: Any) -> bool:
        member = path.rpartition(".")[2]
        kind = KINDS.get(member) if path == member or member in _INNER else None
        if kind is not None and isinstance(theirs, str | int) and isinstance(ours, str):
            return self._same(kind, theirs, ours)
        if member in _SECONDS or member in _MILLISECONDS:
            return self._time(member, theirs, ours)
        if member == "correlation_identifier" and isinstance(theirs, str):
            return bool(self._correlation(theirs) == ours)
        if isinstance(theirs, str):
            return ours in (theirs, self._text(theirs))
        return type(theirs) is type(ours) and bool(theirs == ours)

    def _same(self, kind: str, theirs: Any, ours: Any) -> bool:
        """Tell whether two names stand for the same thing; names that are both new are bound.

        Lookup identifiers tell an order too: two must stand to each other as the two they stand for.
        """
        if kind in _GIVEN:
            self._bound[kind, theirs] = ours
            return True
        if (kind, theirs) in self._bound:
            return bool(self._bound[kind, theirs] == ours)
        if (kind, ours) in self._taken:
            return False
        ordered = kind != "lookup identifier" or self._ordered(str(theirs), str(ours))
        self._bound[kind, theirs] = ours
        self._taken[kind, ours] = theirs
        if kind == "format name" and theirs != ours:
            self._texts[theirs] = ours
        return ordered

    def _ordered(self, theirs: str, ours: str) -> bool:
        if not (theirs.isdecimal() and ours.isdecimal()):
            return True
        before = self._lookups
        before.append((int(theirs), int(ours)))
        return all((before[-1][0] < left) == (before[-1][1] < right) for left, right in before[:-1])

    def _time(self, member: str, theirs: Any, ours: Any) -> bool:
        """Tell whether two times are equally far from the first ones of the story. A real clock tells nothing."""
        if type(theirs) is not int or type(ours) is not int:
            return type(theirs) is type(ours)
        if not self._virtual:
            return True
        unit = "s" if member in _SECONDS else "ms"
        offset = self._offsets.setdefault(unit, theirs - ours)
        return abs(theirs - ours - offset) <= (1 if unit == "s" else 0)  # seconds are cut off at different places

    def _correlation(self, text: str) -> str:
        """Return a correlation identifier with our identifier in place of theirs, if it names a message."""
        try:
            value = base64.b64decode(text)
        except (binascii.Error, ValueError):
            return text
        if len(value) != _IDENTIFIER_BYTES or not any(value):
            return text
        named = (str(uuid.UUID(bytes_le=value[:16])), int.from_bytes(value[16:], "little"))
        ours = self._bound.get(("identifier", named))
        if ours is None:
            return text
        try:
            raw = uuid.UUID(ours[0]).bytes_le + int(ours[1]).to_bytes(4, "little")
        except (ValueError, OverflowError):
            return text
        return base64.b64encode(raw).decode()

    def _text(self, text: str) -> str:
        for theirs in sorted(self._texts, key=len, reverse=True) if self._texts else ():
            if theirs in text:
                text = text.replace(theirs, self._texts[theirs])
        return text


def _identifier(value: Any) -> Any:
    """Return a message identifier as a value that can be a key."""
    try:
        return str(value["source"]).lower(), value["ordinal"]
    except (KeyError, TypeError):
        return repr(value)


OURS: Final = Implementation(computer=COMPUTER, queue_manager=QUEUE_MANAGER)
INFINITE: Final = 0xFFFFFFFF
LATE_OPS: Final = 1
"""Operations after which the answer of a waiting read may be noticed: the driver sends it when it likes."""
_FAST: Final = Path("/dev/shm")  # a file system in memory, where there is one
MESSAGE: Final = "message"
"""Stands for every method whose answer shows a message: its members are the same for all of them."""
STATUS: Final = "status "
"""Beginning of the difference between two statuses."""
Tolerated = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Played:
    """The embedded manager's answers to a story, compared with those of the implementation.

    at: the place of the operation whose answer differs first, None if all agree. paths: the members that differ there.
    differences: all (method, member) that differ in a story that was played on regardless; a status has its value in
    both, and a member of a message has MESSAGE for its method. compared: the methods of the answers compared, and
    MESSAGE for each that shows a message in both. lacking: those of the differences that are members of our answers
    alone.
    """

    at: int | None
    paths: tuple[str, ...] = ()
    differences: tuple[tuple[str, str], ...] = ()
    compared: tuple[str, ...] = ()
    lacking: frozenset[tuple[str, str]] = frozenset()

    @property
    def agrees(self) -> bool:
        """True if every answer agrees."""
        return self.at is None


def quick_folder() -> TemporaryDirectory[str]:
    """Make a temporary folder, in memory where that can be: what is in it need not survive this process."""
    return TemporaryDirectory(prefix="mqconform-", dir=_FAST if _usable() else None)


def alternatives(implementation: Implementation) -> tuple[str, ...]:
    """Return the alternatives of readings that make the embedded manager follow what the implementation follows."""
    wanted = (f"{name}={chosen}" for name, chosen in implementation.readings.items() if READINGS.get(name) != chosen)
    return tuple(sorted(each for each in wanted if each in ALTERNATIVES))


class StoryPlayer:
    """Plays stories to one embedded manager with the same faults. Use it in a `with` block: it has a state folder."""

    def __init__(self, faults: Sequence[str], implementation: Implementation) -> None:
        """Raises KeyError for a name that the dictionary does not have."""
        self._names = (*alternatives(implementation), *faults)
        self._theirs = implementation
        self._folder = quick_folder()
        self._driver: EmbeddedDriver | None = None
        self._impossible = False

    def __enter__(self) -> Self:
        try:
            self._start()
        except NotTogether:
            self._impossible = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(kill=False)
        self._folder.cleanup()

    def play(self, told: Told, tolerated: Tolerated = frozenset(), *, on: bool = False) -> Played:
        """Play a story. tolerated: (method, member) whose difference means nothing. on: go on after a difference."""
        if self._impossible:  # faults that one manager cannot have explain nothing
            return Played(-len(told.before) - 1, ("faults",))
        if self._driver is None:
            self._start()
        return _Playing(self, told, self._theirs, tolerated, on).play()

    def handle(self, method: str, params: dict[str, Any], reply: Callable[[Any], None], request: Any) -> None:
        """Let the manager perform a request; what it raises is an answer that agrees with none."""
        try:
            assert self._driver is not None
            self._driver.handle(method, params, reply, request=request)
        except Exception as error:  # of a fault, or of parameters that this manager does not take
            reply({"raised": type(error).__name__})

    def restart(self, *, kill: bool) -> None:
        """End the manager and start another one on the same state."""
        self._end(kill=kill)
        self._start()

    def _start(self) -> None:
        self._driver = EmbeddedDriver(self._folder.name, self._names, profile=self._theirs.profile)
        hello = {"versions": list(PROTOCOLS), "harness": "mqconform", "state_dir": ""}
        self._driver.handle("hello", hello, lambda answer: None, request="hello")

    def _end(self, *, kill: bool) -> None:
        driver, self._driver = self._driver, None
        if driver is not None and not kill:
            with suppress(Exception):
                driver.close()


@dataclass(slots=True)
class _Playing:
    """One story being played. open: params of the calls that wait, by number. ended: what came of them, and when."""

    player: StoryPlayer
    told: Told
    theirs: Implementation
    tolerated: Tolerated
    on: bool
    names: AnswerComparer = field(init=False)
    open: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    ended: dict[int, tuple[int, Any]] = field(default_factory=dict)
    differences: list[tuple[str, str]] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)
    first: tuple[int, tuple[str, ...]] | None = None
    methods: dict[int, str] = field(default_factory=dict)
    restarts: int = 0
    now: int = 0

    def __post_init__(self) -> None:
        self.names = AnswerComparer(self.theirs, OURS)

    def play(self) -> Played:
        for at, op in enumerate(self.told.before, -len(self.told.before)):
            self._op(at, op)
        self.differences.clear()
        self.compared.clear()
        for at, op in enumerate(self.told.ops):
            paths = self._op(at, op)
            if paths and self.first is None:
                self.first = at, paths
            if paths and not self.on:
                break
        unnoticed = [self.methods[number] for number in self.open if number in self.ended]
        if unnoticed and self.first is None and self._differ(unnoticed[0], ("end",)):
            self.first = len(self.told.ops) - 1, ("end",)
        at_first, members = self.first or (None, ())
        absent = {(_shown_by(method, path), path) for method, path in self.names.lacking}
        lacking = frozenset(absent & set(self.differences))
        return Played(at_first, members, tuple(self.differences), tuple(self.compared), lacking)

    def _op(self, at: int, op: RawOp) -> tuple[str, ...]:
        what = op["what"]
        self.now = at
        self._pass(op.get("slept_ms", 0))
        if what == "restart":
            kills = self.told.kills
            self.player.restart(kill=kills[self.restarts] if self.restarts < len(kills) else True)
            self.restarts += 1
            self.open.clear()
            return ()
        if what not in ("call", "start") or "refused" in op:
            return ()
        method = str(op["method"])
        params = self.names.asked(op.get("params", {}))
        params.pop("deadline_ms", None)
        number = op.get("request")
        if number is None:
            paths = self._answered(at, op, method, params)
        else:
            self.open[number], self.methods[number] = params, method
            self.player.handle(method, params, lambda raw: self._end(number, raw), number)
            paths = ()
        return (*paths, *self._ends(at, op))

    def _answered(self, at: int, op: RawOp, method: str, params: dict[str, Any]) -> tuple[str, ...]:
        came: list[Any] = []
        self.player.handle(method, params, came.append, f"call {at}")
        theirs = op.get("result")
        if theirs is None:
            return ()
        if not came:
            self._wait(params)
        if not came:
            return self._differ(method, ("answer",))
        return self._compare(method, theirs, came[0])

    def _end(self, number: int, raw: Any) -> None:
        self.ended[number] = (self.now, raw)

    def _ends(self, at: int, op: RawOp) -> tuple[str, ...]:
        """Compare the waiting calls that ended with this operation."""
        paths: tuple[str, ...] = ()
        for number, theirs in op.get("ended", ()):
            params = self.open.pop(number, None)
            if params is None:
                continue
            method = self.methods[number]
            if number not in self.ended:
                self._wait(params)
            if number not in self.ended:
                paths += self._differ(method, ("end",))
                continue
            paths += self._compare(method, theirs, self.ended[number][1])
        for number in [number for number in self.open if number in self.ended]:
            if at - self.ended[number][0] >= LATE_OPS:
                del self.open[number]
                paths += self._differ(self.methods[number], ("end",))
        return paths

    def _wait(self, params: Mapping[str, Any]) -> None:
        """Let a wait's time pass where the implementation has a clock of its own."""
        self._pass(params.get("timeout_ms", 0))

    def _pass(self, ms: Any) -> None:
        """Let time pass as it did on the implementation's own clock."""
        if not self.theirs.virtual and isinstance(ms, int) and 0 < ms < INFINITE:
            self.player.handle("clock.advance", {"by_ms": ms}, lambda raw: None, "clock")

    def _compare(self, method: str, theirs: Any, ours: Any) -> tuple[str, ...]:
        if isinstance(theirs, str):  # the driver lacks something
            return ()
        theirs, ours = _plain(theirs, ours)
        codes = theirs.get("status"), ours.get("status")
        if codes[0] != codes[1] and all(codes):
            return self._differ(method, (f"{STATUS}{codes[0]} for {codes[1]}",))
        if self.on and isinstance(theirs.get(MESSAGE), Mapping) and isinstance(ours.get(MESSAGE), Mapping):
            self.compared.append(MESSAGE)
        return self._differ(method, tuple(self.names.differing(method, theirs, ours)))

    def _differ(self, method: str, paths: Sequence[str]) -> tuple[str, ...]:
        if self.on:
            self.compared.append(method)
            self.differences += [(_shown_by(method, path), path) for path in dict.fromkeys(paths)]
        return tuple(path for path in paths if (_shown_by(method, path), path) not in self.tolerated)


def _shown_by(method: str, path: str) -> str:
    """Return the method by whose answers a difference is counted."""
    return MESSAGE if path.startswith(f"{MESSAGE}.") else method


def _plain(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return two answers without status codes, where one has none: then only success and failure are compared."""
    if theirs.get("status", 0) is not None:
        return theirs, ours
    failed = {name: value for name, value in theirs.items() if name not in ("status", "failure")}
    return (
        {**failed, "fails": "failure" in theirs},
        {**{name: value for name, value in ours.items() if name != "status"}, "fails": ours.get("status") != 0},
    )


@cache
def _usable() -> bool:
    try:
        with TemporaryDirectory(prefix="mqconform-", dir=_FAST):
            return True
    except OSError:
        return False
