"""The dictionary of known causes: faults that, alone or together, make the embedded manager answer likewise."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.pool import Pool
from types import ModuleType
from typing import Final

from conformance.children import safe_path
from conformance.embedded.faults import FAULTS, Fault
from conformance.explaining.playing import STATUS, Implementation, Played, StoryPlayer, Told, Tolerated
from conformance.spec.catalogue import did_you_mean

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "structures": ("structures.",),
    "writer": ("packets.", "outgoing."),
    "reader": ("packets.", "outgoing."),
    "arrival": ("packets.",),
    "outgoing": ("outgoing.", "messages.", "queues."),
    "management": ("management.",),
    "transfers": ("management.",),
    "incoming": ("management.",),
    "coordination": ("coordinator.",),
    **dict.fromkeys(("admission", "certificates", "encryption", "sealing", "signatures"), ("security.",)),
    **dict.fromkeys(("directory_client", "directory_properties", "integration"), ("directory.",)),
}
"""Parts of the manager that only some methods use, with the beginnings of their names."""
_OBJECTS: Final = "objects"
"""The folder of faults that methods of this facet alone show."""


class UnknownFault(ValueError):
    """A name that the dictionary does not have; the message is one sentence."""


def told_of(methods: Iterable[str]) -> tuple[str, ...]:
    """Return the faults that stories with these methods may show. Races are left out: stories are played in order."""
    called = tuple(methods)
    return tuple(name for name, fault in FAULTS.items() if not fault.races and _may_show(fault, called))


def check_faults(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names. Raises UnknownFault for one that is no fault, with the nearest name."""
    found = tuple(names)
    for name in found:
        if name not in FAULTS:
            raise UnknownFault(f"There is no fault {name!r}{did_you_mean(name, FAULTS) or '.'}")
    return found


def breaks(names: Iterable[str]) -> tuple[str, ...]:
    """Return the requirements that these faults break, as their text tells, each once."""
    return tuple(dict.fromkeys(each for name in names for each in FAULTS[name].breaks))


def story_of(name: str) -> str:
    """Return what a fault does, in one sentence."""
    return FAULTS[name].says


def _may_show(fault: Fault, called: Collection[str]) -> bool:
    if fault.suite == _OBJECTS:
        return any(method.startswith(f"{_OBJECTS}.") for method in called)
    parts = [part for part, _ in fault.replaces]
    return any(part not in _NEEDS or any(method.startswith(_NEEDS[part]) for method in called) for part in parts)


