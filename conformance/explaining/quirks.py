"""The known deviations of an implementation, as quirks that judging goes on behind, also those of a baseline."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from conformance import __version__
from conformance.children import settle
from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.explaining.causes import Seen, together, told_of
from conformance.explaining.continuation import Behind, Searched
from conformance.explaining.playing import Implementation, StoryPlayer, Told, implementation_of, taped
from conformance.files import make_folder, write_text
from conformance.harness.guarded_client import DriverGone, GuardedClient, refusals
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.run_session import RunSession, hello_json
from conformance.harness.tape import Example
from conformance.histories.situations.book import Planned
from conformance.runlog.events import CONSEQUENCE
from conformance.spec.catalogue import catalogue, current, did_you_mean
from conformance.verdict import Outcome

MEMBERS: Final = ("version", "requirement", "faults", "story", "calls")


@dataclass(frozen=True, slots=True)
class KnownQuirk:
    """A quirk of an earlier run. calls: of its story, as a repro file has them."""

    requirement: str
    faults: tuple[str, ...]
    story: tuple[str, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()


def usable(tables: Sequence[Mapping[str, Any]]) -> tuple[tuple[KnownQuirk, ...], tuple[str, ...]]:
    """Return the quirks that can be used, and a sentence about each that cannot: it is judged as without it."""
    found: list[KnownQuirk] = []
    told: list[str] = []
    for number, table in enumerate(tables, 1):
        try:
            found.append(_quirk(table))
        except ValueError as why:
            told.append(f"The quirk {number} of the baseline is not used: {why}.")
    bodies: dict[str, set[tuple[str, ...]]] = {}
    for quirk in found:
        bodies.setdefault(_key(quirk), set()).add(quirk.faults)
    contradictory = [quirk for quirk in found if len(bodies[_key(quirk)]) > 1]
    for name in dict.fromkeys(quirk.requirement for quirk in contradictory):
        told.append(f"The quirks of the baseline about {name} contradict each other: the same story, different faults.")
    return tuple(quirk for quirk in found if quirk not in contradictory), tuple(told)


def tables(evidence: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tables for a baseline from the quirks of a run record: those with a body, each once."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for data in evidence:
        faults = tuple(map(str, data["faults"]))
        if faults:
            calls = json.dumps(data.get("calls", []))
            members = (
                __version__,
                str(data["requirement"]),
                list(faults),
                [str(line) for line in data["story"]],
                calls,
            )
            found.setdefault(faults, dict(zip(MEMBERS, members, strict=True)))
    return list(found.values())


def _quirk(table: Mapping[str, Any]) -> KnownQuirk:
    """Return the quirk of a table. Raises ValueError, with the reason."""
    for name in table:
        if name not in MEMBERS:
            raise ValueError(f"it has an unknown member {name!r}{did_you_mean(name, MEMBERS)}".rstrip("?"))
    if table.get("version") != __version__:
        raise ValueError(f"it is of version {table.get('version')!r}, and this is {__version__}")
    requirement = table.get("requirement")
    if not isinstance(requirement, str) or current(requirement) not in catalogue().requirements:
        raise ValueError(f"there is no requirement {requirement!r}")
    faults, story = table.get("faults"), table.get("story", [])
    if not isinstance(faults, list) or not faults or not all(isinstance(each, str) for each in faults):
        raise ValueError("it names no faults")
    for name in faults:
        if name not in FAULTS:
            raise ValueError(f"there is no fault {name!r}{did_you_mean(name, FAULTS) or ''}".rstrip(".?"))
    if not isinstance(story, list):
        raise ValueError("its story is no list of texts")
    try:
        calls = json.loads(table.get("calls", "[]"))
    except (TypeError, ValueError, RecursionError):
        raise ValueError("its calls are not JSON") from None
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise ValueError("its calls are no list of calls")
    return KnownQuirk(current(requirement), tuple(faults), tuple(map(str, story)), tuple(calls))


def _key(quirk: KnownQuirk) -> str:
    return json.dumps([quirk.requirement, quirk.calls], sort_keys=True)


MAX_HEARD: Final = 100  # files read at once


@dataclass(slots=True)
class Shared:
    """The folder. worker: the name that this worker's files begin with."""

    folder: Path
    worker: str
    _read: set[str] = field(default_factory=set)
    _told: set[tuple[str, ...]] = field(default_factory=set)

    def tell(self, quirks: Sequence[Mapping[str, Any]]) -> None:
        """Tell the other workers of the quirks with a body, each body once.

        quirks: in the form of the run record. A folder that cannot be written costs what the others would know, and
        nothing else.
        """
        for table in tables(quirks):
            faults = tuple(table["faults"])
            if faults in self._told:
                continue
            self._told.add(faults)
            try:
                make_folder(self.folder)
                write_text(self.folder / f"{self.worker}-{len(self._told)}.json", json.dumps(table))
            except OSError:
                return

    def heard(self) -> tuple[KnownQuirk, ...]:
        """Return the quirks that other workers have told since the last call."""
        try:
            names = sorted(path.name for path in self.folder.iterdir() if path.suffix == ".json")
        except OSError:
            return ()
        new = [name for name in names if name not in self._read and not name.startswith(f"{self.worker}-")]
        found: list[Mapping[str, Any]] = []
        for name in new[:MAX_HEARD]:
            self._read.add(name)
            try:
                found.append(json.loads((self.folder / name).read_text("utf-8")))
            except (OSError, ValueError):
                continue
        known, _ = usable([table for table in found if isinstance(table, dict)])
        return known


