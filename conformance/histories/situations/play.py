"""Play planned histories against an implementation, each with its probe; messages carry every kind of property."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from conformance.adapter.errors import DriverTimeout
from conformance.harness.guarded_client import DriverGone, refusals
from conformance.harness.recorder import ConformanceFailure
from conformance.histories.findings import Finding, Findings, expiring, fitted, stored_calls
from conformance.histories.history import History, killed
from conformance.histories.operations.operation import Manner, Offer
from conformance.histories.operations.table import OPERATIONS, takes
from conformance.histories.situations.book import Planned
from conformance.histories.situations.coverage import CUT, FAILED, NOT_OFFERED, OTHERWISE, Met
from conformance.histories.situations.probe import Probing, probe, restarts, room
from conformance.histories.situations.situation import Space, Vector
from conformance.histories.walk import offer_of
from conformance.model import BadCall, Call, Model, State
from conformance.model.journals import ELSEWHERE, is_kept, is_remote
from conformance.model.message_properties import ALL, BITS, JUDGED, NAMING, NO_BODY, QUEUES_SHOWN
from conformance.model.values import replace
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.guarded_client import GuardedClient
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

_CLASS, _CORRELATION, _EXTENSION = BITS["class"], BITS["correlation_identifier"], BITS["extension"]
WAYS: Final = (
    ALL,
    ALL | NO_BODY,
    ALL & ~_CLASS,
    ALL & ~_EXTENSION,
    (ALL & ~_EXTENSION) | NO_BODY,
    (ALL & ~_CORRELATION) | NO_BODY,
    ALL & ~BITS["response_queue"],
    _CLASS | _CORRELATION,
    _EXTENSION | BITS["application_tag"] | NO_BODY,
    BITS["response_queue"] | BITS["application_tag"],
    BITS["body_type"] | _EXTENSION,
    0,
)
"""The ways to fill a message, as bits of `conformance.model.message_properties`."""


def trial(carries: int) -> tuple[Call, ...]:
    """Return a history that tells whether messages can be filled in this way, in a transaction and without."""
    return (
        Call("queues.create", queue="q1"),
        Call("queues.open", name="h1", queue="q1", access="send"),
        Call("queues.open", name="h2", queue="q1", access="receive"),
        Call("messages.send", message="a", handle="h1", carries=carries),
        Call("messages.peek", handle="h2"),
        Call("messages.receive", handle="h2"),
        Call("queues.create", queue="q2", transactional=True),
        Call("queues.open", name="h3", queue="q2", access="send"),
        Call("queues.open", name="h4", queue="q2", access="receive"),
        Call("transactions.begin", name="t1"),
        Call("messages.send", message="b", handle="h3", transaction="t1", carries=carries),
        Call("transactions.commit", transaction="t1"),
        Call("messages.receive", handle="h4"),
    )


def offered(accepted: Sequence[str] | frozenset[str] | None, shown: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the ways for a driver. accepted: the members it takes, None for all. shown: a message as it shows it."""
    able = sum(bit for member, bit in BITS.items() if accepted is None or member in accepted)
    alone = ("extension", "response_queue")  # tell the name of a message without a body
    named = sum(BITS[member] for member in alone if member in shown)
    if "label" in shown:
        named |= sum(BITS[member] for member in NAMING if member in shown and not BITS[member] & named)
    always = JUDGED | (QUEUES_SHOWN if "response_queue" in shown else 0)
    found: dict[int, None] = {}
    for way in WAYS:
        fits = way & able & ALL
        if way & NO_BODY:
            if not fits & named:
                continue
            fits |= NO_BODY
        found[fits | always] = None
    return tuple(found)


def filled(call: Call, state: State, ways: Sequence[int], history: int) -> Call:
    """Return a send with what its message carries, by its name and the number of the history; other calls unchanged.

    A message for another computer is of no class of its own: its packet may have none (MS-MQMQ 2.2.19.3).
    """
    if not ways or "carries" not in OPERATIONS[call.method].members:
        return call
    way = ways[(crc32((call.message or "").encode()) + history) % len(ways)]
    handle = state.handles.get(call.handle or "")
    away = handle is not None and is_remote(handle.queue)
    return replace(call, carries=way & ~_CLASS if away else way)


