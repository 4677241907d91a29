"""Plays plans of objects and the queue calls that they stand for, and asks what a class is."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec.json import encode

from conformance.activex import identity, library, underlying_calls
from conformance.activex.events import timeout_ms
from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.members import Kind, Member
from conformance.activex.plans import DIRECT_NAME, LOOKUP, PATH_NAME, SYSTEM_NAME, Act, Plan, passes
from conformance.activex.reference_answers import Objects, judged
from conformance.activex.tables import CLASSES, CREATED, MEMBERS, OPENED, REFRESHED
from conformance.activex.underlying_calls import Done
from conformance.activex.values import Variant
from conformance.activex.walk import closed, followed, walks
from conformance.activex.words import act_line, as_call
from conformance.activex.world import SHOWN
from conformance.harness.guarded_client import DriverGone
from conformance.harness.playback import NotStored
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.histories.driver_side import MIN_WAIT_MS, PATIENCE
from conformance.histories.findings import raised, run
from conformance.histories.operations.objects import CREATE, GET, INVOKE, each_got
from conformance.histories.operations.table import OPERATIONS, checked_call, renamed
from conformance.model import BadCall, Call
from conformance.model.calls import INFINITE
from conformance.runlog.events import StoryStep
from conformance.spec.catalogue import requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.walks import Budget, cuts, least

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import OpenCall, Port
    from conformance.harness.recorder import RunOptions

CLAIMS: Final = Path(__file__).with_name("claims.zlib")
"""Requirements that plans judge, by a digest of the plans, as playing takes seconds. Of `tools/object_claims.py`."""


def claimed(plans: object, find: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """Return the requirements that plans judge. plans: whatever is to be judged. find: plays them."""
    found = known_claims().get(claims_key(plans))
    return find() if found is None else found


def claims_key(plans: object) -> str:
    """Return the digest under which `CLAIMS` has what these plans judge."""
    return hashlib.blake2b(encode(plans, enc_hook=repr), digest_size=8).hexdigest()


@cache
def known_claims() -> Mapping[str, tuple[str, ...]]:
    """Read `CLAIMS`."""
    names, places = json.loads(zlib.decompress(CLAIMS.read_bytes()))
    return {key: tuple(names[place] for place in some) for key, some in places.items()}


OBJECTS: Final = "objects"
MANAGER: Final = "queue manager"
_CLEAN: Final = "the same calls over the plain facets of a fresh manager conform: the deviation is the object's"
_BELOW: Final = "the same calls over the plain facets of a fresh manager deviate as well, at {}: {} is broken there"


def judged_twin(
    played: Generator[tuple[Verdict, ...], None, None],
    history: Sequence[Done],
    mq: Port,
    options: RunOptions,
    tell: Callable[[StoryStep], object],
    disabled: frozenset[str] = frozenset(),
) -> Iterator[tuple[Verdict, ...]]:
    """Yield the verdicts on each act of a history that is played; those on a wrong answer, which end it, by layer."""
    for verdicts in played:
        if not any(_ends(verdict, options, disabled) for verdict in verdicts):
            yield verdicts
            continue
        with suppress(NotStored):  # a recording that went on has other calls here than those that let go
            played.close()
        try:
            found = blamed(verdicts, history, mq, options, tell, disabled)
        except NotStored:  # nothing of this was recorded
            found = verdicts
        yield found
        return


def _ends(verdict: Verdict, options: RunOptions, disabled: frozenset[str]) -> bool:
    """Tell whether a verdict ends the example: a failure that is no warning in this run."""
    if verdict.outcome is not Outcome.FAIL or verdict.requirement in disabled:
        return False
    demand = requirement(verdict.requirement)
    return demand.binds(options.profile) and LEVELS.index(demand.level) <= LEVELS.index(options.level)


def blamed(
    verdicts: tuple[Verdict, ...],
    history: Sequence[Done],
    mq: Port,
    options: RunOptions,
    tell: Callable[[StoryStep], object],
    disabled: frozenset[str] = frozenset(),
) -> tuple[Verdict, ...]:
    """Return the verdicts on the last act of a history with the layer that deviates, if the plain facets tell it.

    Call it when the objects of the history are released: the manager begins anew. tell: takes a line of the story.
    """
    wrong = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    calls = _playable(underlying_calls.calls(history, options.readings), mq) if wrong else ()
    if not calls:
        return verdicts
    made, failure = run(mq, Recorder(options, lambda verdict, count: None, disabled=disabled), calls)
    if failure is None:
        if made[-1:] != calls[-1:]:
            return verdicts  # other answers led elsewhere: nothing is told
        tell(StoryStep(_CLEAN))
        return tuple(_of(verdict, OBJECTS, made) for verdict in verdicts)
    tell(StoryStep(_BELOW.format(failure.verdict.subject, failure.verdict.requirement)))
    return (*_other_failures(verdicts, failure), _of(failure.verdict, MANAGER, made, wrong))


def _playable(calls: Iterable[Call], mq: Port) -> tuple[Call, ...]:
    """Return the calls with names counted from one; none if the driver lacks a method that they need."""
    try:
        each = renamed([checked_call(call) for call in calls])
    except BadCall:
        return ()
    return each if all(mq.offers(method) for call in each for method in OPERATIONS[call.method].needs) else ()


def _of(verdict: Verdict, layer: str, calls: Iterable[Call], consequences: Iterable[Verdict] = ()) -> Verdict:
    """Return a wrong verdict with the layer that deviates in its evidence."""
    if verdict.outcome is not Outcome.FAIL:
        return verdict
    data = {"layer": layer, "calls": [call.to_json() for call in calls]}
    shown = [one.requirement for one in consequences]
    return replace(verdict, evidence=Evidence("history", "", {**data, "shows": shown} if shown else data))


def _other_failures(verdicts: Iterable[Verdict], failure: ConformanceFailure) -> tuple[Verdict, ...]:
    """Return the verdicts with those of the object as consequences."""
    why = f"a consequence: {failure.verdict.requirement} is broken over the plain facets as well"
    return tuple(
        replace(one, outcome=Outcome.INCONCLUSIVE, reason=why) if one.outcome is Outcome.FAIL else one
        for one in verdicts
    )


Need = Callable[..., None]
Tell = Callable[[Callable[[], StoryStep]], object]
"""Takes a step of the story as a function that makes it: nobody reads most stories."""
METHODS = ("objects.create", "objects.invoke")
EXAMPLE = "objects"
MOST_FOUND = 5  # requirements that walks of one test show broken
MAX_RUNS, MAX_SECONDS = 200, 10.0  # spent on a shorter story
BLOCK_MS = 2_000  # a read must answer or report that it waits within this time; otherwise it counts as waiting


class NotCreated(Exception):
    """The driver does not create an object of this class."""


def rows(members: Iterable[Member], plans: Callable[[Member], Iterable[Plan]]) -> list[Any]:
    """Return pytest parameters: the plans of each member, marked with the requirements that they judge."""
    params = []
    for member in members:
        made = tuple(plans(member))
        marks = pytest.mark.requirement(*claimed(made, partial(judged, made)))
        params.append(pytest.param(made, id=member.name, marks=marks))
    return params


def check(plans: Iterable[Plan], mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Play plans, each with new objects, and record the verdicts. Skips the test for a class that is not there."""
    mq_need(*METHODS)
    for plan in plans:
        try:
            example(plan, mq, judge, [])
        except NotCreated as lacking:
            pytest.skip(str(lacking))
        except ConformanceFailure as failure:
            raise shortened(failure, plan, judge, partial(example, mq=mq), followed) from None


