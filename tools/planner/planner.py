"""The planner: search and harvest in several processes, proof of what cannot be reached, and the cover.

The same tables give the same book: each lane walks a given number of times with its own seed, and all learn of each
other between rounds, in order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random
from sys import exc_info

from conformance.histories.features.constraints import REFUSED
from conformance.histories.situations.book import Book
from conformance.histories.situations.situation import Space, Vector, space
from conformance.histories.situations.specified_calls import default_model
from conformance.model import Model
from conformance.spec.catalogue import catalogue
from tools.planner.bounded_search import SCOPES, Scope, searched
from tools.planner.steered_search import Cover, Harvest, History, Walker

LANES = 2
DEEP = 6  # a scope that is not exhausted proves something if all its histories of so many calls were gone through
_SCOPE = "no history has it in the scope of "  # a proof begins so


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried.

    rounds: of walks. walks: of each lane in a round. states: the most of each scope; None for what each scope says.
    """

    rounds: int = 60
    walks: int = 600
    states: int | None = None
    seed: str = "situations"


@dataclass(slots=True)
class Scoped:
    """Result of searching a scope. vectors: by method. told: its name, with the number of calls if it is not exhausted.

    proves: it was gone through far enough to tell what cannot be reached.
    """

    told: str
    vectors: dict[str, list[Vector]] = field(default_factory=dict)
    histories: list[History] = field(default_factory=list)
    proves: bool = True


def plan(
    effort: Effort,
    tell: Callable[[str], None],
    *,
    until: float = float("inf"),
    scopes: Sequence[Scope] = SCOPES,
    start: Book | None = None,
) -> Book:
    """Make the book.

    tell: is told of progress. until: `time.monotonic()` after which no further round begins. start: an earlier book,
    whose histories are the first; if its tables are the same, its proofs hold too, and no scope is searched.
    """
    every, model = space(), default_model()
    known = [] if start is None else [one.calls for one in start.histories]
    same = start is not None and start.digest == every.digest
    proofs = _proofs(start) if start is not None and same else {}
    excluded = every.excluded()
    tell(f"{every.count} situations, {len(excluded)} of them do not count")
    found: list[tuple[History, tuple[int, ...]]] = []
    harvest = Harvest(every, bytearray(every.count))
    walker = Walker(model, harvest, effort.seed)
    for history in known:
        walker.learn(history)
    met = bytearray(harvest.met)
    harvest.take(excluded)
    with _lanes(walker, effort.seed) as lanes:
        shown = [] if same else _searched(lanes, scopes, effort.states, tell)
        proven = unreachable(every, met, shown) | proofs
        tell(f"{len(proven)} proven unreachable")
        for lane in lanes:
            lane.send(("met", proven))
        for number in range(effort.rounds):
            if time.monotonic() > until:
                tell(f"out of time after {number} rounds")
                break
            for lane in lanes:
                lane.send(("walk", effort.walks))
            came = [lane.recv() for lane in lanes]
            news: list[int] = []
            for histories in came:
                for history, numbers in histories:
                    new = [one for one in numbers if not met[one]]
                    if new:
                        found.append((history, tuple(new)))
                        news += new
                        for one in new:
                            met[one] = 1
            for lane in lanes:
                lane.send(("met", news))
            tell(f"round {number + 1}: {sum(met)} of {every.count} situations, {len(found)} histories")
    cover = Cover(model, every, excluded)
    for scoped in shown:
        for method, vectors in scoped.vectors.items():
            for vector in vectors:
                for one in every.numbers(method, vector):
                    met[one] = 1
    for history in (*known, *(history for history, _ in found)):
        cover.add(history)
    for scoped in shown:
        for history in scoped.histories:
            cover.add(history)
    tell(f"{sum(met)} situations met; choosing histories")
    for line in told_wrong(every, cover, excluded):
        tell(line)
    excluded = cover.without_met(excluded)
    chosen = cover.chosen()
    for planned in chosen:  # what a history was cut down to may meet more than the walk has told
        for numbers in planned.met:
            for one in numbers:
                met[one] = 1
    proven = unreachable(every, met, shown) | {one: why for one, why in proofs.items() if not met[one]}
    return Book(every.digest, tuple(chosen), dict(sorted((proven | excluded).items())))


def _proofs(book: Book) -> dict[int, str]:
    """Return what the scopes of a book prove unreachable."""
    return {one: why for one, why in book.unreachable.items() if why.startswith(_SCOPE)}


