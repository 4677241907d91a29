"""The model gone through without an implementation: breadth first at a small size, and in seeded walks of every plan.

The outcomes the model allows are taken as what an implementation answered, so every conforming one is covered. Run as
a program, this prints how far the model is reached, like a coverage report.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import conformance.model
from conformance.histories.operations.operation import Offer
from conformance.histories.operations.table import ACTIONS, METHODS
from conformance.histories.walk import Plan, set_up
from conformance.model import BadCall, Call, Model, State
from conformance.model.expected import Completion, Expected, Fails, Succeeds, Tells
from conformance.model.state import Queue
from conformance.spec.catalogue import catalogue

ROOM = Path(conformance.model.__file__).parent
NO_OUTCOME = "leave no outcome"
"""What the model says of itself, and not of the call."""
OFFER = Offer(METHODS, virtual=True)


@dataclass(frozen=True, slots=True)
class Step:
    """One call in one state, and one outcome that is allowed. scope: where it was met."""

    scope: str
    before: State
    call: Call
    expected: Expected


def begun(model: Model, *calls: Call) -> State:
    """The state after calls that go as the text demands."""
    state = State()
    for call in calls:
        state = followed(model.allowed(state, call).outcomes[0])
    return state


def followed(expected: Expected) -> State:
    """The state after this outcome, with the lookup identifiers that its messages would have shown."""
    state = expected.next
    results = [expected.result, *(completion.result for completion in expected.completions)]
    given = [result.message for result in results if isinstance(result, Succeeds) and result.message is not None]
    numbers = {}
    for name in given:
        for queue in state.queues.values():
            position = queue.find(name)
            if position is not None and name not in state.lookups:
                numbers[name] = position.rank[0] * 1_000_000 + position.rank[1]
    return replace(state, lookups={**state.lookups, **numbers}) if numbers else state


def normal(state: State) -> object:
    """The state with its times replaced by their order, so that histories that differ in nothing else are one."""
    times = sorted(
        {position.rank[1] for queue in state.queues.values() for position in queue.positions}
        | {position.since for queue in state.queues.values() for position in queue.positions}
        | {position.locked_at for queue in state.queues.values() for position in queue.positions}
        | {cursor.ended_at for cursor in state.cursors.values() if cursor.ended_at is not None}
        | {cursor.at[1] for cursor in state.cursors.values()}
        | {time for queue in state.queues.values() for time in _held_times(queue)}
    )
    place = {time: number for number, time in enumerate(times)}
    queues = {
        name: replace(
            queue,
            outgoing=queue.outgoing
            and replace(
                queue.outgoing,
                since=place[queue.outgoing.since],
                paused=None if queue.outgoing.paused is None else place[queue.outgoing.paused],
            ),
            positions=tuple(
                replace(
                    p,
                    rank=(p.rank[0], place[p.rank[1]]),
                    since=place[p.since],
                    locked_at=place[p.locked_at],
                    identifier=p.identifier and 1,
                    claim="",
                )
                for p in queue.positions
            ),
        )
        for name, queue in state.queues.items()
    }
    cursors = {
        name: replace(
            cursor,
            at=(cursor.at[0], place[cursor.at[1]]),
            ended_at=None if cursor.ended_at is None else place[cursor.ended_at],
        )
        for name, cursor in state.cursors.items()
    }
    waiters = tuple(replace(w, deadline=None if w.deadline is None else w.deadline - state.now) for w in state.waiters)
    known = dict.fromkeys(state.lookups, 0)
    now = 0 if state.keeping is None else state.now  # times to be received run
    return replace(state, queues=queues, cursors=cursors, waiters=waiters, now=now, waited=(), lookups=known).key()


def _held_times(queue: Queue) -> list[int]:
    found = queue.outgoing
    return [] if found is None else [found.since, *(() if found.paused is None else (found.paused,))]


@dataclass(frozen=True, slots=True)
class Scope:
    """A small manager and what can be asked of it.

    opening: the calls before. calls: what may come next in a state. last: calls after which the history ends.
    """

    name: str
    opening: tuple[Call, ...]
    calls: Callable[[State], Iterable[Call]]
    depth: int
    last: Callable[[State], Iterable[Call]] = lambda state: ()


def explored(model: Model, scope: Scope) -> Iterator[Step]:
    """Every step of every history up to the scope's depth, breadth first."""
    level = [begun(model, *scope.opening)]
    seen: set[object] = set()
    for _ in range(scope.depth):
        following: list[State] = []
        for state in level:
            for ends, calls in ((False, scope.calls(state)), (True, scope.last(state))):
                for call in calls:
                    try:
                        outcomes = model.allowed(state, call).outcomes
                    except BadCall as bad:
                        if NO_OUTCOME in str(bad):
                            raise
                        continue
                    for expected in outcomes:
                        yield Step(scope.name, state, call, expected)
                        if ends:
                            continue
                        after = followed(expected)
                        key = normal(after)
                        if key not in seen:
                            seen.add(key)
                            following.append(after)
        level = following