def example(plan: Plan, mq: Port, judge: Recorder, history: list[Done]) -> None:
    """Play a plan as an example of a test. history: gets each act with its answer. Raises NotCreated."""
    begin(mq, judge, {"acts": [act.to_json() for act in plan]})
    played = play(plan, mq, judge.readings, judge.step_told, history)
    for verdicts in judged_twin(played, history, mq, judge.options, judge.step_told, judge.disabled):
        judge.record(*verdicts)


def wander(mq: Port, judge: Recorder, mq_need: Need, share: float) -> None:
    """Take walks: this share of the examples that the run asks for. Tells of each requirement that one breaks."""
    mq_need(*METHODS)
    options, found, recorder = judge.options, dict[str, tuple[ConformanceFailure, Plan]](), judge
    again = partial(example, mq=mq)
    subqueues, virtual = mq.hello.takes("format_names", "subqueue"), mq.hello.clock == "virtual"
    count, most = options.max_examples * share, options.stateful_steps
    for plan in walks(options.seed, count, most, subqueues=subqueues, virtual=virtual):
        if time.monotonic() > judge.until:
            judge.cut = True
            break
        try:
            example(plan, mq, recorder, [])
        except NotCreated as lacking:
            pytest.skip(str(lacking))
        except ConformanceFailure as failure:
            if failure.verdict.requirement not in found:
                found[failure.verdict.requirement] = _shorter(failure, plan, recorder, again, followed)
            if options.first_only or len(found) == MOST_FOUND:
                break
            recorder = _quiet(judge)
    told = _blamed_first([failure for failure, _ in found.values()])
    first = next(iter(found), "")
    stories = {requirement: one for requirement, one in found.items() if one[0] in told}
    failures = [_confirmed(*one, judge, again) for one in stories.values()]
    if failures and first not in stories:
        failures[0].replaces = first  # of which the record has heard
    raised(failures)