MAX_QUIRKS: Final = 24  # with a body: each is another embedded manager that later deviations are compared with
MAX_UNKNOWN: Final = 60  # without one
MAX_TOGETHER: Final = 16  # stories in which several faults at once are looked for, and the seconds for each
MAX_TRIED: Final = 2  # such stories of one requirement
TOGETHER_S: Final = 12.0
MAX_STORY: Final = 40
_MORE: Final = 1.5  # passed stories there must be before what they contradict is looked for again
_OPEN: Final = 4  # embedded managers that are kept for the next story


@dataclass(slots=True)
class Quirk:
    """A known deviation.

    faults: its body, empty if the dictionary has none. calls: of the shortest story that shows it, as a repro file has
    them; story: the same as text. filed: requirements that were not blamed for it, with the number of their failures.
    behind: histories that were judged to their end with it. met: histories that ended with a failure of its requirement
    that no body explained. blamed: a failure was told for it; until then nothing is
    filed under it.
    """

    requirement: str
    faults: tuple[str, ...]
    calls: tuple[Mapping[str, Any], ...] = ()
    told: Told | None = None
    story: tuple[str, ...] = ()
    filed: Counter[str] = field(default_factory=Counter)
    behind: int = 0
    met: int = 0
    blamed: bool = False

    @property
    def breaks(self) -> frozenset[str]:
        """The requirements that are blamed for it."""
        return frozenset((self.requirement, *(each for name in self.faults for each in FAULTS[name].breaks)))

    def to_json(self) -> dict[str, Any]:
        """Return the quirk as the run record stores it."""
        return {
            "requirement": self.requirement,
            "faults": list(self.faults),
            "story": list(self.story),
            "calls": list(self.calls),
            "filed": dict(self.filed),
            "behind": self.behind,
            "met": self.met,
            "says": [FAULTS[name].says for name in self.faults],
        }


