"""Walks: plans that are drawn, step by step, from what a client can do with the objects it has.

The draw follows an ideal implementation, so a walk is a plan like any other. A step that leads where nothing is known
of the queue manager is not done. In the end every transaction is ended, and every queue is drained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations, islice
from random import Random
from typing import Final

from conformance.activex.events import DEAD_LETTER, Link
from conformance.activex.expected import Readings
from conformance.activex.features import Feature, features
from conformance.activex.members import Member
from conformance.activex.plans import DIRECT_NAME, LOOKUP, PATH_NAME, SYSTEM_NAME, Act, Plan, call_on, create, passes
from conformance.activex.plans_reads import (
    AT_ONCE,
    DENY_RECEIVE,
    GETTERS,
    NO_LOOKUP,
    PEEK,
    READS,
    RECEIVE,
    SEND,
    WRONG_TRANSACTIONS,
    by_lookup,
    dispatch,
    message,
    read,
    receives,
    steps_on,
)
from conformance.activex.reference_answers import Objects, answer
from conformance.activex.tables import ATTACHED, CLASSES, OPENED
from conformance.activex.values import MISSING, Variant, long, text, truth
from conformance.activex.world import WANTS, World
from conformance.verdict import Outcome
from conformance.walks import Choice, Steering, examples, steps

STEPS: Final = 30
TRIES: Final = 20
MOST_STATES: Final = 8
MOST_QUEUES, MOST_TRANSACTIONS = 5, 3
TRANSACTIONAL: Final = f"{PATH_NAME}-t"
BEGINNING: Final[Plan] = (
    create("MSMQTransactionDispenser", "d"),
    create("MSMQQueueInfo", "i"),
    call_on("i", "PathName", text(PATH_NAME), kind="put"),
    call_on("i", "Create", MISSING, MISSING),
    create("MSMQQueueInfo", "j"),
    call_on("j", "PathName", text(TRANSACTIONAL), kind="put"),
    call_on("j", "Create", truth(True), MISSING),
    call_on("i", "Open", long(SEND), long(0), gives="i_s"),
    call_on("i", "Open", long(RECEIVE), long(0), gives="i_r"),
    call_on("j", "Open", long(SEND), long(0), gives="j_s"),
    call_on("j", "Open", long(RECEIVE), long(0), gives="j_r"),
)

PLACES: Final[Plan] = (
    *BEGINNING[:3],
    call_on("i", "Journal", long(1), kind="put"),
    *BEGINNING[3:],
    create("MSMQQueueInfo", "k"),
    call_on("k", "FormatName", text(f"{DIRECT_NAME};JOURNAL"), kind="put"),
    call_on("k", "Open", long(RECEIVE), long(0), gives="k_r"),
    create("MSMQQueueInfo", "l"),
    call_on("l", "FormatName", text(f"{DIRECT_NAME};sub"), kind="put"),
)
"""The beginning of a walk: a plain queue, a transactional one, and the journal and a subqueue of the plain one."""
DEAD_LETTERS: Final = {"n": "DEADLETTER", "o": "DEADXACT"}
"""Object to the dead-letter queue that it names."""
LIFE_S: Final = 1
LIFETIMES: Final = ("MaxTimeToReachQueue", "MaxTimeToReceive")
"""Members that limit a message's time; both are put, as readings differ in what one does to the other."""
MOST_DRAINED: Final = 30
CARRIED: Final = ("AppSpecific", "CorrelationId", "Extension", "HashAlgorithm", "EncryptAlgorithm", "Trace")
"""Properties of a message that a send takes along as they are."""
Shown = tuple[str, ...]