def _quiet(judge: Recorder) -> Recorder:
    """Return a recorder that counts nothing."""
    return Recorder(judge.options, lambda verdict, count: None, disabled=judge.disabled)


def _blamed_first(found: Sequence[ConformanceFailure]) -> list[ConformanceFailure]:
    """Return failures without those whose story calls a member that another one shows broken: they may follow from it.

    Of two whose stories call each other's member, the one with the shorter story stays.
    """
    told: list[ConformanceFailure] = []
    for one in sorted(found, key=lambda failure: len(failure.story)):
        behind = (other for other in found if _calls_broken(one, other) and not _calls_broken(other, one))
        if next(behind, None) is None and not any(_calls_broken(one, other) for other in told):
            told.append(one)
    return told or sorted(found, key=lambda failure: len(failure.story))[:1]  # a ring, where each may follow


def _calls_broken(failure: ConformanceFailure, other: ConformanceFailure) -> bool:
    """Tell whether the story of a failure calls the member that another failure is about."""
    broken = _MEMBERS.get(other.verdict.requirement.removeprefix("MQAC-").rpartition(".")[0])
    calls = {(act.get("member"), act.get("kind")) for act in failure.repro["acts"]}
    return failure is not other and broken in calls


_MEMBERS: Final[Mapping[str, tuple[str, str]]] = {
    slot.section: (row.name, slot.kind) for row in MEMBERS for slot in row.slots
}
"""Section to the member that it describes, and to the kind of call."""


def shortened(
    failure: ConformanceFailure,
    plan: Plan,
    judge: Recorder,
    again: Callable[..., None],
    passes: Callable[[Plan, Readings], bool],
) -> ConformanceFailure:
    """Return a failure with the fewest acts found that break the same requirement and that the reference passes.

    It is returned as it is if an earlier test of the run has told of one, or if the reference does not know the whole
    plan. again: plays a plan as an example. passes: tells whether the reference does.
    """
    return _confirmed(*_shorter(failure, plan, judge, again, passes), judge, again)


def _confirmed(
    failure: ConformanceFailure, plan: Plan, judge: Recorder, again: Callable[..., None]
) -> ConformanceFailure:
    """Return the failure as the test itself meets it when it plays a plan."""
    if failure.unshrunk is None:
        return failure
    try:
        again(plan, judge=judge, history=[])
    except ConformanceFailure as other:
        if other.verdict.requirement == failure.verdict.requirement:
            other.unshrunk = failure.unshrunk
            return other
    except (NotCreated, DriverGone):
        pass
    return failure.unshrunk or failure


