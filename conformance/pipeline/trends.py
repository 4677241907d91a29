"""Trends over versions: what each version of an implementation keeps and breaks, and the readings that are followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from conformance.pipeline.corpus import BAD, JUDGED, NOTED
from conformance.pipeline.scan import UNKNOWN_DAY, Days
from conformance.pipeline.scan import field as column
from conformance.pipeline.versions import Followed, How, Shift, Trends, Version, order
from conformance.report.text import label
from conformance.verdict import Outcome

MOST_VERSIONS: Final = 100
"""Versions of one implementation: the latest."""
MOST_SHIFTS: Final = 500
MOST_READINGS: Final = 500
MAX_SENDERS: Final = 10_000
"""Senders that are told apart for one alternative of a reading."""
SHOWN_VERSIONS: Final = 12
SHOWN_SHIFTS: Final = 100
SHOWN_READINGS: Final = 100
_CONFORMS: Final = ("pass", "reading")
Series = tuple[str, How]
"""An implementation, judged in one way."""


@dataclass(slots=True)
class _Version:
    runs: int = 0
    first: date = date.max
    last: date = date.min
    verdicts: Counter[str] = field(default_factory=Counter)
    worst: dict[str, str] = field(default_factory=dict)
    """Requirement to its worst outcome in the last run that judged it."""


@dataclass(slots=True)
class _Alternative:
    verdicts: int = 0
    senders: set[str] = field(default_factory=set)
    more: bool = False
    implementations: set[tuple[str, str]] = field(default_factory=set)


def trends_of(days: Days) -> Trends:
    """Gather the trends of a lake, a day at a time. Raises PipelineError."""
    series: dict[Series, dict[str, _Version]] = {}
    readings: dict[tuple[str, str], _Alternative] = {}
    for day in days.of("runs"):
        named = _runs(days, day, series)
        for _, known in series.items():
            if len(known) > 2 * MOST_VERSIONS:
                for old in _ordered(known)[:-MOST_VERSIONS]:
                    del known[old]
        for run, pair, count in _readings(days, "results", day, "run_id"):
            if run in named:
                one = readings.setdefault(pair, _Alternative())
                one.verdicts += count
                one.implementations.add(named[run])
    for day in days.of("verdicts"):
        for sender, pair, count in _readings(days, "verdicts", day, "sender"):
            one = readings.setdefault(pair, _Alternative())
            one.verdicts += count
            if sender is not None and sender not in one.senders:
                if len(one.senders) < MAX_SENDERS:
                    one.senders.add(sender)
                else:
                    one.more = True
    versions, shifts = _told(series)
    return Trends(versions, shifts, _followed(readings))


def _runs(days: Days, day: date, series: dict[Series, dict[str, _Version]]) -> dict[str, tuple[str, str]]:
    """Add the runs of a day, in the order of their start. Returns implementation and version of each run."""
    found: dict[str, tuple[datetime | None, Series, str]] = {}
    names = ["run_id", "implementation", "implementation_version", "started", "profile", "level", "reading_set"]
    for row in days.rows("runs", day, names):
        how = (row["profile"], row["level"], row["reading_set"])
        named = (row["implementation"] or "not named", how)
        found[row["run_id"]] = row["started"], named, row["implementation_version"] or ""
    groups: dict[str, list[dict[str, Any]]] = {}
    for group in days.sums("results", day, ["run_id", "requirement", "outcome"], {"count": ("count", "sum")}):
        groups.setdefault(group["run_id"], []).append(group)
    for run in sorted(found, key=lambda one: (found[one][0] is not None, found[one][0] or 0, one)):
        _, named, version = found[run]
        one = series.setdefault(named, {}).setdefault(version, _Version())
        one.runs += 1
        one.first, one.last = min(one.first, day), max(one.last, day)
        said: dict[str, str] = {}
        for group in groups.get(run, ()):
            outcome, requirement = group["outcome"], group["requirement"]
            one.verdicts[outcome] += group["count"]
            if outcome in JUDGED or outcome in NOTED:
                said[requirement] = min(said.get(requirement, outcome), outcome, key=lambda one: Outcome(one).rank)
        one.worst |= said
    return {run: (named[0], version) for run, (_, named, version) in found.items()}


def _readings(days: Days, table: str, day: date, who: str) -> Iterator[tuple[str | None, tuple[str, str], int]]:
    """Yield who conforms under which alternative of which reading on a day, and the number of verdicts."""
    import pyarrow as pa
    from pyarrow import compute as pc

    listed = pa.list_(pa.struct([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.string())]))
    sums: Counter[tuple[str | None, tuple[str, str]]] = Counter()
    for batch in days.batches(table, day, [who, "count", "readings"], column("outcome").isin(_CONFORMS)):
        maps = batch.column("readings").cast(listed)
        rows, pairs = pc.list_parent_indices(maps), pc.list_flatten(maps)
        if not len(pairs):
            continue
        found = pa.table(
            {
                "who": batch.column(who).take(rows),
                "count": batch.column("count").take(rows),
                "key": pc.struct_field(pairs, "key"),
                "value": pc.struct_field(pairs, "value"),
            }
        )
        for row in found.group_by(["who", "key", "value"]).aggregate([("count", "sum")]).to_pylist():
            sums[row["who"], (row["key"], row["value"] or "")] += row["count_sum"]
    yield from ((who, pair, count) for (who, pair), count in sums.items())


def _ordered(known: Mapping[str, _Version]) -> list[str]:
    return order({name: one.first for name, one in known.items()})


def _told(series: Mapping[Series, Mapping[str, _Version]]) -> tuple[list[Version], list[Shift]]:
    versions: list[Version] = []
    shifts: list[tuple[date, Shift]] = []
    for (implementation, how), known in sorted(series.items()):
        names = _ordered(known)
        definite: dict[str, tuple[str, bool]] = {}
        """Requirement to the last version that refuted it or was clean, and whether it was refuted."""
        for name in names:
            one = known[name]
            for requirement, worst in one.worst.items():
                if worst not in BAD and worst != "pass":
                    continue
                bad = worst in BAD
                before = definite.get(requirement)
                if before is not None and before[1] != bad:
                    change = "regressed" if bad else "mended"
                    shift = Shift(change, implementation, how, requirement, before[0], name)  # type: ignore[arg-type]
                    shifts.append((one.first, shift))
                definite[requirement] = name, bad
        for name in names[-MOST_VERSIONS:]:
            one = known[name]
            worst_of = Counter(one.worst.values())
            versions.append(
                Version(implementation, how, name, one.runs, one.first, one.last, dict(one.verdicts), dict(worst_of))
            )
    shifts.sort(key=lambda each: (-each[0].toordinal(), each[1].change != "regressed", each[1].implementation,
                                  each[1].requirement))  # fmt: skip
    return versions, [shift for _, shift in shifts[:MOST_SHIFTS]]


def _followed(readings: Mapping[tuple[str, str], _Alternative]) -> list[Followed]:
    found = [
        Followed(name, alternative, one.verdicts, len(one.senders), one.more, sorted(one.implementations))
        for (name, alternative), one in sorted(readings.items())
    ]
    return found[:MOST_READINGS]


def trends_json(trends: Trends) -> dict[str, Any]:
    """Return the trends as members of the report's JSON object."""
    return {
        "versions": [
            {
                "implementation": one.implementation,
                **_how(one.how),
                "version": one.name or None,
                "runs": one.runs,
                "first": _day(one.first) or None,
                "last": _day(one.last) or None,
                "verdicts": _by_rank(one.verdicts),
                "requirements": _by_rank(one.requirements),
                "regressed": _changed(trends, one, "regressed"),
                "mended": _changed(trends, one, "mended"),
            }
            for one in trends.versions
        ],
        "readings": [
            {
                "reading": one.reading,
                "alternative": one.alternative,
                "verdicts": one.verdicts,
                "senders": one.senders,
                "more_senders": one.more,
                "implementations": [
                    {"implementation": name, "version": version or None} for name, version in one.implementations
                ],
            }
            for one in trends.readings
        ],
    }


