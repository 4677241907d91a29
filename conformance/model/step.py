"""Judge a history call by call: track the possible states, and return verdicts, causes before consequences."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeAlias

from conformance.model import (
    content,
    coordinated,
    expiry,
    lookups,
    management,
    moves,
    outgoing,
    property_judging,
    queues,
    reads,
    send_with_quotas,
    sends_and_commits,
)
from conformance.model.blame import Blame, blame, confused_cursor, lost, repeated, say_answer, say_result, stranger
from conformance.model.calls import Answer, BadCall, Call, Observation, Scan
from conformance.model.content import (
    RETURNS,
    judge_content,
    judge_lookup,
    judge_priority,
    judge_status,
    transferred,
    with_given,
    with_identifier,
)
from conformance.model.expected import (
    Allowed,
    Assumption,
    Blocks,
    Either,
    Expected,
    Fails,
    Fit,
    Match,
    Succeeds,
    Tells,
    match,
)
from conformance.model.journal_copies import with_copies
from conformance.model.message_properties import judge_shown, seen_whole
from conformance.model.names import named, named_scan
from conformance.model.reads import with_successors
from conformance.model.rules import Rules
from conformance.model.state import State
from conformance.model.values import replace, value
from conformance.spec.followed_readings import narrowed
from conformance.verdict import Outcome, Verdict, held


class Merged:
    """States in the order they came. States that differ only in assumptions become one with their union."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self._alike: dict[Hashable, list[int]] = {}

    def add(self, state: State) -> None:
        """Add a state, or merge its assumptions into an equal one."""
        states = self.states
        places = self._alike.setdefault(state.outline(), [])
        for place in places:
            other = states[place]
            if not other.like(state):
                continue
            if state.assumed != other.assumed:
                both = {
                    reading: possible | other.assumed[reading]
                    for reading, possible in state.assumed.items()
                    if reading in other.assumed
                }
                states[place] = replace(other, assumed=both)
            return
        places.append(len(states))
        states.append(state)


NO_CODE: Final = "the implementation's API has no status codes"


@lru_cache(4096)
def passes(names: tuple[str, ...], subject: str, readings: tuple[Assumption, ...]) -> tuple[Verdict, ...]:
    """Return a PASS for each of these requirements. Cached: few arguments recur."""
    return tuple([held(name, subject, readings) for name in names])


@lru_cache(4096)
def passes_of(
    requirement: str, also: tuple[str, ...], failure: tuple[str, ...], subject: str, readings: tuple[Assumption, ...]
) -> tuple[Verdict, ...]:
    """Return the verdicts of an answer without completions. failure: the requirements of a demanded failure."""
    names = dict.fromkeys((requirement, *also, *failure))
    names.pop("", None)
    return passes(tuple(names), subject, readings)


def shown_by_all(outcomes: list[Expected], observation: Observation) -> list[str]:
    """Return the requirements that every fitting outcome shows to hold, in the order of the first outcome."""
    first = outcomes[0]
    if all(_shows_the_same(first, other) for other in outcomes):
        return shown_by(first, observation)
    each = [shown_by(expected, observation) for expected in outcomes]
    return [name for name in each[0] if all(name in other for other in each[1:])]


def _shows_the_same(one: Expected, other: Expected) -> bool:
    return one is other or (
        one.requirement == other.requirement
        and one.also == other.also
        and not one.completions
        and not other.completions
        and (one.result is other.result or one.result == other.result)
    )


def shown_by(expected: Expected, observation: Observation) -> list[str]:
    if isinstance(expected.result, Either):
        return []
    names = [expected.requirement, *expected.also] if expected.shows else []
    _add_failure(names, expected.result, observation.answer)
    if expected.completions:
        for item in expected.completions:
            _add_failure(names, item.result, observation.completed.get(item.waiter))
        for item in expected.completions:
            names += [item.requirement, *item.also]
    if observation.answer is not None and observation.answer.status is None:
        names = [name for name in names if not name.endswith("-code")]  # the answer has no code to judge
    each = dict.fromkeys(names)
    each.pop("", None)
    return list(each)