class Walk:
    """One walk. plan: the acts so far. timed: messages have times that end, which only a virtual clock can wait for."""

    def __init__(self, random: Random, beginning: Plan = BEGINNING, *, timed: bool = True) -> None:
        self._random = random
        self._timed = timed
        self._objects = Objects({})
        self._count = 0
        self.plan: list[Act] = []
        for act in beginning:
            self._do(act)

    @property
    def world(self) -> World:
        """The objects as the acts so far have left them."""
        return self._objects.world

    def go(self, most: int, steering: Steering[Walk, Plan] | None = None) -> None:
        """Draw what the client does next, and do it, so many times."""
        for acts in steps(lambda: self, _CHOICES, self._random, most * TRIES, steering):
            shown = () if steering is None else tuple(self.shows(acts))
            done = self.attempt(acts)
            if done and steering is not None:
                steering.took(shown)
            most -= done
            if most == 0:
                return

    def shows(self, acts: Plan) -> Iterator[Shown]:
        """Yield the pairs of features that acts show here, each with its case."""
        for act in acts:
            held = self.world.known.held.get(act.object)
            coclass = "MSMQMessage" if held is None else held.coclass
            if act.call is None or act.call.member not in CLASSES[coclass]:
                continue
            every = ((one.name, one.of(self.world, act)) for one in _features(coclass, act.call.member))
            cases = [(name, case) for name, case in every if case is not None]
            for (one, first), (other, second) in combinations(cases, 2):
                yield act.call.member, one, first, other, second

    def conclude(self) -> None:
        """End every transaction, by Commit and by Abort in turn, and take what is left out of the queues."""
        for name in dict.fromkeys(name for name, _ in self.world.waiting.values()):
            self.attempt((call_on(name, "Close"),))  # a read that waits may be part of a transaction
        for _ in range(2 - len(self._transactions())):
            self.attempt(self.begin())
        ways = self._random.sample((self._commit, self._abort), 2)
        for at, name in enumerate(self._transactions()):
            if not any(True for _ in self.world.states.likely.held_by(self._link(name).transaction or "")):
                self.attempt(self._sent(self._opened(TRANSACTIONAL, "send", "j", SEND), dispatch(name)))
            self.attempt((ways[at % 2](name),))
        for name in self._queues(opened=True):
            if (self._link(name).access, self._link(name).share) == ("peek", "deny_receive"):
                self.attempt((call_on(name, "Close"),))  # nobody may receive beside it
        if any("TimeToBeReceived" in values for values in self.world.known.sent.values()):
            self.attempt((passes(2 * LIFE_S * 1000),))
        for info in ("i", "j", "k"):
            if info in self.world.known.held:
                self._drain(self._link(f"{info}_r").queue, info)
        for info, name in DEAD_LETTERS.items() if self._timed and "k" in self.world.known.held else ():
            put = call_on(info, "FormatName", text(f"{SYSTEM_NAME};{name}"), kind="put")
            self.attempt(
                (create("MSMQQueueInfo", info), put, call_on(info, "Open", long(RECEIVE), long(0), gives=f"{info}_r"))
            )
            self._drain(self._link(f"{info}_r").queue, info)

    def _opened(self, queue: str, access: str, info: str, number: int) -> str:
        """Return an object that is open for this access to a queue, or the name of one that is opened now."""
        for name in self._queues(opened=True):
            if (self._link(name).queue, self._link(name).access) == (queue, access):
                return name
        name = self.name("q")
        self.attempt((call_on(info, "Open", long(number), long(0), gives=name),))
        return name

    def _drain(self, queue: str, info: str) -> None:
        reader = self._opened(queue, "receive", info, RECEIVE)
        way = self._random.choice(("Receive", "ReceiveCurrent", "ReceiveFirstByLookupId", "ReceiveLastByLookupId"))
        if reader not in self.world.known.held or self._link(reader).access != "receive":
            return
        if way == "ReceiveCurrent":
            self.attempt((call_on(reader, "Reset"),))
        left = sum(one.available for one in self.world.states.likely.queues[queue].positions)
        for _ in range(min(left, MOST_DRAINED) + 1):
            how = self._random.choice((long(3), long(3), MISSING)) if queue == TRANSACTIONAL else MISSING
            for member in (way, "Receive"):
                if self.attempt((read(member, self.name("r"), queue_object=reader, transaction=how),)):
                    break

    def attempt(self, acts: Plan) -> bool:
        """Do some acts, unless one of them leads where nothing is known. Returns False if nothing was done."""
        before, done = self._objects.world, len(self.plan)
        for act in acts:
            self._do(act)
        if acts and not self._objects.world.lost and len(self._objects.world.states.states) < MOST_STATES:
            return True
        self._objects.world = before
        del self.plan[done:]
        return False

    def _do(self, act: Act) -> None:
        seen, ended = answer(self._objects, act)
        self._objects.do(act, seen, ended)
        self.plan.append(act)

    def name(self, stem: str) -> str:
        """Return a name that no object has."""
        self._count += 1
        return f"{stem}{self._count}"

    def _queues(self, *, opened: bool = False) -> list[str]:
        held = self._objects.held
        known = [name for name, one in held.items() if one.coclass == "MSMQQueue"]
        return [name for name in known if not opened or held[name].state == OPENED]

    def _link(self, name: str) -> Link:
        return self._objects.world.known.link(name)

    def _transactions(self) -> list[str]:
        world = self._objects.world
        held = [name for name, one in world.known.held.items() if one.coclass == "MSMQTransaction"]
        working = world.states.likely.transactions
        return [name for name in held if world.known.held[name].state == ATTACHED and working[name].ended is None]

    def _transaction(self, queue: str, *, reads: bool = False) -> Variant:
        """Return a Transaction argument that suits the queue. A receive may be part of no transaction."""
        if self._link(queue).queue != TRANSACTIONAL:
            return self._random.choice((MISSING, long(0), long(1), long(2)))
        own = [dispatch(name) for name in self._transactions()]
        alone = (long(3), *((MISSING, long(0)) if reads else ()))
        suitable: tuple[Variant, ...] = (*alone, *own * len(alone))
        return self._random.choice(suitable)

    def open(self) -> Plan:
        """Open a queue, once in a while for this client alone."""
        if len(self._queues(opened=True)) >= MOST_QUEUES + 4:
            return ()
        access = self._random.choice((RECEIVE, SEND, PEEK))
        share = DENY_RECEIVE if access != SEND and self._random.random() < 0.1 else 0
        info = self._random.choice([name for name in "ijkl" if name in self._objects.held])
        return (call_on(info, "Open", long(access), long(share), gives=self.name("q")),)

    def close(self) -> Plan:
        """Close a queue object."""
        return (call_on(self._random.choice(self._queues()), "Close"),) if len(self._queues(opened=True)) > 4 else ()

    def send(self) -> Plan:
        """Send a new message."""
        targets = [name for name in self._queues(opened=True) if self._link(name).access == "send"]
        if not targets:
            return ()
        queue = self._random.choice(targets)
        return self._sent(queue, self._transaction(queue))

    def _sent(self, queue: str, transaction: Variant) -> Plan:
        """Return the making and sending of a message; each property is put once, or twice."""
        name, chance = self.name("m"), self._random.random
        puts: list[Act] = []
        first = ("Priority",) if self._link(queue).queue != TRANSACTIONAL else ()
        for member in (*first, self._random.choice(CARRIED)):
            takes = CLASSES["MSMQMessage"][member].takes
            if takes is not None and chance() < 0.4:
                values = self._random.choices(takes.inside(), k=1 + (chance() < 0.5))
                puts += (call_on(name, member, value, kind="put") for value in values)
        made = message(name, body=True)
        if chance() < 0.1 and self._timed:
            puts += (call_on(name, member, long(LIFE_S), kind="put") for member in LIFETIMES)
        if chance() < 0.3 and self._timed:
            puts.append(call_on(name, "Journal", long(DEAD_LETTER), kind="put"))
        again = (call_on(name, "Label", text("before"), kind="put"),) if chance() < 0.1 else ()
        return (made[0], *again, *made[1:], *puts, call_on(name, "Send", dispatch(queue), transaction))

    def reads(self) -> Plan:
        """Call a read that may find something."""
        queues = self._queues(opened=True)
        queue, member = self._random.choice(queues), self._random.choice(READS)
        given: dict[str, Variant] = {}
        for one in member.slots[0].arguments:
            if one.name in WANTS.values():
                given[one.name] = self._random.choice((MISSING, truth(True), truth(False)))
        of = self._sent_to(queue) if by_lookup(member) else None
        if of is None and any(one.name == "LookupId" for one in member.slots[0].arguments):
            return ()
        transaction = self._transaction(queue, reads=True) if receives(member) else MISSING
        timeout = self._random.choices((AT_ONCE, long(1000), MISSING), (8, 1, 1))[0]
        gives = self.name("r")
        act = read(member, gives, queue_object=queue, of=of, transaction=transaction, timeout=timeout, given=given)
        return (act, *self._looks(member, act))

    def _looks(self, member: Member, act: Act) -> Plan:
        if self._random.random() < 0.7 or act.gives is None:
            return ()
        seen, _ = answer(self._objects, act)
        if seen is None or not seen.gives:
            return ()
        asked = {one.name for one in member.slots[0].arguments}
        names = [name for name, want in WANTS.items() if want in asked]
        return tuple(call_on(act.gives, name, kind="get") for name in (*names, *CARRIED))

    def _sent_to(self, queue: str) -> str | None:
        state = self._objects.world.states.likely
        positions = state.queues[self._link(queue).queue].positions if self._link(queue).queue else ()
        known = [one.message for one in positions if one.message in state.lookups]
        return self._random.choice(known) if known else None

    def unit(self) -> Plan:
        """Send and receive in a transaction, and beside it, and end it: not always."""
        sender, reader = (self._opened(TRANSACTIONAL, *how) for how in (("send", "j", SEND), ("receive", "j", RECEIVE)))
        working = self._transactions()
        name = self._random.choice(working) if working else self.name("t")
        acts = list[Act](() if working else (call_on("d", "BeginTransaction", gives=name),))
        for _ in range(self._random.choice((1, 2, 3))):
            if self._random.random() < 0.5:
                acts += self._sent(sender, dispatch(name))
                continue
            member = self._random.choice([one for one in READS if receives(one) and "LookupId" not in one.name])
            how = self._random.choice((dispatch(name), dispatch(name), MISSING))
            acts.append(read(member, self.name("r"), queue_object=reader, transaction=how))
        ways = (self._commit, self._abort)
        return (*acts, *((self._random.choice(ways)(name),) if self._random.random() < 0.6 else ()))

    def again(self) -> Plan:
        """Reset the cursor of a queue object, and go on with it."""
        name = self._random.choice(self._queues(opened=True))
        first = [one for one in READS if one.name.startswith(("PeekCurrent", "ReceiveCurrent", "PeekNext"))]
        moves = [read(self._random.choice(first), self.name("r"), queue_object=name) for _ in range(2)]
        return (call_on(name, "Reset"), *moves)

    def next(self) -> Plan:
        """Go on with the cursor of a queue object."""
        cursors = self._objects.world.states.likely.cursors
        named = {self._link(name).cursor: name for name in self._queues(opened=True)}
        standing = [named[one.name] for one in cursors.values() if one.message is not None and one.name in named]
        if not standing:
            return ()
        member = self._random.choice([one for one in READS if steps_on(one)])
        return (read(member, self.name("r"), queue_object=self._random.choice(standing)),)

    def mistake(self) -> Plan:
        """Call a read in a way that its preconditions refuse."""
        queue, member = self._random.choice(self._queues()), self._random.choice(READS)
        given: dict[str, Variant] = {}
        if by_lookup(member):
            given["LookupId"] = self._random.choice((*NO_LOOKUP, Variant("UI8", 7)))
        act = read(member, self.name("r"), queue_object=queue, given=given)
        if receives(member) and self._random.random() < 0.5:
            act = read(
                member,
                self.name("r"),
                queue_object=queue,
                transaction=self._random.choice(WRONG_TRANSACTIONS),
                given=given,
            )
        seen, _ = answer(self._objects, act)
        return (act,) if seen is not None and seen.status >= 0x80000000 else ()

    def begin(self) -> Plan:
        """Begin a transaction."""
        many = len(self._transactions()) >= MOST_TRANSACTIONS
        return () if many else (call_on("d", "BeginTransaction", gives=self.name("t")),)

    def end(self) -> Plan:
        """End a transaction."""
        working = self._transactions()
        if not working:
            return ()
        return (self._random.choice((self._commit, self._abort))(self._random.choice(working)),)

    def _commit(self, name: str) -> Act:
        usual = (truth(False), long(2), long(0))
        return call_on(name, "Commit", *(self._random.choice((MISSING, one)) for one in usual))

    def _abort(self, name: str) -> Act:
        return call_on(name, "Abort", *(self._random.choice((MISSING, truth(False))) for _ in range(2)))

    def reset(self) -> Plan:
        """Reset or, less often, purge."""
        name = self._random.choice(self._queues(opened=True))
        return (call_on(name, "Reset" if self._random.random() < 0.8 else "Purge"),)

    def time(self) -> Plan:
        """Let time pass while a read waits."""
        return (passes(1000),) if self._objects.world.waiting else ()

    def look(self) -> Plan:
        """Look at a property of a queue object."""
        return (call_on(self._random.choice(self._queues()), self._random.choice(GETTERS).name, kind="get"),)


