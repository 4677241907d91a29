"""Ideal answers: what an object that follows the tables answers. They tell which requirements a plan can judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from conformance.activex.effects import EXPIRED, refusal
from conformance.activex.events import Link, Untold, asks_for
from conformance.activex.expected import Held, Invoke, Readings, Seen, refusing
from conformance.activex.members import requirements
from conformance.activex.plans import Act, Plan
from conformance.activex.tables import BLANK, CLASSES, RECEIVED
from conformance.activex.tables import CLOSED as CLOSED_STATE
from conformance.activex.values import E_FAIL, E_NOTIMPL, S_OK, Variant, accepted
from conformance.activex.world import AFTER_CLOSE, HANDLES, SHOWN, VALUES, WANTS, World
from conformance.model import BadCall, Call, Model
from conformance.model.expected import Blocks, Expected, Fails, Succeeds
from conformance.spec.constants import hresults
from conformance.verdict import Verdict

DEFAULT_PRIORITY, HIGHEST_PRIORITY = 3, 7
SEQUENCE_BITS = 56
"""Bits of a lookup identifier below the byte of the priority (MS-MQDMPR 3.1.7.1.9)."""
Ended = Mapping[str, Seen]


@dataclass(slots=True)
class Objects:
    """The objects of a plan by their names in it, and the readings they are judged by."""

    readings: Readings
    world: World = field(init=False)

    def __post_init__(self) -> None:
        self.world = World(Model(self.readings))

    @property
    def held(self) -> Mapping[str, Held]:
        """The objects by name."""
        return self.world.known.held

    def do(self, act: Act, seen: Seen | None, ended: Ended | None = None) -> tuple[Verdict, ...]:
        """Judge the answer to an act, and keep what it leads to. seen: None for a creation and for time that passes.

        ended: waiting reads that have answered meanwhile, by the name of what they give.
        """
        verdicts: tuple[Verdict, ...] = ()
        if act.passes_ms:
            self.world, verdicts = self.world.passed(act.passes_ms, ended or {})
        elif act.call is None:
            assert act.coclass is not None
            self.world = self.world.created(act.object, act.coclass)
        else:
            assert seen is not None
            self.world, verdicts = self.world.called(act.object, act.call, seen, act.gives, ended or {})
        return verdicts

    def due(self, act: Act) -> frozenset[str]:
        """Return the waiting reads that must end with an act."""
        return self.world.due(act.object, act.call, act.gives, act.passes_ms)


def answer(objects: Objects, act: Act) -> tuple[Seen | None, Ended]:
    """Return the ideal answer to an act, with those of the waiting reads that end with it."""
    world = objects.world
    if act.passes_ms:
        return None, _ends(
            world, world.model.allowed(world.states.likely, Call("clock.advance", by_ms=act.passes_ms)).outcomes[0]
        )
    if act.call is None:
        return None, {}
    held = objects.held[act.object]
    member = CLASSES[held.coclass][act.call.member]
    if act.call.kind == "get":
        return getter_answer(world, act.object, act.call.member), {}
    if held.coclass == "MSMQQueue" and held.state == CLOSED_STATE and act.call.member == "Close":
        return Seen(hresults.MQ_ERROR_INVALID_HANDLE), {}
    if refusing(member, held, act.call) is not None or act.call.kind != "method":
        return ideal(held, act.call, objects.readings), {}
    try:
        found = world.events(act.object, act.call, act.gives)
        world = world.aware(act.object, found)
        states = world.before(found)
        expected = world.model.allowed(states.likely, found.main).outcomes[0]
    except (Untold, BadCall):
        return ideal(held, act.call, objects.readings), {}
    return _answer(world, found.main, act.call, act.gives, expected), _ends(world, expected)


def _answer(world: World, call: Call, made: Invoke, gives: str | None, expected: Expected) -> Seen:
    result = expected.result
    if isinstance(result, Blocks):
        return Seen(S_OK, waits=True)
    if isinstance(result, Fails):
        status = refusal(call, result).default(world.readings)
        return Seen(status, Variant("DISPATCH") if status == S_OK else None)
    if isinstance(result, Succeeds) and result.message is not None:
        return message(world, made, result.message, gives or "message")
    return Seen(S_OK, None if gives is None else Variant("DISPATCH", gives))


def _ends(world: World, expected: Expected) -> Ended:
    ended: dict[str, Seen] = {}
    for item in expected.completions:
        _, call = world.waiting[item.waiter]
        if isinstance(item.result, Succeeds) and item.result.message is not None:
            ended[item.waiter] = message(world, call, item.result.message, item.waiter)
        elif isinstance(item.result, Fails):
            expired = item.result.must.endswith("io-timeout")
            status = EXPIRED.default(world.readings) if expired else E_FAIL
            ended[item.waiter] = Seen(status, Variant("DISPATCH") if status == S_OK else None)
    return ended


def message(world: World, read: Invoke, name: str, gives: str) -> Seen:
    """Return the answer of a read that gives a message, with the properties that are got from it."""
    return Seen(
        S_OK, Variant("DISPATCH", gives), shown={one: _of_message(world, read, name, one, gives) for one in SHOWN}
    )


def getter_answer(world: World, name: str, member: str) -> Seen:
    """Return the ideal answer of a getter."""
    link, held = world.known.link(name), world.known.held[name]
    if held.coclass == "MSMQQueue" and (member in VALUES or member in HANDLES) and held.state != BLANK:
        return _of_queue(held, link, member, 1 + list(world.known.held).index(name))
    if link.read is not None:
        return _of_message(world, link.read, link.message, member)
    return ideal(held, Invoke(member, "get"))


def _of_queue(held: Held, link: Link, member: str, number: int) -> Seen:
    if held.state == CLOSED_STATE:
        value = AFTER_CLOSE.get(member)
        return Seen(hresults.MQ_ERROR_INVALID_HANDLE) if value is None else Seen(S_OK, value)
    if member in HANDLES:
        return Seen(S_OK, Variant(HANDLES[member], number))
    return Seen(S_OK, VALUES[member](link))


def _of_message(world: World, read: Invoke, name: str, member: str, gives: str = "") -> Seen:
    reader = CLASSES["MSMQQueue"][read.member]
    plain = name.partition("@")[0]
    if member == "LookupId":
        return Seen(S_OK, Variant("BSTR", str(_lookup(world, name, gives))))
    if member in WANTS and not asks_for(reader, read, WANTS[member]):
        return Seen(S_OK, Variant("EMPTY"))
    if member == "DestinationQueueInfo":
        return Seen(S_OK, Variant("DISPATCH", "destination"))
    return ideal(Held("MSMQMessage", RECEIVED, world.known.sent.get(plain, {})), Invoke(member, "get"))


def _lookup(world: World, name: str, gives: str) -> int:
    """Return a message's lookup identifier: what was shown before, or else one that increases along the whole queue.

    gives: the read that gives it; one that waits gives a message before it has a place.
    """
    state, plain = world.states.likely, name.partition("@")[0]
    places = (one.rank[0] for queue in state.queues.values() for one in queue.positions if one.message == name)
    put = world.known.sent.get(plain, {}).get("Priority")
    priority = DEFAULT_PRIORITY if put is None else put.value
    if gives in world.waiting and state.queues[world.known.link(world.waiting[gives][0]).queue].transactional:
        priority = 0
    rank = next(places, HIGHEST_PRIORITY - priority)
    return state.lookups.get(name, rank << SEQUENCE_BITS | list(world.known.sent).index(plain) + 1)


def ideal(held: Held, call: Invoke, readings: Readings | None = None) -> Seen:
    """Return the answer that the tables demand; where they leave a choice, one of the answers they allow."""
    member = CLASSES[held.coclass][call.member]
    if member.unimplemented:
        return Seen(E_NOTIMPL)
    check = refusing(member, held, call)
    if check is not None:
        return Seen(E_FAIL if check.status is None else check.status)
    if call.kind == "put":
        if member.takes is None or member.takes.admits(call.arguments[-1]) or member.refusal is None:
            return Seen(S_OK)
        return Seen(accepted(requirements(member, "put", "refused"), member.refusal, readings or {})[0][0])
    if call.kind == "get":
        return Seen(S_OK, _value(held, call.member))
    return Seen(S_OK)


def _value(held: Held, name: str) -> Variant:
    member = CLASSES[held.coclass][name]
    put = held.values.get(member.kept_as or "")
    if put is not None and name == "BodyLength":
        return Variant("I4", len(put.value) if isinstance(put.value, bytes) else 0)
    return put or member.initial or Variant("EMPTY")


def judged(plans: Iterable[Plan], readings: Mapping[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """Return the requirements that plans judge, in the order in which an ideal object meets them."""
    found: dict[str, None] = {}
    for _, _, _, _, verdicts in played(plans, readings or {}):
        found.update(dict.fromkeys(verdict.requirement for verdict in verdicts))
    return tuple(found)


Step = tuple[World, Act, Seen | None, Ended, tuple[Verdict, ...]]


def played(plans: Iterable[Plan], readings: Readings) -> Iterator[Step]:
    """Yield each act of some plans with the world before it, its ideal answer and the verdicts.

    Plans begin alike, so that what several have in common comes once.
    """
    after: dict[Plan, World] = {}
    objects = Objects(readings)
    start = objects.world
    for plan in plans:
        for at, act in enumerate(plan, 1):
            known = after.get(plan[:at])
            if known is not None:
                continue
            objects.world = before = after[plan[: at - 1]] if at > 1 else start
            seen, ended = answer(objects, act)
            verdicts = objects.do(act, seen, ended)
            after[plan[:at]] = objects.world
            yield before, act, seen, ended, verdicts