class Quirks:
    """See `conformance.harness.known_deviations.Past`. ask: returns the implementation, once it is needed."""

    def __init__(
        self, ask: Callable[[], Implementation], loaded: Sequence[KnownQuirk] = (), shared: Shared | None = None
    ) -> None:
        """loaded: quirks of a baseline. Each counts from the first failure on that it explains.

        shared: where other workers tell theirs; they count like those of a baseline, and somebody is blamed already.
        """
        self._ask = ask
        self._loaded = list(loaded)
        self._shared = shared
        self._heard: list[KnownQuirk] = []
        self._known: list[Quirk] = []
        self._players: dict[tuple[str, ...], StoryPlayer] = {}
        self._searched = Searched()
        self._seen = Seen()
        self._doubted = 1
        self._searches: Counter[str] = Counter()
        self._met: Counter[str] = Counter()

    @property
    def known(self) -> tuple[Quirk, ...]:
        """The quirks, in the order in which they were met."""
        return tuple(self._known)

    @property
    def bodies(self) -> tuple[str, ...]:
        """The faults of all quirks."""
        return tuple(dict.fromkeys(name for quirk in self._known for name in quirk.faults))

    @property
    def _full(self) -> bool:
        return sum(bool(quirk.faults) for quirk in self._known) >= MAX_QUIRKS

    def explains(self, failure: ConformanceFailure) -> bool:
        """See `Past`."""
        self._hear()
        told = _story(failure)
        quirk = None if told is None else self._of(told)
        if quirk is None:
            self._met[failure.verdict.requirement] += 1
        if quirk is None or not quirk.blamed:
            return False
        quirk.filed[failure.verdict.requirement] += 1
        return failure.verdict.requirement not in quirk.breaks or failure.verdict.requirement == quirk.requirement

    def learn(self, failures: Sequence[ConformanceFailure]) -> None:
        """See `Past`."""
        stories = [(failure, told) for failure in failures if (told := _story(failure)) is not None]
        if stories:
            self._seen.fails([told for _, told in stories], self._ask())
            self._doubt()
        self._learn(stories)

    def witness(self, example: Example) -> None:
        """See `Past`."""
        told = taped(example, "")
        if told is not None:
            self._seen.passes(told)

    def filed(self, failures: Sequence[ConformanceFailure]) -> list[tuple[ConformanceFailure, str | None]]:
        """See `Past`."""
        self._hear()
        self.learn(failures)
        found: list[tuple[ConformanceFailure, str | None]] = []
        others: list[tuple[ConformanceFailure, Quirk]] = []
        for failure in failures:
            told = _story(failure)
            quirk = None if told is None else self._of(told)
            if quirk is not None and failure.verdict.requirement not in quirk.breaks:
                others.append((failure, quirk))
                continue
            if quirk is not None:
                quirk.blamed = True
            found.append((failure, None))
        for failure, quirk in others:
            requirement = failure.verdict.requirement
            if not quirk.blamed:  # somebody has to be
                quirk.blamed, quirk.requirement = True, requirement
                found.append((failure, None))
                continue
            quirk.filed[requirement] += 1
            found.append((failure, f"{CONSEQUENCE} {quirk.requirement}: what {_named(quirk.faults)} does as well"))
        self._tell()
        return sorted(found, key=lambda each: each[1] is not None)

    def onward(
        self,
        client: GuardedClient,
        judge: Recorder,
        options: RunOptions,
        histories: Sequence[Planned],
        ways: tuple[int, ...],
        seconds: float,
    ) -> list[ConformanceFailure]:
        """See `Past`."""
        if not client.offers("reset") or self._full:
            return []
        until = time.monotonic() + seconds
        settle()
        behind = Behind(client, judge, options, self._ask(), self._seen, self._searched, until)
        found: list[ConformanceFailure] = []
        pointless: tuple[type[BaseException], ...] = (DriverGone, *refusals())
        try:
            whole = behind.asked(histories, ways, self.bodies)
            left = [each for each in whole if not self._agree(each.told)]
            while left and not self._full and time.monotonic() < until:
                fault = behind.cause(left, self.bodies)
                if fault is None:
                    nearer = behind.nearer(left, self.bodies) if self.bodies else None
                    found += [nearer] if nearer is not None else []
                    break
                failure = behind.finding(fault, left, self.bodies)
                requirement = failure.verdict.requirement if failure is not None else FAULTS[fault].breaks[0]
                calls = tuple(failure.repro.get("calls", ())) if failure is not None else ()
                quirk = Quirk(requirement, (fault,), calls, story=_lines(failure), blamed=failure is not None)
                self._add(quirk)
                found += [failure] if failure is not None else []
                left = [each for each in left if not self._agree(each.told)]
        except pointless:  # what the driver refuses in a shorter story is no deviation
            return found
        self._tell()
        return found

    def notes(self) -> list[str]:
        """See `Past`."""
        return [
            f"The quirk of the baseline about {known.requirement} was not seen: no deviation is what "
            f"{_named(known.faults)} does."
            for known in self._loaded
        ]

    def evidence(self) -> list[Mapping[str, Any]]:
        """See `Past`."""
        for quirk in self._known:
            quirk.met = max(1, self._met[quirk.requirement])
        return [quirk.to_json() for quirk in self._known]

    def close(self) -> None:
        """Remove the state folders of the embedded managers."""
        for player in self._players.values():
            player.__exit__(None, None, None)
        self._players.clear()

    def _hear(self) -> None:
        """Take what other workers have found."""
        self._heard += self._shared.heard() if self._shared is not None else ()

    def _tell(self) -> None:
        """Tell other workers of the quirks that somebody was blamed for."""
        if self._shared is not None:
            self._shared.tell([quirk.to_json() for quirk in self._known if quirk.blamed])

    def _agree(self, told: Told) -> bool:
        if not self._tells(told):
            return True  # it did not come again, so there is nothing to explain
        quirk = self._of(told)
        if quirk is not None:
            quirk.behind += 1
        return quirk is not None

    def _tells(self, told: Told) -> bool:
        """Tell whether the embedded manager answers otherwise without any fault: else the story tells nothing."""
        return not self._player(()).play(told, self._seen.tolerated).agrees

    def _of(self, told: Told) -> Quirk | None:
        """Return the quirk that a story is filed under: one that explains it alone, else the first of all together.

        Of several, the one that breaks what the story fails with.
        """
        if not (self.bodies or self._loaded or self._heard) or not self._tells(told):
            return None
        with_body = [quirk for quirk in self._known if quirk.faults]
        alone: list[Quirk] = []
        reached: dict[int, Quirk] = {}
        for quirk in with_body:
            at = self._player(quirk.faults).play(told, self._seen.tolerated).at
            if at is None:
                alone.append(quirk)
            else:
                reached.setdefault(at, quirk)
        broken = [quirk for quirk in alone or with_body if not quirk.breaks.isdisjoint(told.failed)]
        if alone:
            return (broken or alone)[0]
        for others in (self._heard, self._loaded):
            for known in others:
                if self._player(known.faults).play(told, self._seen.tolerated).agrees:
                    others.remove(known)
                    blamed = others is self._heard
                    quirk = Quirk(known.requirement, known.faults, known.calls, story=known.story, blamed=blamed)
                    self._add(quirk)
                    return quirk
        if len(with_body) > 1 and self._player(self.bodies).play(told, self._seen.tolerated).agrees:
            needed = [quirk for quirk in with_body if self._needs(quirk, told)] or with_body
            broken = [quirk for quirk in broken if quirk in needed]
            showing = [quirk for quirk in needed if any(set(told.failed) & set(_shown(name)) for name in quirk.faults)]
            furthest = [reached[at] for at in sorted(reached, reverse=True) if reached[at] in needed]
            return (broken or showing or furthest or needed)[0]
        return None

    def _needs(self, quirk: Quirk, told: Told) -> bool:
        """Tell whether the other quirks do not explain a story that all together explain."""
        others = tuple(name for name in self.bodies if name not in quirk.faults)
        return not self._player(others).play(told, self._seen.tolerated).agrees

    def _player(self, faults: tuple[str, ...]) -> StoryPlayer:
        player = self._players.pop(faults, None)
        if player is None:
            player = StoryPlayer(faults, self._ask())
            player.__enter__()
        self._players[faults] = player  # the last one used is the last one to go
        while len(self._players) > _OPEN:
            first = next(iter(self._players))
            self._players.pop(first).__exit__(None, None, None)
        return player

    def _learn(self, stories: Sequence[tuple[ConformanceFailure, Told]]) -> None:
        """Make quirks of the failures that no known quirk explains."""
        left = [(failure, told) for failure, told in stories if self._tells(told) and self._of(told) is None]
        while left and not self._full:
            fault = self._fault([(failure.verdict.requirement, told) for failure, told in left])
            if fault is None:
                break
            mine = [(failure, told) for failure, told in left if self._explains(fault, told)]
            left = [each for each in left if each not in mine]
            failure, told = min(mine, key=lambda each: (_fit(fault, each[0].verdict.requirement), len(each[1].ops)))
            self._add(Quirk(failure.verdict.requirement, (fault,), told.calls, told, _lines(failure)))
        for failure, told in sorted(left, key=lambda each: len(each[1].ops)):
            requirement = failure.verdict.requirement
            if self._of(told) is not None:
                continue
            faults = self._together(requirement, told)
            if faults or self._unknown(requirement):
                self._add(Quirk(requirement, faults, told.calls, told, _lines(failure)))

    def _unknown(self, requirement: str) -> bool:
        """Tell whether a deviation like no known fault is one more quirk."""
        bodiless = sum(not quirk.faults for quirk in self._known)
        return bodiless < MAX_UNKNOWN and all(quirk.requirement != requirement for quirk in self._known)

    def _together(self, requirement: str, told: Told) -> tuple[str, ...]:
        """Return the faults that explain a story only together, and beside the known ones; () if none are found.

        One of them has to show as what was blamed, and no passed story may contradict them.
        """
        searches = self._searches
        if self._full or searches.total() >= MAX_TOGETHER or searches[requirement] >= MAX_TRIED:
            return ()
        searches[requirement] += 1
        until, asked = time.monotonic() + TOGETHER_S, self._ask()
        found = together(told, self.bodies, told_of(told.methods), asked, self._seen.tolerated, until=until)
        shown = any(requirement in _shown(name) for name in found)
        return found if shown and not self._seen.against(found, asked, 1) else ()

    def _explained(self, fault: str) -> list[Quirk]:
        """Return the known quirks whose stories this fault explains."""
        with StoryPlayer((fault,), self._ask()) as player:
            return [
                quirk
                for quirk in self._known
                if quirk.told is not None and player.play(quirk.told, self._seen.tolerated).agrees
            ]

    def _explains(self, name: str, told: Told) -> bool:
        """Tell whether a fault explains a story, alone or beside the known quirks."""
        beside = (*self.bodies, name)
        return any(
            self._player(faults).play(told, self._seen.tolerated).agrees
            for faults in ((name,), beside)[: 1 + (len(beside) > 1)]
        )

    def _fault(self, stories: Sequence[tuple[str, Told]]) -> str | None:
        """Return the fault that explains most of these stories, of those that show as what was blamed.

        stories: each with the requirement that was blamed. Stories of quirks that it explains too count for it, and
        passed stories that it contradicts against it.
        """
        blamed = {requirement for requirement, _ in stories}
        candidates = [name for name in FAULTS if not FAULTS[name].races and not blamed.isdisjoint(_shown(name))]
        best: tuple[int, int, str] | None = None
        for name in candidates:
            agreed = [each for each, told in stories if self._explains(name, told)]
            if agreed:
                fit = min(_fit(name, requirement) for requirement in agreed)
                many = len(agreed) + len(self._explained(name))
                if best is None or (-many, fit, name) < best:
                    against = self._seen.against((name,), self._ask(), many)
                    best = min(best or (0, 9, ""), (against - many, fit, name))
        return None if best is None or not best[0] else best[2]

    def _add(self, quirk: Quirk) -> None:
        for name in quirk.faults[: len(quirk.faults) == 1]:
            for other in self._explained(name):
                other.faults = quirk.faults  # one fault for both is likelier than two
        self._known.append(quirk)

    def _doubt(self) -> None:
        """Take the body from quirks that stories passed since then contradict, and look for another."""
        known = self._seen.known
        if known < self._doubted * _MORE:
            return
        self._doubted = known
        for quirk in self._known:
            if quirk.told is not None and quirk.faults and self._seen.against(quirk.faults, self._ask(), 1):
                quirk.faults = ()
                found = self._fault([(quirk.requirement, quirk.told)])
                quirk.faults = () if found is None else (found,)