def _shorter(
    failure: ConformanceFailure,
    plan: Plan,
    judge: Recorder,
    again: Callable[..., None],
    passes: Callable[[Plan, Readings], bool],
) -> tuple[ConformanceFailure, Plan]:
    """Return what `shortened` does, as a recorder meets it that counts nothing, and the acts."""
    broken = failure.verdict.requirement
    if not any(one.verdict.requirement == broken for one in judge.first_failures) or not passes(plan, judge.readings):
        return failure, plan
    found, budget = failure, Budget(MAX_RUNS, time.monotonic() + MAX_SECONDS)

    def shorter(best: Plan) -> Iterator[Plan]:
        yield from (some for some in map(closed, cuts(best)) if len(some) < len(best) and passes(some, judge.readings))

    def fails(some: Plan, best: Plan) -> Plan | None:
        nonlocal found
        history: list[Done] = []
        try:
            again(some, judge=_quiet(judge), history=history)
        except ConformanceFailure as other:
            if other.verdict.requirement == broken:
                found = other
                return some[: len(history)]
        except NotCreated:
            pass
        except DriverGone:
            budget.over = True
        return None

    acts = least(plan, shorter, fails, budget)
    if found is not failure:
        found.unshrunk = failure
    return found, acts


def begin(mq: Port, judge: Recorder, example: Mapping[str, Any]) -> None:
    """Begin an example of the suite, with nothing left of the one before where the driver can reset."""
    judge.begin_example(EXAMPLE, example)
    if mq.offers("reset"):
        mq.call("reset")


def play(
    plan: Plan, mq: Port, readings: Readings, tell: Tell, history: list[Done]
) -> Generator[tuple[Verdict, ...], None, None]:
    """Yield the verdicts on each answer. Ends with the first call that hands out no object where others need it.

    history: gets each act with its answer.
    """
    player = Player(mq, Objects(readings), tell, history)
    try:
        for act in plan:
            verdicts = player.do(act)
            if verdicts is None:
                return
            yield verdicts
    finally:
        player.leave()


