"""What clients of planned histories of objects begin with, what they do to get on, and the calls they try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from conformance.activex.features import ENDS, ENLISTING, state_of, values
from conformance.activex.members import Member, all_cells
from conformance.activex.plans import LOOKUP, PATH_NAME, Act, Plan, call_on, create, passes
from conformance.activex.plans_queue_info import PATH, format_name, make, opened, path
from conformance.activex.plans_reads import PEEK, RECEIVE, SEND, dispatch, read
from conformance.activex.plans_send import end, receive
from conformance.activex.service_features import ROWS
from conformance.activex.tables import CLASSES
from conformance.activex.values import MISSING, Variant, long, octets, text, truth
from conformance.activex.walk import BEGINNING, LIFE_S, LIFETIMES, Walk
from conformance.activex.world import World
from conformance.histories.situations.object_book import Planned
from conformance.histories.situations.object_clients import CLIENT, Client, Followed
from conformance.histories.situations.service_clients import STAGES as SERVICE_STAGES
from conformance.histories.situations.service_clients import Served
from tools.planner import service_draws
from tools.planner.service_draws import stage_of

_INFO, _MESSAGE, _DISPENSER, _TRANSACTION = (
    "MSMQQueueInfo",
    "MSMQMessage",
    "MSMQTransactionDispenser",
    "MSMQTransaction",
)

_KINDS: Final = ("i", "j")
_SET_BY_SEND: Final = frozenset(
    column.removeprefix("sets:") for column in all_cells()["MSMQMessage.Send.method"] if column.startswith("sets:")
)
"""Attributes of a message that its sending sets: the scene follows them."""
READERS: Final[Plan] = (
    *BEGINNING,
    create("MSMQQueue", "blank"),
    create("MSMQTransaction", "empty"),
    *(call_on(info, "Open", long(PEEK), long(0), gives=f"{info}_p") for info in _KINDS),
    *(call_on(info, "Open", long(RECEIVE), long(0), gives=f"{info}_c") for info in _KINDS),
    *(call_on(f"{info}_c", "Close") for info in _KINDS),
)


_EXCLUSIVE: Final[Plan] = (
    *(
        act
        for name, access in (("k_r", RECEIVE), ("k_p", PEEK), ("k_c", RECEIVE))
        for act in (
            create(_INFO, f"{name}_i"),
            call_on(f"{name}_i", "PathName", text(f"{PATH_NAME}-{name[-1]}"), kind="put"),
            make(f"{name}_i"),
            call_on(f"{name}_i", "Open", long(access), long(1), gives=name),
        )
    ),
    call_on("k_c", "Close"),
)
"""Queues that are open for one reader alone."""


def stages(member: Member) -> tuple[str, ...]:
    """Return the scenes that judge the histories of a member, each what those before it leave: empty for the world of
    objects, which alone tells what a transaction has held.
    """
    if member in ROWS:
        return (stage_of(member),)
    if member.coclass == "MSMQQueue":
        return ("",)
    if _ends(member):
        return (CLIENT, "")
    of_scene = member.name == "Send" or member.vt == "DISPATCH" or member.kept_as in _SET_BY_SEND
    return (CLIENT,) if member.coclass != _MESSAGE or of_scene else ("",)


def _ends(member: Member) -> bool:
    return member.event is not None and member.event.call in ENDS


def client_of(member: Member, stage: str, seed: int) -> Client | Served:
    """Return a client at the beginning of a history of a member in a scene."""
    if stage in SERVICE_STAGES:
        return service_draws.client_of(member)
    if stage != CLIENT and member.coclass != _MESSAGE:
        return Walk(Random(seed), (*READERS, *_EXCLUSIVE) if member.name in ("Access", "ShareMode") else READERS)
    if stage != CLIENT:
        return Walk(Random(seed), (*BEGINNING[1:4], *_OPENED, *_told(member, "m"), *_received(member, "r")))
    return Followed(_FOLLOWED[member.name if member.name == "Send" else member.coclass])


_OPENED: Final[Plan] = tuple(act for act in BEGINNING if act.object == "i" and act.gives is not None)


def _told(member: Member, name: str) -> Plan:
    """Return the making of a message that its body or its label tells, whichever the member is not about."""
    told = call_on(name, "Label", text(name), kind="put")
    if member.kept_as == "Label":
        told = call_on(name, "Body", octets(name.encode()), kind="put")
    return (create(_MESSAGE, name), told)


def _sent(member: Member, name: str) -> Plan:
    return (*_told(member, name), call_on(name, "Send", dispatch("i_s"), long(0)))


def _received(member: Member, name: str) -> Plan:
    wants = {one: truth(True) for one in ("WantBody", "WantDestinationQueue", "WantConnectorType")}
    return (*_sent(member, f"{name}_sent"), read("Receive", name, queue_object="i_r", given=wants))


def _queues(name: str, where: str, transactional: Variant) -> Plan:
    made = (create(_INFO, name), path(name, where), make(name, transactional), call_on(name, "Refresh"))
    ways = tuple(opened(name, f"{name}_{word}", long(how)) for word, how in (("s", SEND), ("r", RECEIVE), ("p", PEEK)))
    return (*made, *ways, opened(name, f"{name}_c", long(SEND)), call_on(f"{name}_c", "Close"))


_BEGIN: Final[Plan] = (
    create(_DISPENSER, "d"),
    call_on("d", "BeginTransaction", gives="t"),
    create(_TRANSACTION, "empty"),
)
_FOLLOWED: Final[Mapping[str, Plan]] = {
    "Send": (
        *_queues("i", PATH, MISSING),
        *_queues("j", f"{PATH}-t", truth(True)),
        create("MSMQQueue", "blank"),
        _BEGIN[0],
        create(_TRANSACTION, "empty"),
        create(_MESSAGE, "m"),
    ),
    _MESSAGE: (
        *_queues("i", PATH, MISSING),
        create(_MESSAGE, "m"),
        create(_MESSAGE, "n"),
        call_on("n", "Send", dispatch("i_s"), long(0)),
        receive("r", "i_r"),
    ),
    _INFO: (create(_INFO, "a"),),
    _DISPENSER: (create(_DISPENSER, "d"),),
    _TRANSACTION: (*_BEGIN, call_on("t", "ITransaction", kind="get", gives="x")),
}


def needed(planned: Planned) -> Planned:
    """Return a history without the objects that it does nothing with but open, make and close them."""
    if planned.stage in SERVICE_STAGES:  # a queue that is open is active, whatever is done with it
        return planned
    acts, met = list(planned.acts), list(planned.met)
    for name in [act.gives if act.call is not None else act.object for act in planned.acts]:
        mine = [at for at, act in enumerate(acts) if name in _names(act)]
        if not name or any(met[at] or not _made_or_closed(acts[at], name) for at in mine):
            continue
        acts = [act for at, act in enumerate(acts) if at not in mine]
        met = [its for at, its in enumerate(met) if at not in mine]
    return replace(planned, acts=tuple(acts), met=tuple(met))


def _names(act: Act) -> set[str]:
    arguments = () if act.call is None else act.call.arguments
    given = {str(one.value) for one in arguments if one.vt in ("DISPATCH", "UNKNOWN")}
    looked_up = {str(one.value).removeprefix(LOOKUP) for one in arguments if str(one.value).startswith(LOOKUP)}
    return {act.object, act.gives or "", *given, *looked_up} - {""}


def _made_or_closed(act: Act, name: str) -> bool:
    if act.call is None:
        return act.coclass in ("MSMQQueue", _TRANSACTION, _DISPENSER)
    return (act.call.member == "Open" and act.gives == name) or (act.call.member == "Close" and act.object == name)


def drawn(member: Member, client: Client | Served, random: Random) -> Act | None:
    """Return a call of a member in one of its forms; None if the client has no object for it."""
    if isinstance(client, Served):
        return service_draws.drawn(member, client, random)
    held = client.world.known.held
    objects = [name for name, one in held.items() if one.coclass == member.coclass]
    if not objects:
        return None
    name, slot = random.choice(objects), random.choice(member.slots)
    if slot.kind == "put":
        if member.takes is None:
            return None
        return call_on(name, member.name, random.choice(values(member)), kind="put")
    if slot.kind == "putref":
        return call_on(name, member.name, random.choice((dispatch("i"), Variant("DISPATCH"))), kind="putref")
    if slot.kind == "get":
        return call_on(name, member.name, kind="get", gives=client.name("g") if isinstance(client, Followed) else None)
    arguments = [_value(member, one.name, name, client, random) for one in slot.arguments if not one.result]
    hands_out = any(one.result for one in slot.arguments)
    return call_on(name, member.name, *arguments, gives=client.name("r") if hands_out else None)


def _value(member: Member, argument: str, name: str, client: Client, random: Random) -> Variant:
    known = _VALUES.get(argument)
    if known is not None:
        return random.choice(known)
    held = client.world.known.held
    if argument == "Transaction":
        own = [dispatch(one) for one, its in held.items() if its.coclass == _TRANSACTION]
        wrong = [] if member.name == "Send" else [text("a")]
        return random.choice([MISSING, *map(long, range(4)), *own, *own, *wrong])
    if argument == "LookupId":
        return random.choice([*_identifiers(name, client.world), Variant("UI8", 0), text("0")])
    if argument == "DestinationQueue":
        return random.choice([dispatch(one) for one, its in held.items() if its.coclass == "MSMQQueue"])
    if argument == "varTransaction":
        attached = [one.gives for one in client.plan if one.call is not None and one.call.member == "ITransaction"]
        handles = [Variant("UNKNOWN", one) for one in attached if one is not None]
        return random.choice((*handles, Variant("UNKNOWN", "d"), dispatch("d"), text("a"), Variant("R8", "1")))
    raise KeyError(f"no values are known for the argument {argument} of {member.name}")


def _identifiers(name: str, world: World) -> list[Variant]:
    """Return the lookup identifiers of the messages that a queue has, or has had, each as number and text."""
    state, queue = world.states.likely, world.known.link(name).queue
    if queue not in state.queues:
        return [Variant("UI8", 7), text("7")]
    there = [one.message for one in state.queues[queue].positions if one.message in state.lookups]
    return [Variant(vt, f"{LOOKUP}{one}") for one in there for vt in ("UI8", "BSTR")]


_FLAGS: Final = (MISSING, truth(True), truth(False))
_VALUES: Final[Mapping[str, tuple[Variant, ...]]] = {
    **dict.fromkeys(("WantBody", "WantDestinationQueue", "WantConnectorType"), _FLAGS),
    **dict.fromkeys(("IsTransactional", "IsWorldReadable", "fRetaining", "fAsync"), _FLAGS),
    "ReceiveTimeout": (MISSING, long(0), long(1000), long(-1)),
    "Access": (long(RECEIVE), long(SEND), long(PEEK)),
    "ShareMode": (long(0), long(1)),
    "grfTC": (MISSING, long(2), long(4)),
    "grfRM": (MISSING, long(0), long(1)),
    "Event": (Variant("DISPATCH"),),
    "Cursor": (MISSING, *(long(number) for number in range(4))),
}


def followed(member: Member, act: Act, client: Client | Served) -> Plan:
    """Return what shows the effect of a call: what was put is got, and what was sent is received."""
    if isinstance(client, Served):
        return service_draws.followed(member, act, client)
    assert act.call is not None
    if member.name == "Send":
        target = str(act.call.arguments[0].value)
        reader = f"{target[0]}_r" if target[0] in _KINDS and target != "blank" else "i_r"
        return (receive(client.name("seen"), reader),)
    if _ends(member) and isinstance(client, Walk):
        look = (read(one, client.name("seen"), queue_object="j_p") for one in ("PeekCurrent", "PeekNext", "PeekNext"))
        return (call_on("j_p", "Reset"), *look)
    if member.name == "Create":
        return _shown(act.object, client)
    if act.call.kind == "put":
        readers = [
            name
            for name, other in CLASSES[member.coclass].items()
            if other.kept_as == member.kept_as and other.slot("get") is not None
        ]
        return tuple(call_on(act.object, name, kind="get") for name in readers[:1])
    return ()


def _shown(name: str, client: Client) -> Plan:
    """Refresh an object that has created a queue, and another one of its name, and look at what Create was told."""
    puts = [act.call for act in client.plan if act.object == name and act.call is not None and act.call.kind == "put"]
    other = client.name("a")
    named = next((one.arguments[0] for one in reversed(puts) if one.member == "PathName"), None)
    if named is None:
        return ()
    makes = (create(_INFO, other), call_on(other, "PathName", named, kind="put"))
    looks = (call_on(one, member, kind="get") for one in (name, other) for member in _CREATED)
    return (call_on(name, "Refresh"), *makes, call_on(other, "Refresh"), *looks)


_CREATED: Final = ("IsTransactional", "IsTransactional2", "IsWorldReadable", "IsWorldReadable2")


def prepared(member: Member, client: Client | Served, random: Random) -> bool:
    """Do something that changes the situation of the next call. Returns False if nothing was done."""
    if isinstance(client, Served):
        return service_draws.prepared(member, client, random)
    if isinstance(client, Walk) and _ends(member) and random.random() < 0.6:
        return client.attempt(_enlisted(client, random))
    if isinstance(client, Walk) and member.coclass != _MESSAGE:
        return client.attempt(_of_reader(client, random))
    if isinstance(client, Walk):
        made = random.choice((_told, _sent, _received))
        return client.attempt(made(member, client.name("m")) if random.random() < 0.7 else _put(member, client, random))
    if member.coclass == _MESSAGE and member.name != "Send" and random.random() < 0.5:
        return client.attempt(_put(member, client, random))
    return client.attempt(_OF_CLASS[member.name if member.name == "Send" else member.coclass](client, random))


def _put(member: Member, client: Client, random: Random) -> Plan:
    """Put a value by any member that keeps it where this one does."""
    every = CLASSES[member.coclass].values()
    writers = [one for one in every if one.kept_as == member.kept_as and one.takes is not None]
    objects = [name for name, one in client.world.known.held.items() if one.coclass == member.coclass]
    if not writers or not objects:
        return ()
    writer = random.choice(writers)
    assert writer.takes is not None
    return (call_on(random.choice(objects), writer.name, random.choice(writer.takes.inside()), kind="put"),)


def _of_reader(client: Walk, random: Random) -> Plan:
    if client.world.waiting:
        name, _ = next(iter(client.world.waiting.values()))
        queue = "j" if client.world.known.link(name).queue.endswith("-t") else "i"
        new = client.name("m")
        late = (call_on(new, "Send", dispatch(f"{queue}_s"), long(3 if queue == "j" else 0)),)
        label = (create(_MESSAGE, new), call_on(new, "Label", text(new), kind="put"))
        return random.choice(((*label, *late), (*label, *late), (passes(1000),)))
    ways: tuple[tuple[Callable[[Walk], Plan], int], ...] = (
        *((Walk.send, 6), (Walk.reads, 3), (Walk.next, 3), (Walk.begin, 1)),
        *((Walk.end, 1), (Walk.reset, 1), (_looked, 4), (_drained, 2), (_reopened, 1)),
    )
    if random.random() < 0.35:
        return random.choice((_held, _ranked, _taken, _beside))(client, random)
    return random.choices([way for way, _ in ways], [often for _, often in ways])[0](client)


def _ranked(client: Walk, random: Random) -> Plan:
    """Send three messages: of any priorities, or each in a transaction of its own."""
    acts, queue = list[Act](), random.choice("iij")
    ranks = [random.choice((0, 3, 5, 7)) for _ in range(3)]
    for rank in sorted(ranks, reverse=True) if random.random() < 0.5 else ranks:
        name = client.name("m")
        acts += (create(_MESSAGE, name), call_on(name, "Label", text(name), kind="put"))
        if queue == "i":
            acts.append(call_on(name, "Priority", long(rank), kind="put"))
        acts.append(call_on(name, "Send", dispatch(f"{queue}_s"), long(3 if queue == "j" else 0)))
    reader, how = f"{queue}_r", long(3 if queue == "j" else 0)
    first = (call_on(reader, "Reset"), read("PeekCurrent", client.name("r"), queue_object=reader))
    taken = read("ReceiveCurrent", client.name("r"), queue_object=reader, transaction=how)
    return (*acts, *random.choice(((), first, (*first, taken))))


def _taken(client: Walk, random: Random) -> Plan:
    """Put a cursor at a message, and receive it there or by another object."""
    queue, way = random.choice("iij"), random.choice("rp")
    sent = _ranked(client, random) if random.random() < 0.4 else ()
    reader, how = f"{queue}_{way}", long(3 if queue == "j" else 0)
    moves = (call_on(reader, "Reset"), read("PeekCurrent", client.name("r"), queue_object=reader))
    ways = ("Receive", "ReceiveCurrent", "ReceiveLastByLookupId") if way == "r" else ("Receive",)
    if random.random() < 0.2:
        return (*sent, *moves, call_on(f"{queue}_r", "Purge"))
    if random.random() < 0.2:
        return (*_short(client.name("m"), queue), *moves, passes(3_000))
    member = random.choice(ways)
    return (*sent, *moves, read(member, client.name("r"), queue_object=f"{queue}_r", transaction=how))


def _short(name: str, queue: str) -> Plan:
    """Send a message that expires soon."""
    lives = (call_on(name, one, long(LIFE_S), kind="put") for one in LIFETIMES)
    sends = call_on(name, "Send", dispatch(f"{queue}_s"), long(3 if queue == "j" else 0))
    return (create(_MESSAGE, name), call_on(name, "Label", text(name), kind="put"), *lives, sends)


def _held(client: Walk, random: Random) -> Plan:
    """Peek at a message with a cursor, and receive it in a transaction."""
    name, reader = client.name("t"), random.choice(("j_r", "j_p"))
    working = [one for one in client.world.known.held if state_of(client.world, one) == "working"]
    begin = () if working else (call_on("d", "BeginTransaction", gives=name),)
    moves: Plan = (call_on(reader, "Reset"), read("PeekCurrent", client.name("r"), queue_object=reader))
    within = dispatch(working[0] if working else name)
    if random.random() < 0.5:
        return (*begin, *moves, read("Receive", client.name("r"), queue_object="j_r", transaction=within))
    further = range(random.choice((1, 1, 2)))
    moves = (*moves, *(read("PeekNext", client.name("r"), queue_object=reader) for _ in further))
    second = read("ReceiveCurrent", client.name("r"), queue_object="j_r", transaction=within)
    return (*begin, *moves, second) if reader == "j_r" else ()


def _beside(client: Walk, random: Random) -> Plan:
    """Begin a transaction and end it, whatever others hold meanwhile."""
    new = client.name("t")
    return (call_on("d", "BeginTransaction", gives=new), call_on(new, random.choice(("Commit", "Abort"))))


def _enlisted(client: Walk, random: Random) -> Plan:
    """Send or receive in a transaction, in any way."""
    working = [one for one in client.world.known.held if state_of(client.world, one) == "working"]
    within, new, member = working[0] if working else client.name("t"), client.name("m"), random.choice(ENLISTING)
    begin = () if working else (call_on("d", "BeginTransaction", gives=within),)
    sent = (create(_MESSAGE, new), call_on(new, "Label", text(new), kind="put"))
    if member.coclass == _MESSAGE:
        return (*begin, *sent, call_on(new, "Send", dispatch("j_s"), dispatch(within)))
    known = [str(one.value).removeprefix(LOOKUP) for one in _identifiers("j_r", client.world)]
    named = random.choice(known) if known else None
    act = read(member, client.name("r"), queue_object="j_r", of=named, transaction=dispatch(within))
    return (*begin, *sent, call_on(new, "Send", dispatch("j_s"), long(3)), *_looked(client), act)


def _looked(client: Walk) -> Plan:
    """Put a cursor at the first message, and tell the lookup identifiers of all."""
    name = f"{_KINDS[len(client.plan) % 2]}_{'rp'[len(client.plan) // 2 % 2]}"
    first = read("PeekCurrent", client.name("r"), queue_object=name)
    return (first, read("PeekNext", client.name("r"), queue_object=name))


def _drained(client: Walk) -> Plan:
    """Receive what is at the head, so that a queue is empty in the end."""
    name = _KINDS[len(client.plan) % 2]
    how = long(3) if name == "j" else long(0)
    return tuple(read("Receive", client.name("r"), queue_object=f"{name}_r", transaction=how) for _ in range(2))


def _reopened(client: Walk) -> Plan:
    """Open a queue in place of one that is closed."""
    return (call_on(_KINDS[len(client.plan) % 2], "Open", long(RECEIVE), long(0), gives=client.name("q")),)


def _of_infos(client: Client, random: Random) -> Plan:
    """Do something with an object. A name is given to a new one alone: whether another keeps what was put is open."""
    name = random.choice([one for one, its in client.world.known.held.items() if its.coclass == _INFO])
    new = client.name("a")
    where = f"{PATH}-{new}"  # of its own: what others know of a queue that is made anew is not said
    known = [str(act.call.arguments[0].value) for act in client.plan if act.call is not None and _names_path(act)]
    ways: tuple[Plan, ...] = (
        (create(_INFO, new),),
        (create(_INFO, new), format_name(new, f"DIRECT=OS:{random.choice(known) if known else where}")),
        (make(name),),
        (call_on(name, "Refresh"),),
        (call_on(name, "Delete"),),
        (create(_INFO, new), path(new, where)),
    )
    return random.choice(ways)


def _names_path(act: Act) -> bool:
    put = act.call is not None and act.call.member == "PathName" and act.call.kind == "put"
    return put and act.call is not None and str(act.call.arguments[0].value).startswith(PATH)


def _of_transactions(client: Client, random: Random) -> Plan:
    new, handle = client.name("t"), client.name("x")
    ways: tuple[Plan, ...] = (
        (call_on("d", "BeginTransaction", gives=new), call_on(new, "ITransaction", kind="get", gives=handle)),
        (call_on("d", "BeginTransaction", gives=new), end(new, "Commit")),
        (create(_TRANSACTION, new),),
    )
    return random.choice(ways)


def _of_sends(client: Client, random: Random) -> Plan:
    working = [one for one in client.world.known.held if state_of(client.world, one) == "working"]
    if working and random.random() < 0.4:
        made, within = client.name("m"), random.choice(working)
        if random.random() < 0.5:
            return (end(within, random.choice(("Commit", "Abort"))),)
        return (create(_MESSAGE, made), call_on(made, "Send", dispatch("j_s"), dispatch(within)))
    new, made = client.name("t"), client.name("m")
    ways: tuple[Plan, ...] = (
        (call_on("d", "BeginTransaction", gives=new),),
        (create(_MESSAGE, made),),
        (create(_MESSAGE, made), call_on(made, "Send", dispatch("i_s"), long(0)), receive(client.name("r"), "i_r")),
    )
    return random.choice(ways)


def _of_messages(client: Client, random: Random) -> Plan:
    return (create(_MESSAGE, client.name("m")),)


def _of_dispensers(client: Client, random: Random) -> Plan:
    return (call_on("d", "BeginTransaction", gives=client.name("t")),)


_OF_CLASS: Final[Mapping[str, Callable[[Client, Random], Plan]]] = {
    "Send": _of_sends,
    _INFO: _of_infos,
    _MESSAGE: _of_messages,
    _DISPENSER: _of_dispensers,
    _TRANSACTION: _of_transactions,
}