MAX_GONE: Final = 3  # times the driver may go away in one test: each costs its start, and a deadline if it hangs
LEAST_S: Final = 4.0  # seconds that one test may spend on shrinking, however soon it was done
ONWARD_S: Final = 20.0  # seconds that one test may spend behind a deviation, however soon it was done
CRASHED: Final = "a crash"


@dataclass(slots=True)
class Known:
    """Findings and situations of a worker's earlier tests, so that a deviation is told once and the run stays short.

    findings: by requirement and place. ways: to fill messages (`carrying.WAYS`), None as long as none was tried.
    """

    findings: Findings = field(default_factory=Findings)
    met: Met = field(default_factory=Met)
    ways: tuple[int, ...] | None = None


@dataclass(slots=True)
class _Tally:
    """Situations that the histories of one test met. vectors: by method; each stands for many situations."""

    vectors: dict[str, set[Vector]] = field(default_factory=dict)
    met: Met = field(default_factory=Met)

    def count(self, method: str, vector: Vector) -> None:
        """Count a call, with what it meets."""
        self.met.calls += 1
        if vector:
            self.vectors.setdefault(method, set()).add(vector)

    def numbers(self, space: Space) -> Met:
        """Return the situations met; a planned one that another history met has not fallen out."""
        for method, found in self.vectors.items():
            for vector in found:
                self.met.met.update(space.numbers(method, vector))
        for numbers in self.met.fell.values():
            numbers -= self.met.met
        return self.met