def _add_failure(names: list[str], result: object, answer: Answer | None) -> None:
    if isinstance(result, Tells):
        names += result.shown if answer is not None and result.member in answer.values else ()
    if isinstance(result, Fails):
        names.append(result.must)
        if result.code is not None and answer is not None and answer.status is not None:
            names.append(result.code)


def unjudged_codes(expected: Expected, call: Call, observation: Observation) -> list[Verdict]:
    """Return a SKIP for each requirement on a code, if the API has no status codes."""
    if (observation.answer is None or observation.answer.status is not None) and not expected.completions:
        return []
    pairs: list[tuple[object, Answer | None]] = [(expected.result, observation.answer)]
    pairs += [(item.result, observation.completed.get(item.waiter)) for item in expected.completions]
    return [
        Verdict(result.code, Outcome.SKIP, call.method, reason=NO_CODE)
        for result, answer in pairs
        if isinstance(result, Fails) and result.code and answer is not None and answer.failed and answer.status is None
    ]


Found: TypeAlias = tuple[State, State, list[Verdict]]
"""An outcome that fits the answer: the states before and after the call, and the verdicts on what the answer holds."""

Ways: TypeAlias = Iterable[Iterable[Expected]]
"""Every allowed outcome in each possible state before the call."""

_MARKS: Final = frozenset({"MQDMPR-3.1.4.3.first-in-transaction", "MQDMPR-3.1.4.3.last-in-transaction"})


def content_blame(
    rules: Rules, call: Call, observation: Observation, ways: Sequence[Found], scan: Scan | None, allowed: Ways
) -> tuple[list[Verdict], str | None]:
    """Return the verdicts on an answer that fails in every way, and the queue to scan before they are certain.

    scan: the content of that queue after the call. A message is blamed only if it is wrong in every way, also in those
    of `allowed` that the answer does not fit: it may be that answer which is wrong.
    """
    before, after, verdicts = ways[0]
    place = _place(rules, before, after, call, observation, verdicts)
    if place is None:
        return verdicts, None
    if scan is None:
        return verdicts, place
    if scan.queue != place:
        return verdicts, None
    broken = [broken_content(state, place, scan) for _, state, _ in ways]
    possible = (expected.next for outcomes in allowed for expected in outcomes)
    if broken[0] is None or None in broken or any(broken_content(state, place, scan) is None for state in possible):
        return verdicts, None
    expected = [position.message for position in after.queues[place].positions if position.available]
    blamed = Verdict(broken[0], Outcome.FAIL, call.method, expected, list(scan.messages))
    return [*(verdict for verdict in verdicts if verdict.outcome is not Outcome.FAIL), blamed], None


def broken_content(state: State, place: str, scan: Scan) -> str | None:
    """Return the requirement that the messages of a queue break; None if they are those that must be there."""
    queue, seen = state.queues[place], scan.messages
    twice = next((name for name in seen if seen.count(name) > 1), None)
    if twice is not None:
        return repeated(queue, twice)
    for wanted in queue.positions:
        if wanted.available and not wanted.doubtful and wanted.message not in seen:
            return lost(queue, scan, wanted)
    for name in seen:
        position = queue.find(name)
        if position is None:
            return stranger(state, name)
        if not position.available and not position.doubtful:
            return position.claim
    return None


def _place(
    rules: Rules, before: State, after: State, call: Call, observation: Observation, verdicts: Iterable[Verdict]
) -> str | None:
    """Return the queue that the first failure is about, if a lost message may be behind it; None for all others."""
    failed = next(verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL)
    if call.method == "management.get":
        counted = failed.requirement.startswith("MQMQ-2.3.12.7.") and before.queues[call.queue or ""].outgoing is None
        return call.queue if counted else None
    if call.method == "queues.counts":
        return content.miscounted(rules, before, call, observation.answer) if observation.answer is not None else None
    if failed.requirement not in _MARKS:
        return None
    waiting = next((waiter.queue for waiter in before.waiters if waiter.name == failed.subject), None)
    handle = after.handles.get(call.handle or "")
    return waiting or (handle.queue if handle is not None else None)


MAX_STATES = 256  # more possible states than any history of the suites leaves; beyond it nothing fails
_NOTHING_ENDS: frozenset[frozenset[str]] = frozenset([frozenset()])
_PASSES_NOTHING: tuple[Verdict, ...] = ()
_FITS, _FAIL = Fit.FITS, Outcome.FAIL