class Player:
    """Plays acts on the objects of a driver. handles: the driver's name of each object of the plan.

    history: the acts so far, each with its answer.
    """

    def __init__(self, mq: Port, objects: Objects, tell: Tell, history: list[Done]) -> None:
        self.mq, self.objects, self.tell, self.history = mq, objects, tell, history
        self.handles: dict[str, str] = {}
        self._waiting: dict[str, OpenCall] = {}
        self._unique = f"{mq.hello.computer}\\private$\\{mq.unique()}"
        self._virtual = mq.hello.clock == "virtual" and mq.offers("clock.advance")
        self._wait_ms = mq.hello.settle_ms + max(mq.hello.slack_ms, MIN_WAIT_MS)

    def do(self, act: Act) -> tuple[Verdict, ...] | None:
        """Play an act and judge the answer. Returns None if it cannot be played: a name in it stands for nothing."""
        if act.passes_ms:
            due = self.objects.due(act)
            self._pass(act.passes_ms)
            return self._done(act, None, self._ended(due))
        if act.call is None:
            self.handles[act.object] = self._create(act)
            return self._done(act, None, {})
        values = self._values(act.call.arguments)
        if act.object not in self.handles or values is None:
            return None
        due = self.objects.due(act)
        call = act.call if values == act.call.arguments else replace(act.call, arguments=values)
        seen = self._invoke(act, call)
        return self._done(act, seen, self._ended(due))

    def _done(self, act: Act, seen: Seen | None, ended: Mapping[str, Seen]) -> tuple[Verdict, ...]:
        self.history.append(Done(act, seen, ended))
        return self.objects.do(act, seen, ended)

    def leave(self) -> None:
        """Close queues, so that no read goes on waiting; delete them if no reset does; release the objects."""
        resets = self.mq.offers("reset")
        for name, held in self.objects.held.items():
            if name not in self.handles:
                continue
            if held.coclass == "MSMQQueue" and held.state == OPENED and (self._waiting or not resets):
                self._call(self.handles[name], "Close", "method")
            elif held.state in (CREATED, REFRESHED) and not resets:
                self._call(self.handles[name], "Delete", "method")
        if self.mq.offers("objects.release"):
            self.mq.call("objects.release", objects=list(self.handles.values()))

    def _create(self, act: Act) -> str:
        result = self.mq.call(CREATE.method, **CREATE.request(act, self.handles))
        self.tell(lambda: StoryStep(act_line(act), as_call(act), {"status": result.status}))
        if result.status != 0:
            raise NotCreated(f"the driver creates no {act.coclass}")
        return str(result.values["object"])

    def _values(self, arguments: Iterable[Variant]) -> tuple[Variant, ...] | None:
        """Return arguments with the driver's values for texts of the plan, None if a name stands for nothing."""
        lookups = self.objects.world.states.likely.lookups
        values: list[Variant] = []
        for one in arguments:
            value = one.value
            if one.vt in ("DISPATCH", "UNKNOWN") and value is not None:
                if value not in self.handles:
                    return None
            elif isinstance(value, str) and value.startswith(PATH_NAME):
                value = self._unique + value.removeprefix(PATH_NAME)
            elif isinstance(value, str) and value.startswith(DIRECT_NAME):
                value = f"DIRECT=OS:{self._unique}{value.removeprefix(DIRECT_NAME)}"
            elif isinstance(value, str) and value.startswith(SYSTEM_NAME):
                if not self.mq.offers("reset"):
                    return None  # the queue has what others have left in it
                value = f"DIRECT=OS:{self.mq.hello.computer}\\SYSTEM${value.removeprefix(SYSTEM_NAME)}"
            elif isinstance(value, str) and value.startswith(LOOKUP):
                number = lookups.get(value.removeprefix(LOOKUP))
                if number is None:
                    return None
                value = str(number) if one.vt == "BSTR" else number
            values.append(one if value is one.value else replace(one, value=value))
        return tuple(values)

    def _invoke(self, act: Act, call: Invoke) -> Seen:
        params = INVOKE.request(act if call is act.call else replace(act, call=call), self.handles)
        reads = call.kind == "method" and call.member.startswith(("Receive", "Peek"))
        seen = self._read(act, params) if reads else self._seen(self.mq.call(INVOKE.method, **params))
        if act.gives is not None and seen.value is not None and seen.gives:
            self.handles[act.gives] = self.handles.get(seen.value.value, str(seen.value.value))
        if reads:
            seen = self._with_shown(seen)
        self.tell(lambda: StoryStep(act_line(act), as_call(act), seen.to_json()))
        return seen

    def _call(self, handle: str, member: str, kind: Kind) -> Seen:
        act = Act("it", Invoke(member, kind))
        return self._seen(self.mq.call(INVOKE.method, **INVOKE.request(act, {"it": handle})))

    def _seen(self, result: Result) -> Seen:
        return INVOKE.answer(result, self.handles)

    def _read(self, act: Act, params: dict[str, Any]) -> Seen:
        if act.call is not None and timeout_ms(CLASSES["MSMQQueue"][act.call.member], act.call) == INFINITE:
            params = params | {"deadline_ms": None}
        outstanding = self.mq.start(INVOKE.method, **params)
        self.mq.wait_blocked_or_done(outstanding, BLOCK_MS if self._virtual else min(BLOCK_MS, self._wait_ms))
        if outstanding.done:
            return self._seen(outstanding.result())
        self._waiting[act.gives or ""] = outstanding
        return Seen(0, waits=True)

    def _with_shown(self, seen: Seen) -> Seen:
        """Return the answer of a read with the properties of the message that it gives."""
        if not seen.gives or seen.value is None:
            return seen
        handle = self.handles.get(seen.value.value, str(seen.value.value))
        if not self.mq.offers(GET.method):
            return replace(seen, shown={member: self._call(handle, member, "get") for member in SHOWN})
        return replace(seen, shown=each_got(self.mq.call(GET.method, object=handle, members=list(SHOWN)), SHOWN))

    def _pass(self, by_ms: int) -> None:
        if self._virtual:
            self.mq.call("clock.advance", by_ms=by_ms)
        else:
            self.mq.time.sleep(by_ms / 1000)
        self.tell(lambda: StoryStep(f"{by_ms} ms pass", as_call(passes(by_ms)), {}))

    def _ended(self, due: Iterable[str]) -> dict[str, Seen]:
        """Return the answers of the reads that have ended. due: those that must; these get time to do so."""
        for name in due:
            if name in self._waiting and not self._waiting[name].done:
                within_ms = self._wait_ms if self._virtual else max(self._wait_ms, PATIENCE.left_ms())
                if not self.mq.wait_done(self._waiting[name], within_ms):
                    PATIENCE.spent_ms += within_ms
        ended: dict[str, Seen] = {}
        for name in [name for name, one in self._waiting.items() if one.done]:
            seen = self._seen(self._waiting.pop(name).result())
            if seen.value is not None and seen.gives:
                self.handles[name] = str(seen.value.value)
            ended[name] = self._with_shown(seen)
            self.tell(partial(_end, name, ended[name]))
        return ended