class Player:
    """Plays histories in turn. known: shared by the tests of a worker."""

    def __init__(
        self, client: GuardedClient, judge: Recorder, options: RunOptions, space: Space, known: Known | None = None
    ) -> None:
        self.known = known or Known()
        self._client: Port = client
        self._guarded = client
        self._judge = judge
        self._options = options
        self._space = space
        self._model = Model(judge.readings)
        self._offer = offer_of(client)
        self._restartable = client.keeps_state
        self._refusals = refusals()
        self._senseless: tuple[type[BaseException], ...] = (*self._refusals, BadCall)
        self._tally = _Tally()
        self._crashes: list[ConformanceFailure] = []
        self._deviating: list[Planned] = []
        self._found = self.known.findings
        self._before = frozenset(self._found.found)
        judge.told_before(requirement for requirement, _ in self._before)

    def play(self, histories: Iterable[Planned]) -> Met:
        """Play the histories until they or the time are over; return what they met that is new to this worker."""
        judge, over = self._judge, False
        if self.known.ways is None:
            self.known.ways = tuple(self._tried())
            over = self._enough
        for planned in histories:
            over = over or time.monotonic() > judge.until or len(self._crashes) >= MAX_GONE
            if over:
                judge.cut = judge.cut or len(self._crashes) < MAX_GONE
                self.fall(CUT if len(self._crashes) < MAX_GONE else FAILED, planned, 0)
                continue
            self._one(planned)
            over = self._enough
        met = self._tally.numbers(self._space)
        fresh = met.since(self.known.met)
        self.known.met.add(met)
        return fresh

    def _tried(self) -> Iterator[int]:
        """Yield the ways to fill messages in which one is sent and comes back right; any other is a deviation."""
        accepted = self._offer.accepts.get("message")
        shown = self._exchanged(offered(accepted, {})[0]) or {}
        for way in offered(accepted, shown):
            if self._exchanged(way) is not None:
                yield way

    def _exchanged(self, way: int) -> Mapping[str, Any] | None:
        """Send a message filled in this way and receive it; return it as it is shown, None if it does not come."""
        history = History(self._client, self._judge, self._model)
        shown = None
        try:
            for call in filter(self.offers, trial(way)):
                seen = history.do(call)
                if seen is not None and seen.answer is not None and seen.answer.message is not None:
                    shown = seen.answer.message.shown
        except ConformanceFailure as failure:
            self.failed(failure, history)
            return None
        except self._senseless:
            return None
        except DriverGone as gone:
            self._crashed(history, gone, "with a message of many properties")
            return None
        history.driving.leave()
        return shown

    @property
    def _enough(self) -> bool:
        return self._options.first_only and bool(self._fresh or self._crashes)

    @property
    def _fresh(self) -> dict[tuple[str, str], Finding]:
        return {key: finding for key, finding in self._found.found.items() if key not in self._before}

    def told(self, seconds: float) -> list[ConformanceFailure]:
        """Return the deviations, each with the shortest story found within so many seconds.

        Deviations that an earlier test of this worker has told are left out.
        """
        fresh, past, judge = Findings(found=self._fresh), self._judge.past, self._judge
        told = fresh.told(self._client, judge, self._options, seconds=max(LEAST_S, seconds))
        if past is not None and self._deviating and not self._crashes:
            past.learn(told)
            ways = self.known.ways or ()
            told += past.onward(self._guarded, judge, self._options, self._deviating, ways, max(ONWARD_S, seconds))
        return [*told, *self._crashes]

    def whole(self, planned: Planned) -> tuple[Call, ...]:
        """Play a history, and return its calls with those of its probe, as far as they were made."""
        playing = _Playing(self, planned, History(self._client, self._judge, self._model))
        if playing.calls(planned.calls):
            playing.probe()
        return stored_calls(playing.history.calls)

    def fall(self, reason: str, planned: Planned, begin: int) -> None:
        """Note that the calls of a history from this place on are not made."""
        self._tally.met.falls(reason, (number for numbers in planned.met[begin:] for number in numbers))

    def _one(self, planned: Planned) -> None:
        """Play one history and its probe."""
        calls = planned.calls
        if not self._offer.virtual:
            timed = None if planned.virtual else fitted(calls)
            if timed is None:
                self.fall(NOT_OFFERED, planned, 0)
                return
            calls = timed
        self._tally.met.played += 1
        playing: _Playing | None = None
        try:
            playing = _Playing(self, planned, History(self._client, self._judge, self._model))
            if playing.calls(calls):
                playing.probe()
            playing.history.driving.leave()
            self._witnessed()
        except DriverGone as gone:
            self._gone(playing, planned, gone)

    def _witnessed(self) -> None:
        """Tell of a history that passed: it contradicts causes of what deviates elsewhere."""
        past, tape = self._judge.past, self._judge.tape
        if (
            past is not None
            and tape is not None
            and all(said.outcome is not Outcome.FAIL for said in tape.example.said)
        ):
            past.witness(tape.example)

    def _gone(self, playing: _Playing | None, planned: Planned, gone: DriverGone) -> None:
        """Keep a crash or a time-out as the answer that was lacking, and go on with a new process."""
        self.fall(FAILED, planned, playing.at if playing is not None else 0)
        self._crashed(playing.history if playing is not None else None, gone, f"in history {planned.number}")

    def _crashed(self, history: History | None, gone: DriverGone, when: str) -> None:
        if history is None or not history.calls:
            raise gone
        call = stored_calls(history.calls[-1:])[0]
        outcome = Outcome.TIMEOUT if isinstance(gone.fault, DriverTimeout) else Outcome.CRASH
        sentence = " ".join(gone.fault.sentence.split())[:500]
        requirement = self._model.allowed(history.state, call).outcomes[0].requirement
        verdict = Verdict(requirement, outcome, gone.method, actual=sentence, reason=sentence)
        key = (requirement, CRASHED)
        self.known.findings.seen[key] += 1
        if self.known.findings.seen[key] == 1:
            self._crashes.append(ConformanceFailure(verdict, self._judge.story, self._judge.repro()))
        self._judge.remarks.append(f"the driver went away {when}: {sentence}")
        self._client = self._guarded = self._guarded.renewed()

    def failed(self, failure: ConformanceFailure, history: History, planned: Planned | None = None) -> bool:
        """Note a failure; return True if the history may go on."""
        call = stored_calls(failure.repro["calls"][-1:])[0]
        past = self._judge.past
        if past is None or not past.explains(failure):
            self._found.add(failure, history, call)
        onward = not self._enough and history.go_on()
        if past is not None and planned is not None and not onward and planned not in self._deviating:
            self._deviating.append(planned)
        return onward

    def due(self, planned: Planned) -> bool:
        """Tell whether the probe of this history restarts the manager."""
        return self._restartable and restarts(planned.number, cheap=self._guarded.in_process)

    def offers(self, call: Call) -> bool:
        """Tell whether the driver can be asked this."""
        if OPERATIONS[call.method].manner is Manner.RESTART:
            return self._restartable
        return self._offer.has(*OPERATIONS[call.method].needs, *_beside(call)) and takes(self._offer, call)

    @property
    def tally(self) -> _Tally:
        """Return the situations met so far."""
        return self._tally

    @property
    def space(self) -> Space:
        """All situations."""
        return self._space

    @property
    def offer(self) -> Offer:
        """Return the offer of the driver."""
        return self._offer

    @property
    def refused(self) -> tuple[type[BaseException], ...]:
        """Return the exceptions of a call that the driver does not accept."""
        return self._refusals