_JUDGES: Mapping[str, Callable[[Rules, State, Call], Iterable[Expected]]] = MappingProxyType(
    {
        "queues.create": property_judging.create_with_properties,
        "queues.delete": queues.delete,
        "queues.open": property_judging.open_queue,
        "queues.close": queues.close,
        "queues.purge": queues.purge,
        "queues.counts": content.counts,
        "queues.get": property_judging.get_properties,
        "queues.set": property_judging.set_properties,
        "limits": send_with_quotas.limits,
        "harden": outgoing.harden,
        "messages.send": send_with_quotas.send,
        "messages.receive": reads.read,
        "messages.peek": reads.read,
        "messages.peek_next": reads.read,
        "messages.receive_by_lookup_id": lookups.read_by_lookup,
        "messages.peek_by_lookup_id": lookups.read_by_lookup,
        "messages.receive_begin": reads.read,
        "messages.receive_end": reads.end_receive,
        "messages.move": moves.move,
        "messages.cancel": sends_and_commits.cancel,
        "cursors.open": queues.open_cursor,
        "cursors.close": queues.close_cursor,
        "transactions.begin": sends_and_commits.begin,
        "transactions.prepare": sends_and_commits.prepare,
        "transactions.commit": sends_and_commits.end,
        "transactions.abort": sends_and_commits.end,
        "coordinator.enlist": coordinated.enlist,
        "coordinator.prepare": coordinated.decision,
        "coordinator.commit": coordinated.decision,
        "coordinator.abort": coordinated.decision,
        "coordinator.outcome": coordinated.outcome,
        coordinated.IN_DOUBT: coordinated.in_doubt,
        "clock.now": expiry.now,
        "clock.advance": expiry.advance,
        "outgoing.pause": management.pause,
        "outgoing.resume": management.resume,
        "outgoing.take": management.take,
        "management.get": management.get,
        "management.act": management.act,
        "management.connection": outgoing.connection,
        "management.transfer": outgoing.transfer,
        "management.acknowledge": outgoing.acknowledge,
        "restart": management.restart,
        "watch": property_judging.watch,
        "use": property_judging.use,
    }
)
_WHILE_HALTED: Final = frozenset({coordinated.IN_DOUBT, "restart"})
METHODS = frozenset(_JUDGES)
"""Methods that the model can judge."""


@value
class States:
    """Every possible state after the history so far, the state under the default readings first.

    capped: there were more than MAX_STATES, so no answer can be judged wrong any more.
    """

    states: tuple[State, ...] = (State(),)
    capped: bool = False

    @property
    def likely(self) -> State:
        """The first state."""
        return self.states[0]


@value
class Judged:
    """The states after a call and its verdicts. After a failure, the states are those before it, except for calls on
    properties.

    ask: a queue to empty, to blame the failure on the right requirement: call `step` again with the scan of it.

    onward: the states in which the history may go on after a failure by a wrong code alone: the refused call has
    changed nothing, so later calls can still be judged.
    """

    states: States
    verdicts: tuple[Verdict, ...]
    ask: str | None = None
    transitions: tuple[str, ...] = ()
    onward: States | None = None

    @property
    def failed(self) -> bool:
        """True if a requirement is broken."""
        return _FAIL in [verdict.outcome for verdict in self.verdicts]


@value
class Pending:
    """A call about to be made, to be passed to `Model.step` afterwards.

    ways: every allowed outcome in each of `states`.
    """

    states: States
    call: Call
    ways: tuple[tuple[Expected, ...], ...]

    @property
    def endings(self) -> frozenset[frozenset[str]]:
        """Each set of waiting reads that end with the call in an allowed outcome."""
        if not any(state.waiters for state in self.states.states):
            return _NOTHING_ENDS
        found = set[frozenset[str]]()
        for outcomes in self.ways:
            for expected in outcomes:
                ends = expected.completions
                found.add(frozenset([item.waiter for item in ends]))
                found.add(frozenset([item.waiter for item in ends if not isinstance(item.result, Either)]))
        return frozenset(found)

    @property
    def reads(self) -> frozenset[str]:
        """The waiting reads that end in every allowed outcome."""
        return frozenset.intersection(*self.endings)

    @property
    def answered(self) -> bool:
        """True if no allowed outcome lets the call wait."""
        return not any(isinstance(expected.result, Blocks) for outcomes in self.ways for expected in outcomes)


