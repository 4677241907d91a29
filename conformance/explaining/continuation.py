"""Judge past known quirks: replay whole histories and report the remaining differences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from conformance.adapter.client import Client
from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.explaining.causes import Seen, told_of
from conformance.explaining.playing import (
    Implementation,
    StoryPlayer,
    Told,
    alternatives,
    implementation_of,
    quick_folder,
    taped,
)
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import DriverGone, GuardedClient, lacking, refusals
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.repro_files import NotRepeatable, rejudge
from conformance.harness.run_session import Check, RunSession, hello_json
from conformance.harness.tape import ON_THE_NETWORK, RPC, Tape
from conformance.histories.driver_side import Driving
from conformance.histories.findings import confirmed, fitted, run, shortened
from conformance.histories.operations.table import well_formed
from conformance.histories.situations.book import Planned
from conformance.histories.situations.play import Known, Player
from conformance.histories.situations.play import Player as Playing
from conformance.histories.situations.situation import Space, space
from conformance.model import BadCall, Call, State
from conformance.model.expected import message_name
from conformance.model.values import replace as altered
from conformance.spec.catalogue import assignment
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome

DEADLINE_MS = 10_000
_STATE = State()


@dataclass(frozen=True, slots=True)
class Asked:
    """A call, and the waiting reads that ended with it."""

    call: Call
    ended: tuple[str, ...] = ()


@contextmanager
def reference(faults: Sequence[str], implementation: Implementation) -> Iterator[GuardedClient]:
    """Open the embedded manager with faults, and with the readings that an implementation follows."""
    with embedded(faults, implementation) as client:
        yield GuardedClient(client)


@contextmanager
def embedded(faults: Sequence[str], implementation: Implementation) -> Iterator[Client]:
    """Do as `reference` does, for a client that may be guarded anew."""
    names = ",".join((*alternatives(implementation), *faults))
    with quick_folder() as folder:
        client = open_client(
            f"embedded+{names}" if names else "embedded",
            state_dir=Path(folder),
            in_process=True,
            deadline_ms=DEADLINE_MS,
            profile=implementation.profile,
        )
        try:
            yield client
        finally:
            client.close()


def silent(options: RunOptions) -> Recorder:
    """Return a recorder that tells nobody."""
    return Recorder(options, lambda verdict, count: None)


def whole(
    client: GuardedClient, options: RunOptions, space: Space, planned: Planned, ways: tuple[int, ...], *, real: bool
) -> tuple[Call, ...]:
    """Return the calls of a planned history with its probe, as this conforming client makes them.

    ways: to fill messages. real: the calls are for an implementation with a clock of its own; none, if such a clock
    cannot play them.
    """
    if real:
        calls = None if planned.virtual else fitted(planned.calls)
        if calls is None:
            return ()
        planned = replace(planned, calls=calls)
    return Player(client, silent(options), options, space, Known(ways=ways)).whole(planned)


def follow(client: GuardedClient, calls: Sequence[Asked]) -> tuple[Asked, ...]:
    """Make the calls that make sense, after a reset; return them with the waiting reads that ended.

    Raises DriverGone.
    """
    client.call("reset")
    driving, lookups, made = Driving(client), dict[str, int](), list[Asked]()
    pointless: tuple[type[BaseException], ...] = (BadCall, *refusals())
    for asked in calls:
        try:
            observation = driving.perform(asked.call, altered(_STATE, lookups=lookups), (frozenset(asked.ended),))
        except pointless:
            continue
        made.append(Asked(asked.call, tuple(observation.completed)))
        for answer in (observation.answer, *observation.completed.values()):
            seen = answer.message if answer is not None else None
            if seen is not None and seen.lookup_identifier is not None:
                lookups[message_name(seen)] = seen.lookup_identifier
    driving.leave()
    return tuple(made)


def heard(client: GuardedClient, calls: Sequence[Asked]) -> Told | None:
    """Ask an implementation these calls and return what was said; None if it was too much. Raises DriverGone."""
    tape = Tape(set(), lambda example: None)
    stored = [asked.call.to_json() for asked in calls]
    tape.begin("calls", {"calls": stored})
    follow(client.taped(tape), calls)
    return taped(tape.example, "situations")


MAX_SEARCHES: Final = 6  # searches through the whole dictionary: each takes some seconds
MAX_STORIES: Final = 6  # histories that one search plays, the shortest
MAX_NEARER: Final = 4  # histories of which shorter ones are asked for
MAX_ASKED: Final = 80  # shorter histories asked for in place of one
MAX_TRIED: Final = 4  # histories that a finding is looked for in
_BROKEN: Final = 2
MAX_RUNS: Final = 150  # histories run to shorten one story; most in this process


@dataclass(slots=True)
class Searched:
    """Counts the searches of the whole dictionary, and the requests for shorter stories, by all tests of a worker."""

    times: int = 0
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Whole:
    """A history that was asked to its end, whatever was answered."""

    calls: tuple[Call, ...]
    told: Told


@dataclass(frozen=True, slots=True)
class Behind:
    """One look behind the quirks, for the histories of one test. until: `time.monotonic()` when it ends."""

    client: GuardedClient
    judge: Recorder
    options: RunOptions
    implementation: Implementation
    seen: Seen
    searched: Searched
    until: float

    @property
    def _over(self) -> bool:
        return time.monotonic() > self.until

    def asked(self, histories: Sequence[Planned], ways: tuple[int, ...], faults: Sequence[str]) -> list[Whole]:
        """Ask the implementation whole histories.

        ways: to fill messages. faults: its quirks, which tell when its waiting reads end.
        """
        found: list[Whole] = []
        offers = Playing(self.client, silent(self.options), self.options, space(), Known(ways=ways)).offers
        with ExitStack() as stack:
            conforming = stack.enter_context(reference((), self.implementation))
            alike = stack.enter_context(reference(faults, self.implementation))
            for planned in histories:
                if self._over:
                    break
                real = not self.implementation.virtual
                calls = tuple(filter(offers, whole(conforming, self.options, space(), planned, ways, real=real)))
                if not calls:
                    continue
                told = heard(self.client, follow(alike, [Asked(call) for call in calls]))
                if told is not None:
                    found.append(Whole(calls, told))
        return found

    def cause(self, left: Sequence[Whole], faults: tuple[str, ...]) -> str | None:
        """Return the fault that, beside the known ones, explains most of these histories; None if none explains any.

        One that contradicts as many passed stories explains none.
        """
        if self.searched.times >= MAX_SEARCHES:
            return None
        self.searched.times += 1
        stories = [each.told for each in sorted(left, key=lambda each: len(each.told.ops))[:MAX_STORIES]]
        best: tuple[int, str] | None = None
        for name in told_of({method for told in stories for method in told.methods}):
            if self._over:
                break
            if name in faults:
                continue
            with StoryPlayer((*faults, name), self.implementation) as player:
                agreed = 0
                for left_over, told in zip(range(len(stories), 0, -1), stories, strict=True):
                    if best is not None and agreed + left_over < -best[0]:
                        break  # it cannot explain as many any more
                    agreed += player.play(told, self.seen.tolerated).agrees
            if agreed and (best is None or (-agreed, name) < best):
                against = self.seen.against((name,), self.implementation, agreed)
                best = min(best or (0, ""), (against - agreed, name))
        return None if best is None or not best[0] else best[1]

    def finding(self, fault: str, left: Sequence[Whole], faults: tuple[str, ...]) -> ConformanceFailure | None:
        """Return the deviation behind the quirks that a fault stands for, judged by the model.

        A history in which that fault alone shows, and no quirk does, is looked for with the embedded manager. If the
        implementation fails in it too, the model has judged the implementation itself. Otherwise the blame is what the
        model says of the embedded manager with that fault; nothing, if that is a requirement which the fault does not
        show as: it would be blamed for what only follows.
        """
        inferred: ConformanceFailure | None = None
        with reference((fault,), self.implementation) as faulty:
            for each in self._explained(fault, left, faults)[:MAX_TRIED]:
                _, seen = run(faulty, silent(self.options), each.calls)
                if seen is None:
                    continue
                calls = shortened(faulty, self.options, seen, each.calls, runs=MAX_RUNS, seconds=10.0)
                _, shown = run(faulty, silent(self.options), calls)
                if shown is None:
                    continue
                fits = _fits(fault, shown)
                if fits and (inferred is None or fits > _fits(fault, inferred)):
                    inferred = self._inferred(shown, fault, faults)
                _, failed = run(self.client, silent(self.options), calls)
                if failed is not None and failed.verdict.requirement == shown.verdict.requirement:
                    failure, came = confirmed(self.client, self.judge, self.options, failed, calls)
                    if came and _fits(fault, failure) == _BROKEN:
                        return failure
        return inferred

    def nearer(self, left: Sequence[Whole], faults: tuple[str, ...]) -> ConformanceFailure | None:
        """Return what stands behind the quirks though no fault explains it, judged by the model.

        The implementation is asked for shorter histories, as long as it answers otherwise than the embedded manager
        with its quirks. One in which no quirk shows any more is an ordinary failure.
        """
        for each in sorted(left, key=lambda one: len(one.calls)):
            if self._over or self.searched.asked >= MAX_NEARER:
                break
            self.searched.asked += 1
            calls = self._shorter(each.calls, faults)
            _, failed = run(self.client, silent(self.options), calls)
            if failed is None:
                continue
            calls = shortened(self.client, self.options, failed, calls, runs=MAX_RUNS, seconds=10.0)
            failure, came = confirmed(self.client, self.judge, self.options, failed, calls)
            told = taped(failure.example, "") if came and failure.example is not None else None
            if told is not None and self._otherwise(told, faults):
                return failure
        return None

    def _shorter(self, calls: tuple[Call, ...], faults: tuple[str, ...]) -> tuple[Call, ...]:
        """Return the shortest history found in which something shows beside the quirks."""
        asked, size = 0, len(calls) // 2
        with reference(faults, self.implementation) as alike:
            while size and not self._over and asked < MAX_ASKED:
                for start in range(0, len(calls), size):
                    asked += 1
                    fewer = well_formed(calls[:start] + calls[start + size :])
                    made = follow(alike, [Asked(call) for call in fewer])
                    told = heard(self.client, made) if len(made) == len(fewer) else None
                    if told is not None and self._otherwise(told, faults):
                        calls = fewer
                        break
                    if self._over or asked >= MAX_ASKED:
                        break
                else:
                    size //= 2
        return calls

    def _otherwise(self, told: Told, faults: tuple[str, ...]) -> bool:
        """Tell whether the embedded manager with these faults answers otherwise."""
        with StoryPlayer(faults, self.implementation) as player:
            return not player.play(told, self.seen.tolerated).agrees

    def _explained(self, fault: str, left: Sequence[Whole], faults: tuple[str, ...]) -> list[Whole]:
        with StoryPlayer((*faults, fault), self.implementation) as player:
            return [
                each
                for each in sorted(left, key=lambda one: len(one.calls))
                if player.play(each.told, self.seen.tolerated).agrees
            ]

    @staticmethod
    def _inferred(shown: ConformanceFailure, fault: str, faults: tuple[str, ...]) -> ConformanceFailure:
        known = " and ".join(f"`{name}`" for name in faults)
        reason = f"behind {known}: the implementation answers whole histories as `{fault}` does with it"
        return ConformanceFailure(replace(shown.verdict, reason=reason), shown.story, shown.repro)


def _fits(name: str, failure: ConformanceFailure) -> int:
    """Return 2 for a failure of what a fault breaks or is rightly seen as, 1 for what it also shows as, else 0."""
    fault, blamed = FAULTS[name], failure.verdict.requirement
    return _BROKEN if blamed in (*fault.breaks, *fault.first_seen_as) else int(blamed in shows_as(fault))


STORY_S: Final = 5.0  # seconds for one story; most take some milliseconds
DIALOGUE_S: Final = 40.0  # seconds for a dialogue or a walk, which waits for timers of a real clock
ALL_S: Final = 90.0  # seconds for the stories of one worker; later ones are told unchecked
Serve = Callable[[bool], AbstractContextManager[str]]


@dataclass(slots=True)
class Reference:
    """The reference of a run. ask: returns the implementation, whose readings it follows. spent: seconds, so far.

    serve: starts an embedded manager on the network, for dialogues and walks, or for calls of RPC, and yields its
    connector.
    """

    ask: Callable[[], Implementation]
    options: RunOptions
    serve: Serve | None = None
    spent: float = 0.0
    _clients: dict[str, Client] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)

    def check(self, suite: str, repro: Mapping[str, Any]) -> Check:
        """Tell whether the reference fails a story, or why that is not known."""
        if self.spent > ALL_S:
            return Check(False, f"the {ALL_S:g} s for such checks were spent")
        began = time.monotonic()
        nothing_said: tuple[type[BaseException], ...] = (Exception, DriverGone, *refusals())
        kind = str(repro.get("kind"))
        served = "" if kind not in ON_THE_NETWORK else RPC if kind == RPC else "sessions"
        limit_s = DIALOGUE_S if served else STORY_S
        try:
            return Check(self._fails(suite, repro, began + limit_s, served))
        except NotRepeatable as why:
            return Check(False, str(why))
        except nothing_said as error:
            self.close()
            late = time.monotonic() > began + limit_s
            return Check(False, f"it took over {limit_s:g} s" if late else _sentence(error))
        finally:
            self.spent += time.monotonic() - began

    def _fails(self, suite: str, repro: Mapping[str, Any], until: float, served: str) -> bool:
        """Play an example. served: the kind of manager on the network that plays it; empty for none."""
        if served and self.serve is None:
            raise NotRepeatable("no manager on the network was started for it")
        if served not in self._clients:
            self._clients[served] = self._open.enter_context(
                self._served(rpc=served == RPC) if served else embedded((), self.ask())
            )
        client = GuardedClient(self._clients[served], until=until)
        # What it cannot but follow is accepted: the choice of readings is not what is asked here.
        followed = {name: (chosen,) for name, chosen in client.hello.readings.items()}
        readings = {name: (*taken, *followed.get(name, ())) for name, taken in self.options.readings.items()}
        options = replace(self.options, readings=readings)
        if served:  # it follows the default readings of the default profile
            options = replace(options, readings=assignment("windows"), profile=DEFAULT_PROFILE)
        verdicts = rejudge(suite, repro, client, options)
        return any(verdict.outcome is Outcome.FAIL for verdict in verdicts)

    def _served(self, *, rpc: bool) -> Client:
        assert self.serve is not None
        folder = self._open.enter_context(quick_folder())
        connector = self._open.enter_context(self.serve(rpc))
        return open_client(connector, state_dir=Path(folder), in_process=True, deadline_ms=DEADLINE_MS)

    def close(self) -> None:
        """End the embedded managers; the next story starts another one."""
        self._clients.clear()
        self._open.close()


def reference_of(session: RunSession, serve: Serve | None = None) -> Reference:
    """Return the reference of a run. Its implementation is asked for its hello when that is needed."""
    profile = session.options.profile
    return Reference(lambda: implementation_of(hello_json(session.client()), profile, {}), session.options, serve)


def _sentence(error: BaseException) -> str:
    """Return why a story was not played to its end, in words."""
    what = lacking(error)
    return f"the embedded manager has no {what}" if what else f"the check failed with {type(error).__name__}: {error}"