def walked(model: Model, name: str, plan: Plan, seed: int, walks: int, steps: int) -> Iterator[Step]:
    """Seeded walks of a plan of the suites, each outcome chosen among the allowed ones. A walk assumes as it goes."""
    random = Random(f"{name} {seed}")
    actions = [ACTIONS[action] for action in plan.actions if ACTIONS[action].offered(OFFER)]
    for _ in range(walks):
        state = begun_plan(model, plan)
        for _ in range(steps):
            options = [calls for action in actions if (calls := action.choose(state, OFFER))]
            if not options:
                break
            call = random.choice(random.choice(options))
            outcomes = model.allowed(state, call).outcomes
            for expected in outcomes:
                yield Step(name, state, call, expected)
            chosen = random.choice(outcomes)
            assumed = {**state.assumed, **{reading: frozenset({way}) for reading, way in chosen.readings}}
            state = replace(followed(chosen), assumed=assumed)


class SetUp:
    """What `set_up` needs of a history: calls are answered as the text demands."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.state = State()

    def do(self, call: Call) -> None:
        """Make a call."""
        self.state = followed(self.model.allowed(self.state, call).outcomes[0])

    def run(self, *calls: Call) -> None:
        """Several calls in turn."""
        for call in calls:
            self.do(call)


def begun_plan(model: Model, plan: Plan) -> State:
    """The state in which the walks of a plan begin."""
    history = SetUp(model)
    set_up(history, plan)  # type: ignore[arg-type]
    return history.state


# How far the model's code is reached ---------------------------------------------------------------------------------

MADE = (Expected, Fails, Completion)
"""What a branch of the model ends in."""


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A place in the model where an outcome is made. guard: the conditions it stands under."""

    module: str
    line: int
    column: int
    kind: str = field(compare=False)
    function: str = field(compare=False)
    guard: str = field(compare=False)

    def __str__(self) -> str:
        under = f" if {self.guard}" if self.guard else ""
        return f"{self.module}.py:{self.line} {self.kind} in {self.function}{under}"


@cache
def sites() -> tuple[Site, ...]:
    """Every place in the model where an outcome is made, from its source."""
    found: list[Site] = []
    for path in sorted(ROOM.glob("*.py")):
        found += _sites(path.stem, ast.parse(path.read_text(encoding="utf-8")), "", ())
    return tuple(found)


def _sites(module: str, node: ast.AST, function: str, guards: tuple[str, ...]) -> Iterator[Site]:
    kinds = {kind.__name__ for kind in MADE}
    if isinstance(node, ast.FunctionDef):
        function, guards = node.name, ()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds:
        yield Site(module, node.lineno, node.col_offset, node.func.id, function, " and ".join(guards))
    if isinstance(node, ast.If):
        test = ast.unparse(node.test)
        for child in node.body:
            yield from _sites(module, child, function, (*guards, test))
        for child in node.orelse:
            yield from _sites(module, child, function, (*guards, f"not ({test})"))
        return
    for child in ast.iter_child_nodes(node):
        yield from _sites(module, child, function, guards)


_BLAMING = (
    "journals",
    "repeated",
    "stray_blame",
)  # they name what verdicts elsewhere are about: classes of reports, messages met twice