@value
class _Way:
    before: State
    expected: Expected
    match: Match


class Model:
    """Judge of histories by MS-MQDMPR. Every method is pure.

    readings: reading id to its accepted alternatives, the default first.
    """

    def __init__(self, readings: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.rules = Rules(dict(readings or {}))

    def allowed(self, state: State, call: Call) -> Allowed:
        """Return every allowed outcome, the demanded one first. Raises BadCall for a call no section describes."""
        return Allowed(self._outcomes(state, call))

    def _outcomes(self, state: State, call: Call) -> tuple[Expected, ...]:
        if state.halted and call.method not in _WHILE_HALTED:
            raise BadCall("no section says what still works when a start was stopped")
        asked = call
        if call.transaction is not None or call.identifier is not None:
            call = coordinated.internal_call(state, call)  # work by the first handle, and an end by its effect
        outcomes = tuple(_JUDGES[asked.method](self.rules, state, call if asked.identifier is None else asked))
        if outcomes and outcomes[0].next.keeping is not None:
            rules = self.rules
            outcomes = tuple([way for found in outcomes for way in with_copies(rules, state, call, found)])
        if outcomes and outcomes[0].next.properties is not None:
            outcomes = tuple([property_judging.noted(call, found) for found in outcomes])
        if state.cursors:
            outcomes = tuple([replace(found, next=with_successors(state, found.next)) for found in outcomes])
        if not outcomes:
            raise BadCall(f"the accepted readings leave no outcome for {call.method}")
        return outcomes

    def due(self, states: States, call: Call) -> Pending:
        """Return the allowed outcomes of a call about to be made. Raises BadCall for a call no section describes."""
        return Pending(states, call, tuple([self._outcomes(state, call) for state in states.states]))

    def step(
        self,
        states: States,
        call: Call,
        observation: Observation,
        scan: Scan | None = None,
        pending: Pending | None = None,
    ) -> Judged:
        """Judge the observation of a call. Raises BadCall for a call no section describes.

        pending: the result of `due` for the same states and call, to save time. Raises ValueError for the result for
        another call.
        """
        every = states.states
        if pending is None:
            allowed = tuple([self._outcomes(state, call) for state in every])
        elif pending.call is call and pending.states is states:
            allowed = pending.ways
        else:
            raise ValueError("the pending value is of another call, or of other states")
        likely = every[0]
        if likely.keeping is not None or allowed[0][0].next.keeping is not None:  # the call may be the first to keep
            observation, scan = named(likely, call, observation, allowed), named_scan(likely, call, scan)
        if len(every) == 1:
            outcomes = allowed[0]
            if len(outcomes) == 1:  # the usual case: there is nothing to choose from
                found = match(outcomes[0], observation)
                if found.fit is _FITS:
                    return self._only(states, call, observation, _Way(likely, outcomes[0], found), scan, allowed)
        ways = [
            _Way(state, expected, match(expected, observation))
            for state, outcomes in zip(every, allowed, strict=True)
            for expected in outcomes
        ]
        fitting = [way for way in ways if way.match.fit is _FITS]
        if len(fitting) == 1:
            return self._only(states, call, observation, fitting[0], scan, allowed)
        if not fitting:
            return self._failure(states, call, observation, ways, scan)
        return self._success(states, call, observation, fitting, scan, allowed)

    def _failure(
        self, states: States, call: Call, observation: Observation, ways: list[_Way], scan: Scan | None
    ) -> Judged:
        subject = call.method
        near = next((way for way in ways if way.match.fit is Fit.CODE), None)
        verdicts: list[Verdict] = []
        ask: str | None = None
        readings = tuple(sorted((near or ways[0]).expected.readings))
        if near is not None and near.match.wrong_code is not None:
            fails, answer = near.match.wrong_code
            verdicts.append(Verdict(fails.must, Outcome.PASS, subject))
            confused = confused_cursor(states.likely, call, observation.answer)
            found = Blame(confused or fails.code or fails.must, say_result(fails), say_answer(answer))
        else:
            found = blame(
                states.likely, coordinated.internal_call(states.likely, call), ways[0].expected, observation, scan
            )
            ask = found.ask
        if states.capped:
            reason = "too many ways are open to say that none fits"
            verdicts.append(Verdict(found.requirement, Outcome.INCONCLUSIVE, subject, reason=reason))
        else:
            verdicts.append(Verdict(found.requirement, Outcome.FAIL, subject, found.expected, found.actual, readings))
        onward = None
        if near is not None and not observation.completed:
            after = Merged()
            for way in ways:
                if way.match.fit is Fit.CODE and not way.expected.completions:
                    after.add(_narrowed(way.expected.next, way))
            onward = States(tuple(after.states), states.capped) if after.states else None
        return Judged(states, tuple(verdicts), ask, onward=onward)

    def _only(
        self,
        states: States,
        call: Call,
        observation: Observation,
        way: _Way,
        scan: Scan | None,
        allowed: Ways,
    ) -> Judged:
        """Judge the usual case that exactly one outcome fits, without comparing outcomes."""
        expected, answer, capped = way.expected, observation.answer, states.capped
        state = expected.next
        content: list[Verdict] | None = None
        if observation.completed or (
            answer is not None
            and (
                answer.message is not None
                or answer.messages is not None
                or state.keeping is not None
                or state.properties is not None
                or state.management is not None
                or answer.values
            )
        ):
            state, content = self._content(call, observation, way)
        if expected.readings or way.match.narrowed:
            state = _narrowed(state, way)
        readings: tuple[Assumption, ...] = ()
        if not capped and not (len(states.states) == 1 and state.assumed is way.before.assumed):
            readings = self._narrowed(states.states, (state,))
        if answer is not None and answer.status is not None and not expected.completions and expected.shows:
            result = expected.result
            verdicts = _PASSES_NOTHING
            if isinstance(result, Fails):
                failure = (result.must, result.code or "")
                verdicts = passes_of(expected.requirement, expected.also, failure, call.method, readings)
            elif not isinstance(result, Either):
                verdicts = passes_of(expected.requirement, expected.also, (), call.method, readings)
        else:
            verdicts = passes(tuple(shown_by(expected, observation)), call.method, readings)
            verdicts = (*verdicts, *unjudged_codes(expected, call, observation))
        if content:
            if _FAIL in [verdict.outcome for verdict in content]:
                known = state.properties is not None and call.method in property_judging.TELLING
                after = state if known else way.before  # the written properties are known in spite of the failure
                content, ask = content_blame(
                    self.rules, call, observation, [(way.before, state, content)], scan, allowed
                )
                return Judged(States((after,), capped), (*verdicts, *content), ask)
            verdicts = (*verdicts, *content)
        return Judged(States((state,), capped), verdicts, None, expected.transitions)

    def _success(
        self,
        states: States,
        call: Call,
        observation: Observation,
        ways: list[_Way],
        scan: Scan | None,
        allowed: Ways,
    ) -> Judged:
        capped = states.capped
        shown = shown_by_all([way.expected for way in ways], observation)
        after = Merged()
        failures: list[tuple[State, State, list[Verdict]]] = []
        content: list[Verdict] = []
        for way in ways:
            state, found = self._content(call, observation, way)
            if any(verdict.outcome is _FAIL for verdict in found):
                failures.append((way.before, state, found))
                continue
            content = content or found
            after.add(_narrowed(state, way))
        kept = tuple(after.states)
        # The readings left after all fitting outcomes, not those of the first one: another outcome may be right.
        readings = () if capped else self._narrowed(states.states, kept)
        verdicts = [*passes(tuple(shown), call.method, readings)]
        verdicts += unjudged_codes(ways[0].expected, call, observation)
        if not kept:
            content, ask = content_blame(self.rules, call, observation, failures, scan, allowed)
            return Judged(States((ways[0].before,), capped), (*verdicts, *content), ask)
        rows = ways[0].expected.transitions
        return Judged(
            States(kept[:MAX_STATES], capped or len(kept) > MAX_STATES),
            (*verdicts, *content),
            transitions=rows,
        )

    def _narrowed(self, before: tuple[State, ...], after: tuple[State, ...]) -> tuple[Assumption, ...]:
        if len(before) == len(after) == 1:
            was, now = before[0].assumed, after[0].assumed
            if was is now or was == now:
                return ()
        elif {id(state.assumed) for state in before} == {id(state.assumed) for state in after}:
            return ()
        named = {reading for state in (*before, *after) for reading in state.assumed}
        accepted = {reading: self.rules.known(reading) for reading in named}
        return narrowed([state.assumed for state in before], [state.assumed for state in after], accepted)

    def _content(self, call: Call, observation: Observation, way: _Way) -> tuple[State, list[Verdict]]:
        """Compare the received messages with the sent ones; return the state and the verdicts."""
        state = way.expected.next
        verdicts: list[Verdict] = []
        answer = observation.answer
        if answer is not None and answer.values and call.method == "messages.send" and not answer.failed:
            state = with_given(state, call, answer.values)
        if answer is not None and call.method in management.TELLING:
            return management.management_judged(self.rules, way.before, state, call, answer)
        if answer is not None and answer.messages is not None:
            return state, transferred(way.before, call, answer.messages)
        if not observation.completed and (answer is None or answer.message is None):
            if state.properties is not None and answer is not None and call.method in property_judging.TELLING:
                return property_judging.properties_judged(self.rules, state, call, answer)
            if state.keeping is None or call.method not in content.TELLING or answer is None:
                return state, verdicts
            return content.counts_judged(self.rules, state, call, answer)
        handle = state.handles.get(call.handle or "")
        read = call.method, handle.queue if handle is not None else ""
        came = [(call.method, way.expected.result, observation.answer, read)]
        if way.expected.completions:
            waiting = {waiter.name: waiter for waiter in way.before.waiters}
            for item in way.expected.completions:
                waiter = waiting[item.waiter]
                ended = observation.completed.get(item.waiter)
                came.append((item.waiter, item.result, ended, (waiter.method, waiter.queue)))
        for subject, result, answer, (method, queue_name) in came:
            if not isinstance(result, Succeeds) or answer is None or answer.message is None or result.message is None:
                continue
            position = state.position(queue_name, result.message)
            verdicts += judge_status(method, subject, answer.status)
            old = way.before.queues[queue_name].find(result.message)
            claim = old.claim if old is not None else ""
            aborts = coordinated.internal_call(way.before, call).method == "transactions.abort"
            if aborts and subject != call.method and old is not None:
                claim = RETURNS  # a reader woken by the abort gets a message that the abort has just put back
            verdicts += judge_content(state, subject, position, answer.message, queue_name, claim)
            state, found = judge_priority(self.rules, state, subject, position, answer.message)
            verdicts += found
            state, changed = judge_shown(state, queue_name, claim, position, subject, answer.message)
            verdicts += changed
            state = with_identifier(state, queue_name, position, answer.message)
            state = seen_whole(state, queue_name, claim, position) if position.carries else state
            if "@" not in result.message:  # no section orders the identifiers of copies
                state, found = judge_lookup(self.rules, state, subject, queue_name, claim, position, answer.message)
                verdicts += found
        if call.method in content.TELLING and observation.answer is not None:
            state, found = content.counts_judged(self.rules, state, call, observation.answer)
            verdicts += found
        return state, verdicts


def _narrowed(state: State, way: _Way) -> State:
    """Return the state with the assumptions of this outcome."""
    assumed = state.assumed
    if not way.expected.readings:
        for reading, possible in way.match.narrowed.items():
            if assumed.get(reading) is not possible:
                break
        else:  # the usual case: the state has them already
            return state
    now = {reading: _only_this(alternative) for reading, alternative in way.expected.readings}
    for reading, possible in way.match.narrowed.items():
        before = now.get(reading, assumed.get(reading, possible))
        now[reading] = before if before is possible else possible & before
    for reading, possible in now.items():
        if assumed.get(reading) != possible:
            return replace(state, assumed={**assumed, **now})
    return state


@lru_cache(1024)
def _only_this(alternative: str) -> frozenset[str]:
    return frozenset({alternative})