def told_wrong(every: Space, cover: Cover, excluded: Mapping[int, str]) -> list[str]:
    """Return what the tables say and walks refute: values outside a table, and combinations that cannot be."""
    lines = [f"no value of the table: {' '.join(stray)}" for stray in sorted(every.strays)]
    refuted: dict[str, str] = {}
    for number in cover.met():
        why = excluded.get(number)
        if why is not None and why != REFUSED:
            refuted.setdefault(why, str(every.situation(number)))
    return lines + [f"constraint refuted: {why}: {example}" for why, example in sorted(refuted.items())]


def _searched(
    lanes: Sequence[Connection], scopes: Sequence[Scope], states: int | None, tell: Callable[[str], None]
) -> list[Scoped]:
    """Let the lanes search all scopes; return what each shows, in the order of the scopes."""
    shown: dict[int, Scoped] = {}
    waiting = list(range(len(scopes)))
    busy: dict[int, int] = {}
    while waiting or busy:
        for number, lane in enumerate(lanes):
            if number not in busy and waiting:
                busy[number] = waiting.pop(0)
                lane.send(("search", (scopes[busy[number]], states)))
            if number in busy and lane.poll(0.05):
                scoped = shown[busy.pop(number)] = lane.recv()
                tell(f"scope {scoped.told}: {sum(map(len, scoped.vectors.values()))} vectors")
    return [shown[number] for number in range(len(scopes))]


def unreachable(every: Space, met: bytearray, shown: Sequence[Scoped]) -> dict[int, str]:
    """Return what the scopes prove unreachable, with the scope. met: a byte for each situation, 1 if it is met.

    A scope proves nothing about features of which values have met elsewhere that never meet in it: it is too small.
    """
    proven: dict[int, str] = {}
    for scoped in shown:
        for method, vectors in scoped.vectors.items() if scoped.proves else ():
            here = {one for vector in vectors for one in every.numbers(method, vector)}
            seen = [{vector[at] for vector in vectors} - {None} for at in range(len(every.features.get(method, ())))]
            for block in every.blocks(method):
                table = every.features[method]
                values = [
                    [at for at, one in enumerate(table[place].values) if one in seen[place]] for place in block.features
                ]
                sizes = [len(table[place].values) for place in block.features]
                never: list[int] = []
                for combination in product(*values):
                    at = 0
                    for size, one in zip(sizes, combination, strict=True):
                        at = at * size + one
                    if block.first + at not in here:
                        never.append(block.first + at)
                if not any(met[one] for one in never):
                    for one in never:
                        proven.setdefault(one, f"{_SCOPE}{scoped.told}")
    for method in sorted(every.core):
        for number, parts in every.parts(method):
            if not met[number] and number not in proven:
                why = next((proven[part] for part in parts if part in proven), None)
                if why is not None:
                    proven[number] = why
    return dict(sorted(proven.items()))


@contextmanager
def _lanes(walker: Walker, seed: str) -> Iterator[list[Connection]]:
    """Start the processes: each goes on from a copy of this walker, with random numbers of its own."""
    catalogue()  # read once, before the processes part
    context = get_context("fork")
    ends, processes = [], []
    for number in range(LANES):
        mine, theirs = context.Pipe()
        process = context.Process(target=_lane, args=(theirs, walker, f"{seed}/{number}"), daemon=True)
        process.start()
        theirs.close()
        ends.append(mine)
        processes.append(process)
    try:
        yield ends
    finally:
        for end in ends:
            with suppress(OSError):
                end.send(("stop", None))
        for process in processes:
            process.join(60 if exc_info()[0] is None else 0)
            if process.is_alive():
                process.kill()


def _lane(end: Connection, walker: Walker, seed: str) -> None:
    """Do what is asked until told to stop."""
    harvest, every, model = walker.harvest, walker.harvest.space, walker.model
    walker.random = Random(seed)
    try:
        while True:
            what, given = end.recv()
            if what == "stop":
                return
            if what == "walk":
                harvest.histories.clear()
                walker.renew()
                for _ in range(given):
                    walker.walk()
                end.send(list(harvest.histories))
            elif what == "met":
                harvest.take(given)
            else:
                end.send(_scoped(every, model, *given))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _scoped(every: Space, model: Model, scope: Scope, states: int | None) -> Scoped:
    found = searched(model, every, scope, states)
    told = scope.name if found.exhausted else f"{scope.name}, {found.depth} calls"
    seen: set[int] = set()
    histories: list[History] = []
    for method, known in found.vectors.items():
        for vector, calls in known.items():
            numbers = every.numbers(method, vector)
            if not seen.issuperset(numbers):
                seen.update(numbers)
                histories.append(calls)
    vectors = {method: list(each) for method, each in found.vectors.items()}
    return Scoped(told, vectors, histories, found.exhausted or found.depth >= DEEP)