_KINDS: Final = (
    (Walk.reads, 12),
    (Walk.send, 8),
    (Walk.unit, 4),
    (Walk.again, 2),
    (Walk.next, 3),
    (Walk.mistake, 2),
    (Walk.begin, 2),
    (Walk.end, 2),
    (Walk.open, 2),
    (Walk.reset, 1),
    (Walk.close, 1),
    (Walk.time, 2),
    (Walk.look, 1),
)


def _choice(draw: Callable[[Walk], Plan]) -> Choice[Walk, Plan]:
    """Return the choice of a kind of acts: one that is drawn, again and again where a draw has none."""
    return lambda walk: tuple(islice(filter(None, (draw(walk) for _ in range(TRIES))), 1))


_CHOICES: Final = tuple(choice for draw, weight in _KINDS for choice in (_choice(draw),) * weight)


@cache
def _features(coclass: str, member: str) -> tuple[Feature, ...]:
    return features(CLASSES[coclass][member])


def walks(
    seed: int, count: float, most: int = STEPS, *, subqueues: bool = True, virtual: bool = True
) -> Iterator[Plan]:
    """Yield the walks of a run, each steered to what those before it have shown least.

    subqueues: the implementation has subqueues; without, nothing names one. virtual: it has a virtual clock; without,
    no message expires, and nothing reads the dead-letter queues.
    """
    places = PLACES if subqueues else PLACES[:-2]
    steering: Steering[Walk, Plan] = Steering(lambda walk, acts: walk.shows(acts), lambda walk, acts: "")
    for random in examples(seed, count):
        made = Walk(random, places, timed=virtual)
        made.go(most, steering)
        made.conclude()
        yield tuple(made.plan)


def walk(seed: int, most: int = STEPS) -> Plan:
    """Return the first walk of a seed."""
    return next(walks(seed, 1, most))


def closed(acts: Iterable[Act]) -> Plan:
    """Return acts without those that need an object, or a message, that no act before them makes or sends."""
    made: set[str] = set()
    out: list[Act] = []
    for act in acts:
        arguments = () if act.call is None else act.call.arguments
        named = {str(one.value) for one in arguments if one.vt in ("DISPATCH", "UNKNOWN") and one.value is not None}
        named |= {str(one.value).removeprefix(LOOKUP) for one in arguments if str(one.value).startswith(LOOKUP)}
        if act.call is not None and not made.issuperset({act.object, *named}):
            continue
        made |= {act.object, act.gives or act.object}
        out.append(act)
    return tuple(out)


def followed(acts: Plan, readings: Readings) -> bool:
    """Tell whether the reference passes a plan, and knows at each act what the queue manager has."""
    objects = Objects(readings)
    for act in acts:
        if act.call is not None and act.object not in objects.held:
            return False
        seen, ended = answer(objects, act)
        verdicts = objects.do(act, seen, ended)
        if objects.world.lost or any(one.outcome is Outcome.FAIL for one in verdicts):
            return False
    return True
