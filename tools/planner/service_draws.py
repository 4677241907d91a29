"""What clients of planned histories of services begin with, what they do to get on, and the calls they try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from conformance.activex import management, plans_events
from conformance.activex import services_plans as plans
from conformance.activex.members import Member
from conformance.activex.plans import Act, Plan, call_on, create, passes
from conformance.activex.scene_events import CURRENT, INFINITE, NEXT, EventObjects
from conformance.activex.scene_services import ServiceObjects, driven
from conformance.activex.service_features import LOOK, ON, ROWS, cases, destination_name, getters
from conformance.activex.services import (
    APPLICATION,
    COLLECTION,
    DESTINATION,
    EVENT,
    MANAGEMENT,
    PEEK,
    QUERY,
    QUEUE_INFOS,
    RECEIVE,
    SEND,
)
from conformance.activex.services_plans import ABROAD, FIRST, SECOND, direct, opened, queue
from conformance.activex.values import MISSING, Variant, long, octets, text
from conformance.histories.situations.service_clients import OF_EVENTS, OF_SERVICES, Served

LOOKS: Final = 4
"""Getters that show an effect, in turn: all of them after each call are many acts that meet nothing new."""


def stage_of(member: Member) -> str:
    """Return the scene that judges the histories of a member."""
    return OF_EVENTS if member.coclass == EVENT else OF_SERVICES


def _asked(name: str) -> Act:
    return driven("management.get", target={"type": "queue", "format_name": name}, properties=list(management.ASKED))


_AWAY: Final[Plan] = (
    create("MSMQQueueInfo", "w"),
    call_on("w", "FormatName", text(ABROAD), kind="put"),
    opened("w", SEND, "w_s"),
)
_HERE: Final[Plan] = (*queue("i", journal=True), opened("i", SEND, "s"), opened("i", RECEIVE, "r"))
_OTHER: Final[Plan] = (
    create(DESTINATION, "o"),
    call_on("o", "FormatName", text(direct(SECOND)), kind="put"),
    call_on("o", "Open"),
    call_on("o", "Handle", kind="get", gives="$handle"),
)
_LISTS: Final[Plan] = (
    create(APPLICATION, "a"),
    call_on("a", "ActiveQueues"),
    *plans.looks("a", ("PrivateQueues", "BytesInAllQueues")),
)
_REPORTS: Final[Plan] = (
    *_AWAY,
    create(MANAGEMENT, "g"),
    plans.init(MISSING, text(ABROAD)),
    _asked(ABROAD),
    call_on("g", "EodGetSendInfo", gives="c"),
)
_BEGINNINGS: Final[Mapping[str, Plan]] = {
    DESTINATION: (plans_events.GIVEN, *_HERE, *queue("j", SECOND), opened("j", RECEIVE, "t"), *_OTHER),
    APPLICATION: (plans_events.GIVEN, *_LISTS),
    MANAGEMENT: (*_HERE, *_AWAY),
    COLLECTION: (*_REPORTS, create(COLLECTION, "e"), call_on("c", "Item", text("EodNextSeq"), gives="n")),
    QUERY: (plans_events.GIVEN, create(QUERY, "q")),
    QUEUE_INFOS: (plans_events.GIVEN, create(QUERY, "q"), create(QUEUE_INFOS, "f")),
    EVENT: (
        *plans_events.scene(),
        *(create(EVENT, "f"), opened("i", SEND, "o"), opened("i", PEEK, "c"), create("MSMQQueue", "b")),
    ),
}


def client_of(member: Member) -> Served:
    """Return a client at the beginning of a history of a member."""
    return Served(stage_of(member), _BEGINNINGS[member.coclass])


def drawn(member: Member, client: Served, random: Random) -> Act | None:
    """Return a call of a member in one of its forms; None if the client has no object for it."""
    objects = client.objects(ON.get((member.coclass, member.name), member.coclass))
    if not objects:
        return None
    name, slot = random.choice(objects), random.choice(member.slots)
    if member.name == LOOK:
        return call_on(name, random.choice(getters(member.coclass)), kind="get")
    given = [random.choice(tuple(cases(member, one.name).values())) for one in slot.arguments if not one.result]
    if member.name == "Advise":
        return call_on(name, member.name, *given, gives=random.choice(("$first", "$last")))
    if member.name == "EnableNotification" and _lost(client, name, *given[1:]):
        return None
    gives = client.name("n") if any(one.result for one in slot.arguments) else None
    return call_on(name, member.name, *given, kind=slot.kind, gives=gives)


def _lost(client: Served, name: str, cursor: Variant, timeout: Variant = MISSING) -> bool:
    """Tell whether no section of MC-MQAC tells what a notification ends in."""
    world = client.world
    if cursor == MISSING or not isinstance(world, EventObjects) or name not in world.queues:
        return False
    return not world.tells(name, int(cursor.value), INFINITE if timeout == MISSING else int(timeout.value))


def followed(member: Member, act: Act, client: Served) -> Plan:
    """Return what shows the effect of a call: every getter of its object, and what it brings about."""
    if member.coclass == QUERY and isinstance(client.world, ServiceObjects):
        found = client.world.states[act.gives or ""].found
        given = (each for _ in found for each in _next(act.gives or "", client.name("g")))
        return (*given, call_on(act.gives or "", "Next", gives=client.name("g")))
    if member.coclass == EVENT:
        return (plans_events.SENT, passes(1_000), call_on("r", "Purge")) if client.objects(EVENT) else ()
    if member.name == LOOK:
        return ()
    every, first = getters(member.coclass), len(client.plan)
    turn = range(first, first + min(LOOKS, len(every)))
    looks = [call_on(act.object, every[at % len(every)], kind="get") for at in turn]
    if member.coclass == DESTINATION and isinstance(client.world, ServiceObjects):
        its: Any = client.world.states.get(act.object)
        if its.handle is None or destination_name(client.world, act) in ("journal", "subqueue"):
            return tuple(looks)  # what a send does is told for what is open, and a part of a queue may not be
        shown = plans.receive_act("r") if first % 3 else plans.peeked("t")
        return (*looks, *_sent(client, act.object), shown)
    if member.coclass == QUEUE_INFOS:
        return (*_next(act.object, client.name("g")), *_next(act.object, client.name("g")))
    return tuple(looks)


def _next(infos: str, gives: str) -> Plan:
    return (call_on(infos, "Next", gives=gives), call_on(gives, "FormatName", kind="get"))


def _sent(client: Served, to: str) -> Plan:
    name = client.name("m")
    body = call_on(name, "Body", octets(b"abcd"), kind="put")  # one that is empty may take no bytes
    return (create("MSMQMessage", name), body, call_on(name, "Send", Variant("DISPATCH", to), long(0)))


def prepared(member: Member, client: Served, random: Random) -> bool:
    """Do something that changes the situation of the next call. Returns False if nothing was done."""
    if random.random() < 0.5:
        rows = [row for row in ROWS if row.coclass == member.coclass]
        act = drawn(random.choice(rows), client, random)
        return act is not None and client.attempt((act,))
    return client.attempt(_AROUND[member.coclass](client, random))


def _of_destinations(client: Served, random: Random) -> Plan:
    new = client.name("d")
    ways = [act for acts in plans.ACTIONS.values() for act in acts if act.call is not None and act.call.kind == "put"]
    put = random.choice(ways).call
    named = () if put is None else (call_on(new, put.member, *put.arguments, kind="put"),)
    return random.choice(((create(DESTINATION, new),), (create(DESTINATION, new), *named, call_on(new, "Open"))))


def _of_queues(client: Served, random: Random) -> Plan:
    """Open, fill, drain, close or delete a queue, or make it again."""
    new, held = client.name("s"), [name for name in client.objects("MSMQQueue") if name.startswith(("s", "r"))]
    senders, readers = ([name for name in held if name.startswith(word)] for word in "sr")
    ways: list[Plan] = [
        (opened("i", SEND, new),),
        (opened("i", RECEIVE, client.name("r")),),
        tuple(call_on(name, "Close") for name in held),
        _sent(client, random.choice(senders)) if senders else (),
        (plans.receive_act(random.choice(readers)),) if readers else (),
        (*(call_on(name, "Close") for name in held), call_on("i", "Delete")),
        _sent(client, "w_s"),
    ]
    return random.choice(ways)


def _of_applications(client: Served, random: Random) -> Plan:
    made = "i" in client.world.classes
    ways: list[Plan] = [
        (create(APPLICATION, client.name("a")),),
        (plans.OF_MACHINE,),
        _of_queues(client, random) if made else random.choice((_HERE, _AWAY, queue("i"))),
    ]
    return random.choice(ways)


def _of_managements(client: Served, random: Random) -> Plan:
    new = client.name("g")
    names = random.choice(((MISSING, text(FIRST), MISSING), (MISSING, MISSING, text(ABROAD)), None))
    made = (create(MANAGEMENT, new), *(() if names is None else (call_on(new, "Init", *names),)))
    away: tuple[Plan, ...] = ((*_sent(client, "w_s"), call_on("w_s", "Close")), (opened("w", SEND, "w_s"),))
    asked = (_asked(random.choice((direct(FIRST), ABROAD))),)
    return random.choice((made, made, asked, _of_queues(client, random), random.choice(away)))


def _of_collections(client: Served, random: Random) -> Plan:
    new = client.name("c")
    ways: list[Plan] = [
        (create(COLLECTION, new),),
        (_asked(ABROAD), call_on("g", "EodGetSendInfo", gives=new)),
        (
            _asked(ABROAD),
            call_on("g", "EodGetSendInfo", gives=new),
            call_on(new, "Item", text("EodLastAck"), gives=f"{new}n"),
        ),
    ]
    return random.choice(ways)


def _of_queries(client: Served, random: Random) -> Plan:
    given = random.choice((plans_events.GIVEN, plans_events.EMPTY, None))
    return (create(QUERY, client.name("q")),) if given is None else (given,)


def _of_infos(client: Served, random: Random) -> Plan:
    new = client.name("f")
    label = {"Label": random.choice((text("a"), text("b"), text("e")))} if random.random() < 0.7 else {}
    made = plans_events.lookup("LookupQueue_v2", **label)
    return random.choice(((create(QUEUE_INFOS, new),), (Act("q", made.call, gives=new),)))


def _of_events(client: Served, random: Random) -> Plan:
    new, reader = client.name("e"), random.choice("qqrc")
    ways: list[Plan] = [
        (create(EVENT, new),),
        (plans_events.advise(random.choice("ef"), random.choice(("$first", "$last"))),),
        (plans_events.advise("e", "$first"), plans_events.unadvise("$first")),
        (plans_events.SENT,),
        *(
            (call_on(one, "PeekCurrent", MISSING, MISSING, long(0)), plans_events.notify(one, long(NEXT)))
            for one in "qr"
        ),
        (plans_events.SENT, plans_events.SENT, call_on(reader, "PeekCurrent", MISSING, MISSING, long(0))),
        (call_on(reader, "PeekNext", MISSING, MISSING, long(0)),),
        () if _lost(client, "q", long(CURRENT)) else (plans_events.notify("q", long(CURRENT)),),
        (call_on("r", "Purge"),),
        (call_on("c", "Close"),),
        (plans_events.notify(random.choice("qr"), event=random.choice("ef")),),
        (passes(1_000),),
    ]
    return random.choice(ways)


_AROUND: Final[Mapping[str, Callable[[Served, Random], Plan]]] = {
    DESTINATION: _of_destinations,
    APPLICATION: _of_applications,
    MANAGEMENT: _of_managements,
    COLLECTION: _of_collections,
    QUERY: _of_queries,
    QUEUE_INFOS: _of_infos,
    EVENT: _of_events,
}