def quirks_of(session: RunSession, loaded: Sequence[KnownQuirk] = (), shared: Shared | None = None) -> Quirks:
    """Return what goes on behind the deviations of a run's implementation, which is asked for its hello when needed."""
    return Quirks(lambda: implementation_of(hello_json(session.client()), session.options.profile, {}), loaded, shared)


def _story(failure: ConformanceFailure) -> Told | None:
    if failure.verdict.outcome is not Outcome.FAIL or failure.example is None:
        return None
    return taped(failure.example, "", failure.verdict.requirement)


def _shown(name: str) -> tuple[str, ...]:
    fault = FAULTS[name]
    return (*fault.breaks, *fault.first_seen_as, *shows_as(fault))


def _fit(name: str, requirement: str) -> int:
    """Return how well a requirement fits a fault: 0 if it breaks it, 1 if it is rightly seen as that, 2 otherwise."""
    fault = FAULTS[name]
    return 0 if requirement in fault.breaks else 1 if requirement in fault.first_seen_as else 2


def _named(faults: Sequence[str]) -> str:
    return " with ".join(f"`{name}`" for name in faults)


def _lines(failure: ConformanceFailure | None) -> tuple[str, ...]:
    return tuple(step.text for step in failure.story[-MAX_STORY:]) if failure is not None else ()
