"""The world of objects of one client: what an opened queue and a received message show, and judging each act."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Final

from conformance.activex.effects import (
    PEEKS,
    Doer,
    Doers,
    accepted,
    answered,
    doers_after,
    excused,
    held_again,
    refusal,
    renewed,
    seen_by_peeks,
)
from conformance.activex.events import ACCESS, SHARE, Events, Known, Link, Untold, argument, asks_for, events
from conformance.activex.expected import Demand, Held, Invoke, Readings, Seen, demands, refusing
from conformance.activex.members import Kind, Member, requirements
from conformance.activex.step import moved, new, verdicts
from conformance.activex.tables import ATTACHED, BLANK, CLASSES, CLOSED, CREATIONS, OPENED, RECEIVED
from conformance.activex.tables_message import NULL_GUID
from conformance.activex.values import OLE_E_BLANK, S_OK, Variant, failed, hollow, long, same, short, truth
from conformance.model import Answer, BadCall, Call, Model, Observation, SeenMessage, States
from conformance.model.expected import Fails, Succeeds
from conformance.model.names import named
from conformance.model.values import replace, value
from conformance.spec.catalogue import reading_id
from conformance.spec.constants import hresults
from conformance.verdict import Verdict

CLOSED_OBJECT: Final = reading_id("R-MQAC-closed-object")
_ACCESS: Final = {word: number for number, word in ACCESS.items()}
_SHARE: Final = {word: number for number, word in SHARE.items()}
VALUES: Final[Mapping[str, Callable[[Link], Variant]]] = {
    "Access": lambda link: long(_ACCESS[link.access]),
    "ShareMode": lambda link: long(_SHARE[link.share]),
    "QueueInfo": lambda link: Variant("DISPATCH", link.info),
    "IsOpen": lambda link: short(1),
    "IsOpen2": lambda link: truth(True),
}
"""Getters to what they give while the queue is open."""
AFTER_CLOSE: Final = {"IsOpen": short(0), "IsOpen2": truth(False)}
HANDLES: Final = {"Handle": "I4", "Handle2": "I8"}


def of_open(member: Member, link: Link, seen: Seen, others: Collection[object] = ()) -> Iterator[Demand]:
    """Yield the demands on a getter of an open queue. others: what it has shown of other open queue objects."""
    opened = requirements(CLASSES[member.coclass]["Access"], "get", "opened")
    yield Demand(opened, seen.status != OLE_E_BLANK, {"status": S_OK})
    not_closed = requirements(CLASSES[member.coclass]["IsOpen"], "get", "opened")
    yield Demand(not_closed, seen.status != hresults.MQ_ERROR_INVALID_HANDLE, {"status": S_OK})
    if seen.status in (OLE_E_BLANK, hresults.MQ_ERROR_INVALID_HANDLE):
        return
    yield Demand(requirements(member, "get", "success"), seen.status == S_OK, {"status": S_OK})
    if seen.status != S_OK:
        return
    vt = HANDLES.get(member.name)
    if vt is not None:
        number = seen.value.value if seen.value is not None and seen.value.vt == vt else None
        holds = bool(number) and number not in others
        yield Demand(requirements(member, "get", "gives"), holds, {"value": f"a handle, VT_{vt}"})
    elif member.name in VALUES:
        yield _gives(member, VALUES[member.name](link), seen)


def _gives(member: Member, value: Variant, seen: Seen) -> Demand:
    holds = seen.value is not None and same(seen.value, value)
    column = "gives:true" if value.value else "gives:false"
    return Demand(requirements(member, "get", "gives", column), holds, {"value": value.to_json()})


def of_closed(member: Member, seen: Seen, readings: Readings) -> Iterator[Demand]:
    """Yield the demands on a getter of a closed queue, and on a second Close."""
    if member.name in AFTER_CLOSE:
        opened = requirements(CLASSES[member.coclass]["Access"], "get", "opened")
        yield Demand(opened, seen.status != OLE_E_BLANK, {"status": S_OK})
        yield Demand(requirements(member, "get", "success"), seen.status == S_OK, {"status": S_OK})
        if seen.status == S_OK:
            yield _gives(member, AFTER_CLOSE[member.name], seen)
        return
    known = accepted(readings, CLOSED_OBJECT)
    which = "as-listed" if seen.status == S_OK else "invalid-handle"
    holds = which in known and seen.status in (S_OK, hresults.MQ_ERROR_INVALID_HANDLE)
    assumed = ((CLOSED_OBJECT, which),) if holds and len(known) > 1 else ()
    kind: Kind = "method" if member.name == "Close" else "get"
    expected = {"status": S_OK if known[0] == "as-listed" else hresults.MQ_ERROR_INVALID_HANDLE}
    yield Demand(requirements(member, kind, "check:closed"), holds, expected, assumed)


UNWANTED: Final = reading_id("R-MQAC-property-not-wanted")
WANTS: Final = {
    "Body": "WantBody",
    "DestinationQueueInfo": "WantDestinationQueue",
    "ConnectorTypeGuid": "WantConnectorType",
}
"""Properties of a message to the argument by which a read asks for them."""
SHOWN: Final = ("Label", "Body", "LookupId", "Priority", "AppSpecific")
"""Properties that are got from each message that a read gives: they tell which message it is."""


def got(known: Known, name: str, call: Invoke, seen: Seen, readings: Readings) -> Iterator[Demand]:
    """Yield the demands on a property that a client gets from a received message."""
    link, held = known.link(name), known.held[name]
    want = WANTS.get(call.member)
    if link.read is None or want is None:
        found = tuple(demands(held, call, seen, readings))
        if link.read is not None and call.member in known.right and found:
            row = CLASSES[held.coclass][call.member]  # it shows what is there: what is there is wrong
            holds = seen.status != S_OK or all(one.holds for one in found)
            yield Demand(requirements(row, "get", "initial"), holds, found[-1].expected)
        yield from found
        return
    reader = CLASSES["MSMQQueue"][link.read.member]
    if not any(one.name == want for one in reader.slots[0].arguments):
        return
    asked = asks_for(reader, link.read, want)
    names = requirements(reader, "method", *columns(reader, link.read, want, asked=asked))
    if not asked:
        yield from _nothing(names, seen, readings)
    elif call.member == "DestinationQueueInfo":
        yield Demand(names, seen.gives, {"status": S_OK, "value": "an MSMQQueueInfo"})
    else:
        found = tuple(demands(held, call, seen, readings))
        if found:
            holds = all(one.holds for one in found) or not _is_empty(seen)
            yield Demand(names, holds, found[-1].expected)
        yield from found


def columns(reader: Member, read: Invoke, want: str, *, asked: bool) -> tuple[str, ...]:
    """Return the columns of a read that say whether it shows a property."""
    left = argument(reader, read, want) is None
    return (*((f"default:{want}",) if left else ()), f"want:{want}:{'true' if asked else 'false'}")


def _is_empty(seen: Seen) -> bool:
    """Tell whether a getter has shown nothing: a property that is there and wrong is the getter's fault."""
    value = seen.value
    return value is None or hollow(value) or value.value == 0 or value.value in (NULL_GUID, f"{{{NULL_GUID}}}")