@dataclass(slots=True)
class _Playing:
    """One history being played.

    at: the place of the next planned call. lacking: calls that the driver cannot do were left out. bad: a call made no
    sense any more.
    """

    player: Player
    planned: Planned
    history: History
    at: int = 0
    lacking: bool = False
    bad: bool = False

    def calls(self, calls: tuple[Call, ...]) -> bool:
        """Make the calls; return False if the history ended before its probe."""
        asked = list(expiring(calls))
        for (call, end), follower in zip_longest(asked, asked[1:]):
            killing = killed(follower[0]) if follower is not None else self.player.due(self.planned)
            self.history.driving.killing = killing
            if self.history.over:
                self.player.fall(FAILED, self.planned, self.at)
                return False
            width = 1 if end is None else 2
            if not self._made(call, end):
                self.player.fall(OTHERWISE if self.bad else FAILED, self.planned, self.at)
                return False
            self.at += width
        return not self.history.over

    def _made(self, call: Call, end: Call | None) -> bool:
        player = self.player
        asked = [call] if end is None else [call, end]
        if not all(map(player.offers, asked)):
            self._left_out(len(asked))
            return True
        try:
            self._ask(call, end)
        except BadCall:
            if self.lacking:  # what it refers to was left out too
                self._left_out(len(asked))
                return True
            self.bad = True
            return False
        except ConformanceFailure as failure:
            return player.failed(failure, self.history, self.planned)
        except player.refused:
            del self.history.calls[-1]
            self._left_out(len(asked))
        return True

    def _left_out(self, width: int) -> None:
        self.lacking = True
        numbers = (number for met in self.planned.met[self.at : self.at + width] for number in met)
        self.player.tally.met.falls(NOT_OFFERED, numbers)

    def _ask(self, call: Call, end: Call | None) -> None:
        call = filled(call, self.history.state, self.player.known.ways or (), self.planned.number)
        if end is None or self.history.driving.virtual:
            self._do(call, self.history.do)
            if end is not None:
                self._do(end, self.history.do)
        else:
            self._do(call, self.history.expire)

    def _do(self, call: Call, act: Callable[[Call], object]) -> None:
        """Make a call, and note what it meets: a call that fails counts, one that makes no sense does not."""
        if self.history.over:
            return
        vector = self.player.space.vector(self.history.state, call)
        try:
            act(call)
        except ConformanceFailure:
            self.player.tally.count(call.method, vector)
            raise
        self.player.tally.count(call.method, vector)

    def probe(self) -> None:
        """Make the calls of the probe, as far as they make sense."""
        history, player = self.history, self.player
        history.driving.killing = False
        most = room(len(self.planned.calls))
        asking = probe(self.planned.number, history.state, player.offer, most=most, restart=player.due(self.planned))
        for call in _sent(asking, history):
            if history.over:
                return
            if not player.offers(call):
                continue
            try:
                self._ask(call, None)
            except BadCall:
                continue
            except ConformanceFailure as failure:
                if not player.failed(failure, history, self.planned):
                    return
            except player.refused:
                del history.calls[-1]


def _beside(call: Call) -> tuple[str, ...]:
    """Return the methods of the facet that a call belongs to, where another method asks for what the facet is about.

    A driver says by them that its implementation has outgoing queues, subqueues, or journals and quotas.
    """
    queue = call.queue or ""
    if is_remote(queue) or queue == ELSEWHERE:
        return ("outgoing.take",)
    wishes = (call.journal, call.dead_letter, call.acks, call.admin, call.live_s, call.reach_s)
    keeps = (call.journaling, call.quota_kb is not None, call.journal_quota_kb is not None, is_kept(queue))
    if any(wishes) or any(keeps):
        return ("queues.get", "queues.counts")
    return ("messages.move",) if ";" in queue else ()


def _sent(asking: Probing, history: History) -> Iterator[Call]:
    """Yield the calls of a probe, and tell it the state after each."""
    call = next(asking, None)
    while call is not None:
        yield call
        try:
            call = asking.send(history.state)
        except StopIteration:
            return
