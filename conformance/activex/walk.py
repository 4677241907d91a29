"""Walks: plans that are drawn, step by step, from what a client can do with the objects it has.

The draw follows an ideal implementation, so a walk is a plan like any other. A step that leads where nothing is known
of the queue manager is not done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import Final

from conformance.activex.events import Link
from conformance.activex.members import Member
from conformance.activex.plans import PATH_NAME, Act, Plan, call_on, create, passes
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
from conformance.activex.tables import ATTACHED, OPENED
from conformance.activex.values import MISSING, Variant, long, text, truth
from conformance.activex.world import WANTS, World
from conformance.walks import Choice, steps

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
    call_on("i", "Open", long(SEND), long(0), gives="i-s"),
    call_on("i", "Open", long(RECEIVE), long(0), gives="i-r"),
    call_on("j", "Open", long(SEND), long(0), gives="j-s"),
    call_on("j", "Open", long(RECEIVE), long(0), gives="j-r"),
)


class Walk:
    """One walk. plan: the acts so far."""

    def __init__(self, seed: int, beginning: Plan = BEGINNING) -> None:
        self._random = Random(seed)
        self._objects = Objects({})
        self._count = 0
        self.plan: list[Act] = []
        for act in beginning:
            self._do(act)

    @property
    def world(self) -> World:
        """The objects as the acts so far have left them."""
        return self._objects.world

    def go(self, most: int) -> None:
        """Draw what the client does next, and do it, so many times."""
        for acts in steps(lambda: self, _CHOICES, self._random, most * TRIES):
            most -= self.attempt(acts)
            if most == 0:
                return

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

    def _transaction(self, queue: str) -> Variant:
        """Return a Transaction argument that suits the queue."""
        if self._link(queue).queue != TRANSACTIONAL:
            return self._random.choice((MISSING, long(0), long(1), long(2)))
        own = [dispatch(name) for name in self._transactions()]
        return self._random.choice((long(3), *own, *own))

    def open(self) -> Plan:
        """Open a queue, once in a while for this client alone."""
        if len(self._queues(opened=True)) >= MOST_QUEUES + 4:
            return ()
        access = self._random.choice((RECEIVE, SEND, PEEK))
        share = DENY_RECEIVE if access != SEND and self._random.random() < 0.1 else 0
        info = self._random.choice(("i", "j"))
        return (call_on(info, "Open", long(access), long(share), gives=self.name("q")),)

    def close(self) -> Plan:
        """Close a queue object."""
        return (call_on(self._random.choice(self._queues()), "Close"),) if len(self._queues(opened=True)) > 4 else ()

    def send(self) -> Plan:
        """Send a new message."""
        targets = [name for name in self._queues(opened=True) if self._link(name).access == "send"]
        if not targets:
            return ()
        name, queue = self.name("m"), self._random.choice(targets)
        more = []
        if self._random.random() < 0.3 and self._link(queue).queue != TRANSACTIONAL:
            more.append(call_on(name, "Priority", long(self._random.randint(0, 7)), kind="put"))
        if self._random.random() < 0.3:
            more.append(call_on(name, "AppSpecific", long(self._random.randint(0, 1000)), kind="put"))
        return (*message(name, body=True), *more, call_on(name, "Send", dispatch(queue), self._transaction(queue)))

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
        transaction = self._transaction(queue) if receives(member) else MISSING
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
        return tuple(call_on(act.gives, name, kind="get") for name in (*names, "Priority", "AppSpecific"))

    def _sent_to(self, queue: str) -> str | None:
        state = self._objects.world.states.likely
        positions = state.queues[self._link(queue).queue].positions if self._link(queue).queue else ()
        known = [one.message for one in positions if one.message in state.lookups]
        return self._random.choice(known) if known else None

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
        name = self._random.choice(working)
        commit = call_on(name, "Commit", MISSING, MISSING, MISSING)
        return (commit if self._random.random() < 0.5 else call_on(name, "Abort", MISSING, MISSING),)

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


def walk(seed: int, most: int = STEPS) -> Plan:
    """Return the walk of a seed."""
    made = Walk(seed)
    made.go(most)
    return tuple(made.plan)


def walks(count: int, most: int = STEPS) -> Iterator[Plan]:
    """Yield walks with the seeds 0, 1, 2 and so on."""
    for seed in range(count):
        yield walk(seed, most)