def _how(how: How) -> dict[str, str]:
    return dict(zip(("profile", "level", "reading_set"), how, strict=True))


def _by_rank(counts: Mapping[str, int]) -> dict[str, int]:
    return {one.value: counts[one.value] for one in Outcome if counts.get(one.value)}


def _shifts(trends: Trends, version: Version, change: str) -> list[Shift]:
    return [
        one
        for one in trends.shifts
        if (one.implementation, one.how, one.after, one.change)
        == (version.implementation, version.how, version.name, change)
    ]


def _changed(trends: Trends, version: Version, change: str) -> list[dict[str, str | None]]:
    return [{"requirement": one.requirement, "since": one.before or None} for one in _shifts(trends, version, change)]


def trends_section(trends: Trends) -> dict[str, Any]:
    """Return what `trends.html.j2` shows: the last versions of each implementation, the changes, the readings."""
    shown: dict[Series, list[Version]] = {}
    for one in trends.versions:
        shown.setdefault((one.implementation, one.how), []).append(one)
    several = {name for name in (key[0] for key in shown) if sum(key[0] == name for key in shown) > 1}
    latest = {(name, versions[-1].name) for (name, _), versions in shown.items()}

    def named(name: str, how: How) -> str:
        return label(f"{name} ({', '.join(how)})" if name in several else name, 160)

    return {
        "versions": [
            {
                "who": named(one.implementation, one.how),
                "version": label(one.name, 80) or "not reported",
                "runs": one.runs,
                "first": _day(one.first),
                "last": _day(one.last),
                "refuted": sum(count for outcome, count in one.requirements.items() if outcome in BAD),
                "noted": sum(count for outcome, count in one.requirements.items() if outcome in NOTED),
                "kept": one.requirements.get("pass", 0),
                "regressed": len(_shifts(trends, one, "regressed")),
                "mended": len(_shifts(trends, one, "mended")),
            }
            for versions in shown.values()
            for one in reversed(versions[-SHOWN_VERSIONS:])
        ],
        "shifts": [
            {
                "change": one.change,
                "requirement": label(one.requirement),
                "who": named(one.implementation, one.how),
                "before": label(one.before, 80) or "not reported",
                "after": label(one.after, 80) or "not reported",
            }
            for one in trends.shifts[:SHOWN_SHIFTS]
        ],
        "readings": [
            {
                "reading": label(one.reading),
                "alternative": label(one.alternative),
                "verdicts": one.verdicts,
                "senders": f"{one.senders:,}{' or more' if one.more else ''}",
                "who": [label(" ".join(pair).strip(), 80) for pair in one.implementations if pair in latest][:8],
            }
            for one in trends.readings[:SHOWN_READINGS]
        ],
    }


def trends_lines(trends: Trends) -> Sequence[str]:
    """Return the latest changes between versions in a few lines."""
    return [
        f"{one.change}: {one.requirement} in {one.implementation} {one.after or 'of no version'}, "
        f"last {'clean' if one.change == 'regressed' else 'refuted'} in {one.before or 'one of no version'}"
        for one in trends.shifts[:5]
    ]


def _day(day: date) -> str:
    return "" if day <= UNKNOWN_DAY else day.isoformat()