def _nothing(names: tuple[str, ...], seen: Seen, readings: Readings) -> Iterator[Demand]:
    known = accepted(readings, UNWANTED)
    which = "fails" if failed(seen.status) else "empty"
    holds = which in known and (which == "fails" or (seen.status == S_OK and _is_empty(seen)))
    assumed = ((UNWANTED, which),) if holds and len(known) > 1 else ()
    yield Demand(names, holds, {"value": "nothing, because the read did not ask for it"}, assumed)


_REFUSED_BY_ACCESS: Final[Mapping[str, frozenset[str]]] = {
    "send": frozenset({"access-receive", "access-peek"}),
    "peek": frozenset({"access-receive"}),
}


@value
class World:
    """Every object that a client holds, by name, and the possible states of the queue manager.

    doers: which call has done what to a message or cursor. waiting: reads that have not been answered, by the name of
    the message they will give, with the name of their queue object. peekable: messages that peeks see though a
    transaction holds them. numbers: what Handle and Handle2 have shown of open queue objects. later: the events of
    waiting reads that end their own transactions, by the name of the message. lost: an answer was wrong, or nothing is
    known of a call, so that the model follows no more; the objects' own demands are judged still.
    """

    model: Model
    known: Known = field(default_factory=Known)
    states: States = field(default_factory=States)
    doers: Doers = field(default_factory=dict)
    waiting: Mapping[str, tuple[str, Invoke]] = field(default_factory=dict)
    peekable: frozenset[str] = frozenset()
    numbers: Mapping[tuple[str, str], object] = field(default_factory=dict)
    later: Mapping[str, Events] = field(default_factory=dict)
    lost: bool = False

    @property
    def readings(self) -> Readings:
        """The accepted readings."""
        return self.model.rules.readings

    def created(self, name: str, coclass: str) -> World:
        """Return the world with a new object."""
        held = {**self.known.held, name: new(coclass)}
        return replace(self, known=replace(self.known, held=held))

    def called(
        self, name: str, call: Invoke, seen: Seen, gives: str | None = None, ended: Mapping[str, Seen] | None = None
    ) -> tuple[World, tuple[Verdict, ...]]:
        """Judge an answer. gives: the client's name for the object that the call hands out. ended: waiting reads that
        have answered meanwhile, by the name of the message they give.
        """
        held = self.known.held[name]
        member = CLASSES[held.coclass][call.member]
        subject = f"{'' if call.kind == 'method' else f'{call.kind} '}{held.coclass}.{call.member}"
        if call.kind == "get" or (call.member == "Close" and held.state == CLOSED):
            found = list(self._told(name, member, call, seen))
            return self._looked(name, member, call, seen, found), tuple(verdicts(subject, found, seen))
        check = refusing(member, held, call)
        if call.kind == "put" or check is not None or (member.event is None and member.name != "Reset"):
            found = list(demands(held, call, seen, self.readings))
            if check is not None and check.name == "closed":
                close = requirements(CLASSES["MSMQQueue"]["Close"], "method", "closes")
                found.append(Demand(close, failed(seen.status), {"status": "a failing HRESULT"}))
            world = self._moved(name, call, seen, gives)
            strange = check is not None and (seen.waits or seen.status == S_OK)
            return replace(world, lost=self.lost or strange), tuple(verdicts(subject, found, seen))
        if self.lost:
            return self._moved(name, call, seen, gives), ()
        if self._excused(name, member, call, seen):
            return self, ()
        try:
            return self._judged(name, call, seen, gives, ended or {}, subject)
        except (Untold, BadCall) as unknown:
            ends = held.state == ATTACHED and member.event is not None
            of_call = ends or held.coclass in ("MSMQQueue", "MSMQMessage")
            plain = [] if of_call else demands(held, call, seen, self.readings)
            lost = held.coclass != "MSMQTransaction" or isinstance(unknown, BadCall)
            world = replace(self._moved(name, call, seen, gives), lost=lost)
            return world, tuple(verdicts(subject, plain, seen))

    def _told(self, name: str, member: Member, call: Invoke, seen: Seen) -> Iterator[Demand]:
        """Yield the demands on a call that changes nothing: a getter, or Close of what is closed."""
        held = self.known.held[name]
        if held.coclass != "MSMQQueue" or held.state == BLANK or member.unimplemented:
            yield from got(self.known, name, call, seen, self.readings)
        elif held.state == CLOSED:
            yield from of_closed(member, seen, self.readings)
        else:
            others = (value for (one, which), value in self.numbers.items() if which == member.name and one != name)
            yield from of_open(member, self.known.link(name), seen, frozenset(others))

    def _looked(self, name: str, member: Member, call: Invoke, seen: Seen, found: Iterable[Demand]) -> World:
        """Return the world after a getter: it knows which getters are right, and the handles of open queues."""
        held = self.known.held[name]
        if seen.status != S_OK or seen.value is None or not all(one.holds for one in found):
            return self
        if held.coclass == "MSMQMessage" and held.state != RECEIVED and member.kept_as in held.values:
            return replace(self, known=replace(self.known, right=self.known.right | {member.name}))
        if member.name in HANDLES and held.state == OPENED:
            return replace(self, numbers={**self.numbers, (name, member.name): seen.value.value})
        return self

    def _excused(self, name: str, member: Member, call: Invoke, seen: Seen) -> bool:
        """Tell whether an accepted reading lets a call fail that the model lets succeed."""
        if not excused(member, call, seen, self.readings):
            return False
        try:
            found = self.events(name, call, "excused")
            states = self.aware(name, found).before(found).states
            results = [one.result for state in states for one in self.model.allowed(state, found.main).outcomes]
        except (Untold, BadCall):
            return False
        ways = [refusal(found.main, result) for result in results if isinstance(result, Fails)]
        return not any(way.holds(seen, self.readings)[0] for way in ways)

    def passed(self, by_ms: int, ended: Mapping[str, Seen]) -> tuple[World, tuple[Verdict, ...]]:
        """Judge what time alone has ended."""
        if self.lost:
            return self, ()
        call = Call("clock.advance", by_ms=by_ms)
        return self._stepped(Events(call), None, Seen(S_OK), None, ended, "the time passes")

    def due(self, name: str | None, call: Invoke | None, gives: str | None = None, by_ms: int = 0) -> frozenset[str]:
        """Return the waiting reads that end with a call, or with the time that passes."""
        if self.lost or not self.waiting:
            return frozenset()
        try:
            found = Events(Call("clock.advance", by_ms=by_ms)) if call is None else self.events(name or "", call, gives)
            states = self.before(found)
            return self.model.due(states, found.main).reads
        except (Untold, BadCall):
            return frozenset()

    def events(self, name: str, call: Invoke, gives: str | None) -> Events:
        """Return the calls of a method. A read that waits ends when a message sent alone is committed, not before.

        Raises Untold where the objects do not tell, BadCall for what the model does not know.
        """
        found = events(self.known, name, call, gives)
        if not self.waiting or found.main.method != "messages.send" or not found.after:
            return found
        result = self.model.allowed(self.before(found).likely, found.main).outcomes[0].result
        if not isinstance(result, Succeeds):
            return found
        return Events(found.after[0], (*found.before, found.main))

    def aware(self, name: str, found: Events) -> World:
        """Return the world that knows the message which a call sends: a read that waits may give it at once."""
        call = next((one for one in (*found.before, found.main) if one.method == "messages.send"), None)
        if call is None:
            return self
        sent = {**self.known.sent, call.message or "": self.known.held[name].values}
        return replace(self, known=replace(self.known, sent=sent))

    def before(self, found: Events) -> States:
        """Return the states in which the main call of some events is made."""
        states = self.states
        for call in found.before:
            states = self.model.step(states, call, Observation(Answer())).states
        if self.peekable and found.main.method in PEEKS:
            return seen_by_peeks(states, self.peekable)
        return states

    def _judged(
        self, name: str, call: Invoke, seen: Seen, gives: str | None, ended: Mapping[str, Seen], subject: str
    ) -> tuple[World, tuple[Verdict, ...]]:
        return self._stepped(self.events(name, call, gives), (name, call), seen, gives, ended, subject)

    def _stepped(
        self,
        found: Events,
        made: tuple[str, Invoke] | None,
        seen: Seen,
        gives: str | None,
        ended: Mapping[str, Seen],
        subject: str,
    ) -> tuple[World, tuple[Verdict, ...]]:
        """Judge by the model. made: the object and the call; None for time that passes."""
        if made is not None:
            self = self.aware(made[0], found)
        states = self.before(found)
        main = found.main
        reads = main.method.startswith("messages.") and main.method != "messages.send"
        observation = Observation(
            self._answer(main, seen, reads),
            {name: self._answer(main, one, True) or Answer() for name, one in ended.items()},
        )
        pending = self.model.due(states, main)
        judged = self.model.step(states, main, observation, pending=pending)
        if states.likely.keeping is not None:
            observation = named(states.likely, main, observation, pending.ways)
        name, call = made or ("", None)
        doer = Doer(self.known.held[name].coclass, call) if call is not None else None
        told = answered(pending, judged, observation, doer, self.doers, seen, ended, self._readers(), self.readings)
        out = [one for demand in told for one in verdicts(demand.subject or subject, [demand.demand], demand.seen)]
        if doer is not None and judged.failed and renewed(doer.member, doer.call, seen, self.readings):
            return replace(self, lost=True), ()
        if judged.failed or any(not demand.demand.holds for demand in told):
            world = self if call is None else self._moved(name, call, seen, gives)
            return replace(world, lost=True), tuple(out)
        after = judged.states
        if self.peekable and main.method in PEEKS:
            after = held_again(after, self.states.likely, self.peekable)
        if not seen.waits:
            after = self._finished(after, found, failed=observation.answer is not None and observation.answer.failed)
        doers = self.doers
        for one in (*(one for one in found.before if one.method == "messages.send"), main):
            doers = doers_after(doers, states.likely, one, doer, observation)
        world = replace(self, states=after, doers=doers)
        if call is not None:
            world = world._moved(name, call, seen, gives)
            if seen.waits:
                later = {**world.later, gives or "": found}
                world = replace(world, waiting={**world.waiting, gives or "": (name, call)}, later=later)
            else:
                world = world._linked(name, call, main, gives, observation.answer)
                out += world._shown(gives or "", seen)
        return world._ended(ended, observation, out)

    def _finished(self, states: States, found: Events, *, failed: bool) -> States:
        """Return the states after what a call does behind its main event."""
        for extra in found.failed if failed else found.after:
            states = self.model.step(states, extra, Observation(Answer())).states
        return states

    def _readers(self) -> Mapping[str, Doer]:
        return {gives: Doer("MSMQQueue", call) for gives, (_, call) in self.waiting.items()}

    def _ended(
        self, ended: Mapping[str, Seen], observation: Observation, out: Iterable[Verdict]
    ) -> tuple[World, tuple[Verdict, ...]]:
        world, found = self, list(out)
        for gives, seen in ended.items():
            _, call = self.waiting[gives]
            waiting = {key: one for key, one in world.waiting.items() if key != gives}
            states = world.states
            if gives in world.later:
                states = self._finished(states, world.later[gives], failed=not seen.gives)
            world = replace(world, waiting=waiting, states=states)
            if seen.gives:
                answer = observation.completed[gives]
                message = answer.message.name if answer.message is not None else ""
                world = world._received(gives, call, message)
                world = replace(world, doers={**world.doers, (message, "read"): Doer("MSMQQueue", call)})
                found += world._shown(gives, seen)
        return world, tuple(found)

    def _answer(self, call: Call, seen: Seen, reads: bool) -> Answer | None:
        """Return the answer as the model has it: failures have no codes there, since the objects have their own."""
        if seen.waits:
            return None
        if not reads:
            return Answer(None if seen.status else 0, seen.status != S_OK)
        if not seen.gives:
            return Answer(None, True)
        name = self._which(identified(self.known, seen))
        lookup = seen.shown.get("LookupId")
        value = lookup.value.value if lookup is not None and lookup.value is not None else None
        number = int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()) else None
        return Answer(0, False, SeenMessage(name.encode(), lookup_identifier=number))

    def _which(self, alike: tuple[str, ...]) -> str:
        """Return which of some messages that look alike was given: the first that is there, as a reader expects."""
        if len(alike) > 1:
            for queue in self.states.likely.queues.values():
                for one in queue.positions:
                    if one.available and one.message.partition("@")[0] in alike:
                        return one.message.partition("@")[0]
        return alike[0] if alike else "?"

    def _moved(self, name: str, call: Invoke, seen: Seen, gives: str | None) -> World:
        """Return the world with the object as the call has left it, and the object that it hands out."""
        if seen.waits:
            return self
        held = {**self.known.held, name: moved(self.known.held[name], call, seen)}
        made = CREATIONS.get((held[name].coclass, call.member))
        numbers = self.numbers
        if held[name].state == CLOSED:  # the number may be given to another one
            numbers = {at: value for at, value in numbers.items() if at[0] != name}
        if gives is not None and seen.status == S_OK and made is not None:
            held[gives] = Held(*made)
        elif gives is not None and gives not in held and seen.gives:
            held[gives] = Held("MSMQMessage", RECEIVED, {"": Variant("EMPTY")})
        return replace(self, known=replace(self.known, held=held), numbers=numbers)

    def _linked(self, name: str, call: Invoke, main: Call, gives: str | None, answer: Answer | None) -> World:
        """Return the world with what stands behind the objects after a call that has been answered as it should."""
        if answer is None or answer.failed:
            return self
        known = self.known
        if main.method == "queues.create":
            known = known.linked(name, Link(queue=main.queue or ""))
        elif main.method == "queues.open" and gives is not None:
            access = main.access or ""
            cursor = f"{gives}.0" if access != "send" else ""
            known = known.linked(gives, Link(main.queue or "", access, cursor, share=main.share or "", info=name))
            refused = replace(known.held[gives], also=_REFUSED_BY_ACCESS.get(access, frozenset()))
            known = replace(known, held={**known.held, gives: refused})
        elif main.method == "cursors.open":
            known = known.linked(name, replace(known.link(name), cursor=main.name or ""))
        elif main.method == "transactions.begin" and gives is not None:
            known = known.linked(gives, Link(transaction=main.name))
        elif answer.message is not None and gives is not None:
            if call.member == "ReceiveByLookupIdAllowPeek" and main.transaction is not None:
                self = replace(self, peekable=self.peekable | {answer.message.name})
            elif main.method not in PEEKS:  # received in another way since
                self = replace(self, peekable=self.peekable - {answer.message.name})
            return replace(self, known=known)._received(gives, call, answer.message.name)
        return replace(self, known=known)

    def _received(self, gives: str, call: Invoke, message: str) -> World:
        known = self.known.linked(gives, Link(message=message, read=call))
        values = known.sent.get(message.partition("@")[0], {})
        return replace(self, known=replace(known, held={**known.held, gives: Held("MSMQMessage", RECEIVED, values)}))

    def _shown(self, gives: str, seen: Seen) -> Iterator[Verdict]:
        """Yield the verdicts on the properties that were got from a received message at once."""
        if gives not in self.known.held:
            return
        for member, its in seen.shown.items():
            subject = f"get MSMQMessage.{member}"
            yield from verdicts(subject, got(self.known, gives, Invoke(member, "get"), its, self.readings), its)


def identified(known: Known, seen: Seen) -> tuple[str, ...]:
    """Return the messages that a read may have given, by the label or the body; none if nobody has sent such a one."""
    for member, kept in (("Label", "Label"), ("Body", "Body")):
        one = seen.shown.get(member)
        if one is None or one.status != S_OK or one.value is None or not one.value.value:
            continue
        told = one.value.value
        alike = tuple(name for name, values in known.sent.items() if kept in values and values[kept].value == told)
        if alike:
            return alike
    return ()