MAX_CAUSES: Final = 5  # causes that are looked for one after the other: more is no common cause any more
MAX_NAMED: Final = 3  # faults named where several explain the same
MAX_TRIED: Final = 24  # faults whose answers in passed histories are compared, those that explain most first
MAX_STORIES: Final = 200  # failed histories that are played, and as many passed ones; the shortest are
_CHUNK: Final = 12
_SLACK_S: Final = 20.0  # a chunk that began in time may end so much later
_HALF: Final = 0.5

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Cause:
    """A fault with what it explains. names: itself, then others that explain the same. explains: places of stories
    that agree with it and not without it. contradicted: passed stories that do not agree with it."""

    names: tuple[str, ...]
    explains: tuple[int, ...]
    contradicted: int
    further: int = 0

    @property
    def name(self) -> str:
        """The fault that is tried further on."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Explained:
    """Causes of failed stories. stories: all that were played. same: places of those that the embedded manager answers
    so without any fault. left: places that no cause explains. passed: passed stories that could contradict. late: the
    time was over before everything was tried."""

    stories: tuple[Told, ...]
    causes: tuple[Cause, ...]
    same: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    passed: int = 0
    late: bool = False


def explain(
    failed: Sequence[Told],
    passed: Sequence[Told],
    implementation: Implementation,
    *,
    faults: Sequence[str] = (),
    seconds: float = 60.0,
    jobs: int = 1,
    on_progress: OnProgress = lambda done, total: None,
) -> Explained:
    """Return the causes of failed stories. faults: those to try (none: all that the stories may show).

    seconds: when the search ends. Raises UnknownFault.
    """
    until = time.monotonic() + seconds
    stories, witnesses = _shortest(failed), _shortest(passed)
    tolerated, telling = compared(witnesses, implementation, stories)
    with StoryPlayer((), implementation) as player:
        same = tuple(at for at, told in enumerate(stories) if player.play(told, tolerated).agrees)
    left = [at for at in range(len(stories)) if at not in same]
    causes: list[Cause] = []
    with _Trying(implementation, tolerated, stories, telling, jobs, until) as trying:
        while left and len(causes) < MAX_CAUSES and not trying.late:
            methods = {method for at in left for method in stories[at].methods}
            chosen = tuple(cause.name for cause in causes)
            candidates = [name for name in check_faults(faults) or told_of(sorted(methods)) if name not in chosen]
            best = _best(trying, chosen, candidates, left, on_progress)
            if best is None:
                break
            causes.append(best)
            left = [at for at in left if at not in best.explains]
    return Explained(stories, tuple(causes), same, tuple(left), len(telling), trying.late)


def compared(
    passed: Sequence[Told], implementation: Implementation, failed: Sequence[Told] = ()
) -> tuple[Tolerated, list[Told]]:
    """Return what differs though it was found right, and the passed stories in which nothing else does.

    What half of all answers to a method differ in is how this implementation is made; so it is with the members of
    messages, whichever method shows them. So is what no answer at all
    shows, if there are several such members: one alone may be the deviation. Another status than ours that was found
    right once is accepted, unless a failed story differs in nothing else that is not accepted.
    """
    differing: Counter[tuple[str, str]] = Counter()
    answers: Counter[str] = Counter()
    lacking: set[tuple[str, str]] = set()
    with StoryPlayer((), implementation) as player:
        for told in passed:
            played = player.play(told, on=True)
            differing.update(played.differences)
            answers.update(played.compared)
            lacking.update(played.lacking)
        deviating = [player.play(told, on=True) for told in failed]
        for played in deviating:
            lacking.update(played.lacking)
        shown = {path for told in (*passed, *failed) for path in told.shown}
        never = {(method, path) for method, path in lacking if path not in shown}
        tolerated = frozenset(never if len({path for _, path in never}) > 1 else ()) | frozenset(
            (method, path)
            for (method, path), times in differing.items()
            if path.startswith(STATUS) or times >= _HALF * answers[method]
        )
        alone = {
            each
            for played in deviating
            if played.differences and tolerated.issuperset(played.differences)
            for each in played.differences
            if each[1].startswith(STATUS)
        }
        tolerated -= alone
        return tolerated, [told for told in passed if player.play(told, tolerated).agrees]


def agreeing(
    names: Sequence[str], implementation: Implementation, stories: Sequence[Told], tolerated: Tolerated
) -> tuple[bool, ...]:
    """Tell for each story whether the embedded manager with these faults answers it so."""
    with StoryPlayer(names, implementation) as player:
        return tuple(player.play(told, tolerated).agrees for told in stories)


def _best(
    trying: _Trying, chosen: tuple[str, ...], candidates: Sequence[str], left: Sequence[int], on_progress: OnProgress
) -> Cause | None:
    """Return the fault that explains most of what is left, less what it contradicts; None if none explains any."""
    found = trying.failed(chosen, candidates, left, on_progress)
    explaining = sorted(found, key=lambda name: (-len(found[name]), name))[:MAX_TRIED]
    against = trying.passed(chosen, explaining)
    ranked = sorted(explaining, key=lambda name: (against[name] - len(found[name]), name))
    ranked = [name for name in ranked if len(found[name]) > against[name]]
    if not ranked:
        return None
    first = ranked[0]
    alike = [name for name in ranked if (found[name], against[name]) == (found[first], against[first])]
    return Cause(tuple(alike[:MAX_NAMED]), found[first], against[first], max(0, len(alike) - MAX_NAMED))


def _shortest(stories: Sequence[Told]) -> tuple[Told, ...]:
    return tuple(sorted(stories, key=lambda told: len(told.ops))[:MAX_STORIES])


@dataclass(slots=True)
class _Trying:
    """Plays stories with many faults, in this process or in several."""

    implementation: Implementation
    tolerated: Tolerated
    stories: Sequence[Told]
    telling: Sequence[Told]
    jobs: int
    until: float
    late: bool = False
    _pool: Pool | None = None

    def __enter__(self) -> _Trying:
        given = (self.implementation, self.tolerated, tuple(self.stories), tuple(self.telling))
        if self.jobs > 1:
            # A process of its own begins anew: a copy of this one would have its locks, but not its threads.
            with _nobody(), safe_path():
                self._pool = multiprocessing.get_context("spawn").Pool(self.jobs, _begin, given)
        else:
            _begin(*given)
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.terminate()
        _begin(self.implementation, frozenset(), (), ())

    def failed(
        self, chosen: tuple[str, ...], candidates: Sequence[str], left: Sequence[int], on_progress: OnProgress
    ) -> dict[str, tuple[int, ...]]:
        """Return the places of the stories that agree with each fault, without the faults that agree with none."""
        work = [
            (chosen, tuple(candidates[at : at + _CHUNK]), tuple(left), self.until)
            for at in range(0, len(candidates), _CHUNK)
        ]
        found: dict[str, tuple[int, ...]] = {}
        done = 0
        for (_, names, _, _), places in zip(work, self._each(work), strict=True):
            self.late = self.late or len(places) < len(names)
            found |= {name: agreed for name, agreed in zip(names, places, strict=False) if agreed}
            done += len(names)
            on_progress(done, len(candidates))
        return found

    def passed(self, chosen: tuple[str, ...], names: Sequence[str]) -> dict[str, int]:
        """Return how many passed stories each fault contradicts: all, where there was no time."""
        work = [(chosen, (name,), None, self.until) for name in names]
        every = len(self.telling)
        counts = [every - len(places[0]) if places else every for places in self._each(work)]
        return dict(zip(names, counts, strict=True))

    def _each(self, work: Sequence[_Work]) -> Iterator[_Places]:
        if self._pool is None:
            yield from map(_agreeing_of, work)
            return
        found = self._pool.imap(_agreeing_of, work)
        for _ in work:
            try:
                yield found.next(max(0.0, self.until - time.monotonic()) + _SLACK_S)
            except multiprocessing.TimeoutError:  # a process that was killed never answers
                yield []


@contextmanager
def _nobody() -> Iterator[None]:
    """Hide the program that was started: processes that begin here would import it, and it would run again."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