def _end(name: str, seen: Seen) -> StoryStep:
    return StoryStep(f"the read of {name} ends", {"waiting": name}, seen.to_json())


def identify(coclass: str, mq: Port, readings: Readings, tell: Tell) -> Iterator[Verdict]:
    """Yield the verdicts on the description of a class and on the queries of an object of it."""
    params = {"class": coclass}
    result = mq.call("objects.describe", **params)
    call = {"method": "objects.describe", "params": params}
    tell(partial(StoryStep, f"describe {coclass}", call, {"status": result.status}))
    if result.status != 0:
        yield from _absent(coclass, mq, tell)
        return
    yield from identity.described(coclass, result.values["interfaces"], readings, result.values.get("clsid"))
    if not mq.offers("objects.create"):
        return
    made = mq.call("objects.create", **params)
    tell(partial(StoryStep, f"New {coclass}", {"method": "objects.create", "params": params}, {"status": made.status}))
    yield from identity.identified(coclass, int(made.status or 0), result.values.get("clsid"))
    if made.status != 0 or not mq.offers("objects.query"):
        return
    handle = made.values["object"]
    for iid in identity.queried(coclass):
        answer = mq.call("objects.query", object=handle, iid=iid)
        given = answer.values.get("object")
        tell(
            partial(
                StoryStep,
                f"ask for {iid}",
                {"method": "objects.query", "params": {"iid": iid}},
                {"status": answer.status},
            )
        )
        yield from identity.answers(coclass, iid, int(answer.status or 0), given == handle, readings)
    if mq.offers("objects.release"):
        mq.call("objects.release", objects=[handle])


def _absent(coclass: str, mq: Port, tell: Tell) -> Iterator[Verdict]:
    """Yield the verdict on a class that is not described. One library declares all classes: who has one has each.

    Raises NotCreated if the driver has none of them, makes an object of this one without describing it, or offers
    nothing of what this class is about.
    """
    means = identity.MEANS.get(coclass, ())
    if means and not any(mq.offers(method) for method in means):
        raise NotCreated(f"the driver describes no {coclass}, and offers no {' or '.join(means)}")
    others = (other for other in library.classes() if other != coclass)
    if not any(mq.call("objects.describe", **{"class": other}).status == 0 for other in others):
        raise NotCreated(f"the driver describes no {coclass}, and no other class")
    if not mq.offers("objects.create"):
        raise NotCreated(f"the driver describes no {coclass}")
    made = mq.call("objects.create", **{"class": coclass})
    call = {"method": "objects.create", "params": {"class": coclass}}
    tell(partial(StoryStep, f"New {coclass}", call, {"status": made.status}))
    if made.status == 0:
        if mq.offers("objects.release"):
            mq.call("objects.release", objects=[made.values["object"]])
        raise NotCreated(f"the driver makes objects of {coclass}, and does not describe them")
    yield from identity.absent(coclass, int(made.status or 0))