def literals() -> Iterator[tuple[str, str]]:
    """Every requirement that the source of the model names in full, and where; but not where verdicts are made."""
    known = catalogue().requirements
    for path in sorted(ROOM.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "from conformance.verdict import" not in source and path.stem not in _BLAMING:
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known:
                    yield f"{path.name}:{node.lineno}", node.value


@dataclass
class Reached:
    """Which sites made an outcome, how often, and for which requirements."""

    counts: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    requirements: dict[tuple[str, int, int], set[str]] = field(default_factory=dict)

    def missing(self) -> list[Site]:
        """The sites that made none."""
        return [site for site in sites() if (site.module, site.line, site.column) not in self.counts]

    def named(self, site: Site) -> frozenset[str]:
        """The requirements that outcomes made there name."""
        return frozenset(self.requirements.get((site.module, site.line, site.column), ()))

    def report(self) -> str:
        """A line a module: places, reached, requirements named there, lines that were not reached."""
        lines = [f"{'module':<16}{'places':>8}{'reached':>9}{'demands':>9}   not reached"]
        for module in dict.fromkeys(site.module for site in sites()):
            all_of = [site for site in sites() if site.module == module]
            gone = [site for site in self.missing() if site.module == module]
            demands = frozenset[str]().union(*(self.named(site) for site in all_of))
            lost = ", ".join(str(site.line) for site in gone)
            lines.append(f"{module:<16}{len(all_of):>8}{len(all_of) - len(gone):>9}{len(demands):>9}   {lost}")
        return "\n".join(line.rstrip() for line in lines)


@contextmanager
def recording() -> Iterator[Reached]:
    """Note where in the model each outcome is made, while the context lasts."""
    for module in [module for name, module in sys.modules.items() if name.startswith("conformance.model.")]:
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()  # an outcome kept from an earlier test would not be made again, and not be noted
    reached = Reached()
    places: dict[tuple[CodeType, int], tuple[str, int, int] | None] = {}
    originals: dict[type, Any] = {kind: kind.__init__ for kind in MADE}

    def place(code: CodeType, last: int) -> tuple[str, int, int] | None:
        path = Path(code.co_filename)
        if path.parent != ROOM:
            return None
        line, _, column, _ = list(code.co_positions())[last // 2]
        return (path.stem, line or 0, column or 0)

    def noting(kind: type, original: Any) -> Callable[..., None]:
        def note(self: Any, *values: Any, **named: Any) -> None:
            original(self, *values, **named)
            frame = sys._getframe(1)
            key = (frame.f_code, frame.f_lasti)
            if key not in places:
                places[key] = place(*key)
            where = places[key]
            if where is not None:
                reached.counts[where] += 1
                reached.requirements.setdefault(where, set()).update(demands_of(self))

        return note

    for kind, original in originals.items():
        kind.__init__ = noting(kind, original)  # type: ignore[misc]
    try:
        yield reached
    finally:
        for kind, original in originals.items():
            kind.__init__ = original  # type: ignore[misc]


def demands_of(made: Expected | Fails | Completion) -> set[str]:
    """The requirements an outcome, a failure or the end of a wait names."""
    if isinstance(made, Fails):
        return {made.must} | ({made.code} if made.code else set())
    shown = made.result.shown if isinstance(made.result, Tells) else ()
    return {made.requirement, *made.also, *shown} - {""}


def default_readings() -> Mapping[str, tuple[str, ...]]:
    """Each reading with its one alternative that `windows` prefers."""
    return {name: reading.defaults["windows"][:1] for name, reading in catalogue().readings.items()}


def all_readings() -> Mapping[str, tuple[str, ...]]:
    """Each reading with every alternative, the default first."""
    return {
        name: tuple(dict.fromkeys((*reading.defaults["windows"], *reading.alternatives)))
        for name, reading in catalogue().readings.items()
    }


def main() -> int:
    """Exit status: 1 when a part of the model is not reached."""
    from scopes import everything

    _, reached = everything()
    print(reached.report())
    for site in reached.missing():
        print(site)
    return 1 if reached.missing() else 0


if __name__ == "__main__":
    sys.exit(main())
