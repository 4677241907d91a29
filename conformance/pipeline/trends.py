"""Trends over versions: what each version of an implementation keeps and breaks, and the readings that are followed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from conformance.report.corpus import BAD, JUDGED, NOTED, Followed, How, Shift, Version
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_VERSIONS: Final = 100
"""Versions of one implementation: the latest."""
MOST_SHIFTS: Final = 500
MOST_READINGS: Final = 500
_NUMBER: Final = re.compile(r"v?(\d{1,9}(?:\.\d{1,9})*)(.*)", re.ASCII | re.DOTALL)
_RANKED: Final = [outcome.value for outcome in Outcome]
_NAMED: Final = """create temp view named as
    select run_id, date, started, coalesce(implementation, 'not named') as who, profile, level, reading_set,
      coalesce(implementation_version, '') as version from runs"""
_KEYS: Final = "who, profile, level, reading_set, version"
Series = tuple[str, How]
"""An implementation, judged in one way."""


def rows(db: DuckDBPyConnection, query: str, *parameters: Any) -> Iterator[Any]:
    """Yield the rows of the answer to a query; the next query ends it."""
    found = db.execute(query, parameters)
    while some := found.fetchmany(10_000):
        yield from some


def trends(db: DuckDBPyConnection) -> tuple[list[Version], list[Shift]]:
    """Return the versions of all implementations in their order, and the changes between them, the latest first."""
    db.execute(_NAMED)
    known: dict[Series, dict[str, tuple[int, date, date]]] = {}
    for name, *how, version, runs, first, last in rows(
        db, f"select {_KEYS}, count(*), min(date), max(date) from named group by all order by all"
    ):
        known.setdefault((name, (how[0], how[1], how[2])), {})[version] = runs, first, last
    ordered = {key: order({name: one[1] for name, one in found.items()})[-2 * MOST_VERSIONS :]
               for key, found in known.items()}  # fmt: skip
    verdicts = _by_version(
        db, f"select {_KEYS}, outcome, sum(count) from named join results using (run_id, date) group by all"
    )
    worst = _by_version(
        db,
        f"""select {_KEYS}, requirement, max_by(worst, (date, started is not null, started, run_id))
        from (
          select {_KEYS}, run_id, date, started, requirement,
            min_by(outcome, list_position({_RANKED}, outcome)) as worst
          from named join results using (run_id, date) where outcome in {tuple(sorted(JUDGED | NOTED))} group by all)
        group by all""",
    )
    versions: list[Version] = []
    shifts: list[tuple[date, Shift]] = []
    for key, names in ordered.items():
        definite: dict[str, tuple[str, bool]] = {}
        """Requirement to the last version that refuted it or was clean, and whether it was refuted."""
        for name in names:
            for requirement, outcome in worst.get((*key, name), {}).items():
                bad = outcome in BAD
                if not bad and outcome != "pass":
                    continue
                before = definite.get(requirement)
                if before is not None and before[1] != bad:
                    shift = Shift("regressed" if bad else "mended", *key, requirement, before[0], name)
                    shifts.append((known[key][name][1], shift))
                definite[requirement] = name, bad
        for name in names[-MOST_VERSIONS:]:
            runs, first, last = known[key][name]
            said, kept = verdicts.get((*key, name), {}), Counter(worst.get((*key, name), {}).values())
            versions.append(Version(*key, name, runs, first, last, said, kept))
    shifts.sort(key=lambda each: (-each[0].toordinal(), each[1].change != "regressed", each[1].implementation,
                                  each[1].requirement))  # fmt: skip
    return versions, [shift for _, shift in shifts[:MOST_SHIFTS]]


def readings(db: DuckDBPyConnection) -> list[Followed]:
    """Return who conforms under which alternative of which reading."""
    found = rows(
        db,
        f"""select one.key as name, coalesce(one.value, '') as alternative, sum(count), count(distinct sender),
          list(distinct (who, version)) filter (who is not null)
        from (
          select unnest(map_entries(readings)) as one, count, sender, null as who, null as version
          from verdicts where outcome in ('pass', 'reading')
          union all
          select unnest(map_entries(readings)), count, null, n.who, version
          from named n join results r using (run_id, date) where outcome in ('pass', 'reading'))
        group by name, alternative order by name, alternative limit {MOST_READINGS}""",
    )
    return [
        Followed(name, alternative, verdicts, senders, sorted(who or ()))
        for name, alternative, verdicts, senders, who in found
    ]


def order(names: Mapping[str, date]) -> list[str]:
    """Return versions, oldest first. names: each with the day of its first run.

    If all of them begin with a number, the numbers decide (2.9 before 2.10, 3.0-rc1 before 3.0); otherwise the days.
    """
    found = {name: _NUMBER.fullmatch(name) for name in names}
    if all(found.values()):
        return sorted(names, key=lambda name: (_key(found[name]), names[name], name))
    return sorted(names, key=lambda name: (names[name], name))


def _by_version(db: DuckDBPyConnection, query: str) -> dict[tuple[str, How, str], dict[str, Any]]:
    out: dict[tuple[str, How, str], dict[str, Any]] = {}
    for name, profile, level, readings, version, key, value in rows(db, query):
        out.setdefault((name, (profile, level, readings), version), {})[key] = value
    return out


def _key(found: Any) -> tuple[tuple[int, ...], int]:
    numbers = [int(one) for one in found[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()  # 2.0 is 2
    rest = found[2].lower()
    early = re.match(r"[-._]?(a|alpha|b|beta|rc|dev|pre)", rest) is not None
    return tuple(numbers), -1 if early else int(bool(rest))