_Work = tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...] | None, float]
_Places = list[tuple[int, ...]]


@dataclass(slots=True)
class _Given:
    """Tell a process once which histories it plays."""

    implementation: Implementation = field(default_factory=Implementation)
    tolerated: Tolerated = frozenset()
    stories: tuple[Told, ...] = ()
    telling: tuple[Told, ...] = ()


_GIVEN = _Given()


def _begin(
    implementation: Implementation, tolerated: Tolerated, stories: tuple[Told, ...], telling: tuple[Told, ...]
) -> None:
    _GIVEN.implementation, _GIVEN.tolerated = implementation, tolerated
    _GIVEN.stories, _GIVEN.telling = stories, telling


def _agreeing_of(work: _Work) -> list[tuple[int, ...]]:
    """Return, for each fault together with the chosen ones, the places of the stories that agree.

    The result is shorter than the list of faults if the time was over.
    """
    chosen, names, places, until = work
    stories = _GIVEN.telling if places is None else _GIVEN.stories
    found: list[tuple[int, ...]] = []
    for name in names:
        if time.monotonic() > until:
            break
        with StoryPlayer((*chosen, name), _GIVEN.implementation) as player:
            played = range(len(stories)) if places is None else places
            found.append(tuple(at for at in played if player.play(stories[at], _GIVEN.tolerated).agrees))
    return found


MAX_FAILED: Final = 60
MAX_PASSED: Final = 120
MAX_ALIKE: Final = 4  # passed stories with the same methods: enough to contradict a fault that shows in them
_GROWTH: Final = 1.25  # comparing everything again is worth its time only when there is as much more to compare


@dataclass(slots=True)
class Seen:
    """The stories that the worker has seen so far.

    tolerated: differences that mean nothing. telling: passed stories that the embedded manager without any fault
    answers as the implementation did: a fault that makes it answer otherwise is not in the implementation.
    """

    passed: list[Told] = field(default_factory=list)
    failed: list[Told] = field(default_factory=list)
    tolerated: Tolerated = frozenset()
    telling: Sequence[Told] = ()
    _alike: Counter[frozenset[str]] = field(default_factory=Counter)
    _compared: int = 0

    @property
    def known(self) -> int:
        """Return the number of passed stories that can contradict a fault."""
        return len(self.telling)

    def passes(self, told: Told) -> None:
        """Note a passed story."""
        if len(self.passed) < MAX_PASSED and self._alike[told.methods] < MAX_ALIKE:
            self._alike[told.methods] += 1
            self.passed.append(told)

    def fails(self, stories: Sequence[Told], implementation: Implementation) -> None:
        """Note failed stories."""
        self.failed += stories[: MAX_FAILED - len(self.failed)]
        every = len(self.failed) + len(self.passed)
        if every > self._compared * _GROWTH:
            self._compared = every
            self.tolerated, self.telling = compared(self.passed, implementation, self.failed)

    def against(self, faults: Collection[str], implementation: Implementation, enough: int) -> int:
        """Return how many passed stories contradict faults; counting ends at `enough`."""
        found = 0
        with StoryPlayer(tuple(faults), implementation) as player:
            for told in self.telling:
                if found >= enough:
                    break
                found += not player.play(told, self.tolerated).agrees
        return found


MOST: Final = 5
"""Faults that are looked for in one story; more explain anything."""


def together(
    told: Told,
    known: tuple[str, ...],
    candidates: Sequence[str],
    implementation: Implementation,
    tolerated: Tolerated,
    *,
    until: float,
) -> tuple[str, ...]:
    """Return the faults that explain a story beside the known ones, none of them needless; () if none are found.

    Each is the one that takes the story furthest, or leaves the fewest differences where it ends. until: see
    `time.monotonic()`.
    """

    def reached(faults: tuple[str, ...]) -> tuple[int, int]:
        with StoryPlayer((*known, *faults), implementation) as player:
            return _reached(player.play(told, tolerated), len(told.ops))

    found: tuple[str, ...] = ()
    furthest = reached(())
    while furthest[0] < len(told.ops) and len(found) < MOST:
        best = furthest, ""
        for name in candidates:
            if time.monotonic() > until:
                return ()
            if name not in known and name not in found and (at := reached((*found, name))) > best[0]:
                best = at, name
        if not best[1]:
            return ()
        furthest, found = best[0], (*found, best[1])
    if furthest[0] < len(told.ops):
        return ()
    for name in found[:-1]:
        fewer = tuple(each for each in found if each != name)
        found = fewer if reached(fewer) == furthest else found
    return found


def _reached(played: Played, every: int) -> tuple[int, int]:
    """Return how far a story went: the more operations and the fewer differences at its end, the greater."""
    return (every, 0) if played.at is None else (played.at, -len(played.paths))
