"""The figures of a report: one query each over the counted rows of a lake, and the changes from day to day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import groupby
from threading import Event, Thread
from typing import Any, Final

from duckdb import DuckDBPyConnection, Error, InterruptException

from conformance.pipeline.lake import Lake, damaged
from conformance.pipeline.schemas import COLUMNS, QUERY_TIMEOUT_S, incomplete_of
from conformance.pipeline.tables import opened
from conformance.pipeline.untrusted_files import PipelineError, memory
from conformance.report.corpus import (
    BAD,
    JUDGED,
    KINDS,
    NOTED,
    UNKNOWN_DAY,
    Corpus,
    Course,
    Demand,
    Example,
    File,
    Followed,
    How,
    Kind,
    Pair,
    Queue,
    Shift,
    Span,
    Subject,
    Version,
    order,
)
from conformance.report.text import label
from conformance.runlog import Incomplete
from conformance.untrusted import UnfitError
from conformance.verdict import Outcome

MOST_VERSIONS: Final = 100
"""Versions of one implementation: the latest."""
MOST_SHIFTS: Final = 500
MOST_READINGS: Final = 500
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
    query = f"""select {_KEYS}, requirement, max_by(worst, (date, started is not null, started, run_id))
        from (
          select {_KEYS}, run_id, date, started, requirement,
            min_by(outcome, list_position({_RANKED}, outcome)) as worst
          from named join results using (run_id, date) where outcome in {tuple(sorted(JUDGED | NOTED))} group by all)
        group by all"""
    worst = _by_version(db, query)
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
    query = f"""select one.key as name, coalesce(one.value, '') as alternative, sum(count), count(distinct sender),
          list(distinct (who, version)) filter (who is not null)
        from (
          select unnest(map_entries(readings)) as one, count, sender, null as who, null as version
          from verdicts where outcome in ('pass', 'reading')
          union all
          select unnest(map_entries(readings)), count, null, n.who, version
          from named n join results r using (run_id, date) where outcome in ('pass', 'reading'))
        group by name, alternative order by name, alternative limit {MOST_READINGS}"""
    return [
        Followed(name, alternative, verdicts, senders, sorted(who or ()))
        for name, alternative, verdicts, senders, who in rows(db, query)
    ]


def _by_version(db: DuckDBPyConnection, query: str) -> dict[tuple[str, How, str], dict[str, Any]]:
    out: dict[tuple[str, How, str], dict[str, Any]] = {}
    for name, profile, level, readings, version, key, value in rows(db, query):
        out.setdefault((name, (profile, level, readings), version), {})[key] = value
    return out


MAX_PAIRS: Final = 50_000
"""Pairs of subject and requirement that are followed: those with the most verdicts against them."""
MAX_DAYS: Final = 2_000_000
"""Days of all these pairs together, so that a lake of years takes no more memory than one of a month."""
MEMORY: Final = 1 << 29
"""Bytes that DuckDB takes; groups beyond that go to temporary files."""
ARROW: Final = 1 << 30
"""Bytes that the process takes, with those of DuckDB."""
_AGAIN_S: Final = 0.2
MOST_QUEUES: Final = 200
MOST_EXAMPLES: Final = 300
"""Requirements that get their first and last deviation as examples."""
MOST_FILES: Final = 100
MOST_NAMES: Final = 20

_BAD, _AGAINST, _SPOKEN, _KNOWN = (
    f"(outcome in {tuple(sorted(names))})" for names in (BAD, BAD | NOTED, JUDGED | NOTED, JUDGED | NOTED | {"skip"})
)
_WORST: Final = f"coalesce(sum(n) filter ({_BAD}), 0) desc, sum(n) desc"
_LATEST: Final = f"select date, path, {{}} from {{}} order by date desc, path limit {MOST_FILES}"
_HOW: Final = """select profile, level, reading_set, coalesce(judged_by, '') as by from captures
    union select profile, level, reading_set, coalesce(judged_by, '') from runs order by all"""
_VIEWS: Final = (
    # Of several runs of an implementation on a day, the last that judged a requirement counts.
    f"""create temp view last_runs as
    select r.date, coalesce(r.implementation, 'not named') as subject,
      coalesce(requirement, 'not named') as requirement,
      max_by(r.run_id, (coalesce(started, timestamptz 'epoch'), r.run_id)) as run_id
    from results r left join runs u on u.run_id = r.run_id and u.date = r.date where {_SPOKEN} group by all""",
    f"""create temp view said as
    select 'wire' as kind, date, coalesce(sender, case when outcome <> 'pass' then 'sender not known' end) as subject,
      coalesce(requirement, 'not named') as requirement, outcome, count, queue from verdicts where {_SPOKEN}
    union all
    select 'run', r.date, l.subject, l.requirement, outcome, count, null from results r join last_runs l
      on (l.date, l.requirement, l.run_id, l.subject)
      = (r.date, coalesce(r.requirement, 'not named'), r.run_id, coalesce(r.implementation, 'not named'))
    where {_SPOKEN}""",
    f"""create temp view seen as
    select sender as subject, date from verdicts where sender is not null and {_SPOKEN}
    union select coalesce(initiator_manager, initiator), date from sessions where initiator_packets > 0
    union select coalesce(acceptor_manager, acceptor), date from sessions where acceptor_packets > 0""",
    f"""create temp view deviations as
    select 'wire' as kind, requirement, date, outcome, subject as text, expected, actual, reason, readings,
      sender as who, queue, capture_id as id, first_time as began from verdicts where {_AGAINST}
    union all
    select 'run', requirement, date, outcome, subject, expected, actual, reason, readings, implementation, null,
      run_id, null from results where {_AGAINST}""",
)


def gather(lake: Lake, timeout_s: float = QUERY_TIMEOUT_S) -> Corpus:
    """Gather everything that a report shows of the lake. timeout_s: of all queries. Raises PipelineError."""
    version = lake.batches().number
    with opened(lake, MEMORY) as db:
        try:
            with memory(ARROW), _interrupted(db, timeout_s):  # Delta has read the logs with hundreds of threads.
                return _gathered(db, lake.place, version)
        except UnfitError as problem:
            raise damaged(lake.place, problem) from None
        except InterruptException:
            raise PipelineError(
                f"The queries of the report took more than {timeout_s:g} s; give them more with --timeout."
            ) from None
        except (Error, OSError) as problem:
            lines = str(problem).strip().splitlines() or [type(problem).__name__]
            text = label(lines[0].rstrip("."), 300)
            raise PipelineError(f"The tables of the lake {lake.place} cannot be read: {text}.") from None


@contextmanager
def _interrupted(db: DuckDBPyConnection, timeout_s: float) -> Iterator[None]:
    """Interrupt every query that runs after this time."""
    ended = Event()

    def interrupt() -> None:
        ended.wait(timeout_s)
        while not ended.wait(_AGAIN_S):  # An interrupt between two queries has no effect.
            db.interrupt()

    thread = Thread(target=interrupt, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _gathered(db: DuckDBPyConnection, place: str, version: int) -> Corpus:
    for view in _VIEWS:
        db.execute(view)
    totals = _totals(db)
    traffic: dict[date, int] = dict(_sums(db, "captures", "date", "packets", "captures"))
    trend: dict[tuple[Kind, date], Counter[str]] = {}
    for kind, day, outcome, count in _sums(db, "said", "kind, date, outcome", "count", "verdicts"):
        trend.setdefault((kind, day), Counter())[outcome] = count
    refuted = rows(db, f"select kind, date, count(distinct requirement) from said where {_BAD} group by all")
    refuted_on = {(kind, day): count for kind, day, count in refuted}
    days = {*traffic, *(day for _, day in trend), *(day for (day,) in rows(db, "select distinct date from runs"))}
    courses = _courses(db, len(days) or 1)
    demands = _demands(db, courses)
    versions, shifts = trends(db)
    lacking = "nullif(cut, '') is not null or " + " or ".join(f"{name} <> 0" for name in COLUMNS)
    return Corpus(
        place=place,
        version=version,
        span=Span.of([day for day in days if day > UNKNOWN_DAY]),
        totals=totals,
        trend=trend,
        refuted=refuted_on,
        traffic=traffic,
        subjects=_subjects(db, courses),
        demands=demands,
        courses=courses,
        queues=_queues(db),
        queues_in_all=_one(db, f"select count(distinct queue) from verdicts where {_AGAINST}")[0],
        examples=_examples(db, demands),
        sessions=_counts(db, "select coalesce(nullif(closed_how, ''), 'open') as name, 1 as n from sessions"),
        skipped=_counts(db, _entries("skipped")),
        handed_over=_counts(db, _entries("handed_over")),
        incomplete=Incomplete(cut=totals["cut"], **{name: totals[column] for column, name in COLUMNS.items()}),
        damaged=[
            File(day, path, incomplete_of(dict(zip(("cut", *COLUMNS), lost, strict=True))).words, lost[0] or "")
            for day, path, *lost in rows(db, _LATEST.format(", ".join(("cut", *COLUMNS)), f"captures where {lacking}"))
        ],
        damaged_in_all=_one(db, f"select count(*) from captures where {lacking}")[0],
        rejected=[File(*row) for row in rows(db, _LATEST.format("reason", "rejected"))],
        rejected_in_all=_one(db, "select count(*) from rejected")[0],
        how=list(rows(db, _HOW)),
        versions=versions,
        shifts=shifts,
        readings=readings(db),
    )


def _sums(db: DuckDBPyConnection, table: str, keys: str, number: str, what: str) -> Iterator[Any]:
    """Yield the keys with the sum of a number. what: names the rows. Raises UnfitError for one that cannot be."""
    query = f"select {keys}, sum({number}), min(coalesce({number}, -1)) from {table} group by all"
    for *row, least in rows(db, query):
        if least < 0:
            raise UnfitError(f"has {what} without a number, or with one below 0")
        yield row


def _one(db: DuckDBPyConnection, query: str) -> Any:
    """Return the only row of the answer to a query."""
    return db.execute(query).fetchone()


def _totals(db: DuckDBPyConnection) -> dict[str, int]:
    names = ["bytes", "records", "packets", "lost_bytes", *COLUMNS]
    sums = ", ".join(f"coalesce(sum({name}), 0)" for name in names)
    captures = _one(db, f"select {sums}, count(*), count(nullif(cut, '')) from captures")
    runs = _one(db, "select count(*), count_if(not complete), count(distinct coalesce(implementation, '')) from runs")
    names += ["captures", "cut", "runs", "incomplete", "implementations"]
    return dict(zip(names, (*captures, *runs), strict=True))


def _said(db: DuckDBPyConnection, keys: str, where: str, tail: str = "") -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yield the groups of verdicts with these keys, and the members of `Said`. tail: what to do with the groups."""
    query = f"""select {keys}, map_from_entries(list((outcome, n) order by outcome)), min(first), max(last)
        from (
          select {keys}, outcome, sum(count) as n, min(date) filter (outcome <> 'pass') as first,
            max(date) filter (outcome <> 'pass') as last from said where {where} group by all)
        group by {keys} {tail}"""
    for *key, counts, first, last in rows(db, query):
        yield key, {"counts": counts, "first": first, "last": last}


def _courses(db: DuckDBPyConnection, days: int) -> dict[Pair, Course]:
    """Return the pairs with a verdict against them, each with the days on which its requirement was judged."""
    db.execute(f"""create temp table pairs as
        select kind, subject, requirement,
          row_number() over (order by bad desc, noted desc, kind desc, subject desc, requirement desc) as place
        from (
          select kind, subject, requirement, coalesce(sum(count) filter ({_BAD}), 0) as bad, sum(count) - bad as noted
          from said where {_AGAINST} and subject is not null group by all)
        order by place limit {min(MAX_PAIRS, MAX_DAYS // days)}""")
    query = f"""select place, any_value(kind), any_value(subject), any_value(requirement), date,
          coalesce(sum(count) filter ({_BAD}), 0), coalesce(sum(count) filter ({_AGAINST} and not {_BAD}), 0)
        from (
          select place, kind, subject, requirement, date, outcome, count
          from said join pairs using (kind, subject, requirement)
          union all
          select place, kind, subject, requirement, date, 'pass', 0 from pairs join seen using (subject) join (
            select distinct requirement, date from verdicts where sender is null and outcome in {tuple(sorted(JUDGED))}
          ) using (requirement, date) where kind = 'wire')
        where date <> '{UNKNOWN_DAY}' group by place, date order by place, date"""
    out: dict[Pair, Course] = {}
    same: dict[Any, Any] = {}  # Millions of days and pairs of numbers, most of them equal, are one object each.
    for _, kind, subject, requirement, day, bad, noted in rows(db, query):
        course = out.setdefault((kind, subject, requirement), Course(kind, subject, requirement, {}))
        course.days[same.setdefault(day, day)] = same.setdefault((bad, noted), (bad, noted))
    return out


def _subjects(db: DuckDBPyConnection, courses: Mapping[Pair, Course]) -> list[Subject]:
    mine: dict[tuple[str, str], list[Course]] = {}
    for one in courses.values():
        mine.setdefault((one.kind, one.subject), []).append(one)
    subjects = []
    tail = f"having bool_or({_AGAINST}) order by {_WORST} limit {MAX_PAIRS}"
    for (kind, name), said in _said(db, "kind, subject", "subject is not null", tail):
        found = mine.get((kind, name), [])
        days: Counter[date] = Counter()
        for course in found:
            days.update({day: bad for day, (bad, _) in course.days.items()})
        subjects.append(
            Subject(
                kind=kind,
                name=name,
                refuted=sum(one.bad > 0 for one in found),
                standing=sum(one.standing for one in found),
                regressions=sum(one.change in ("new", "again") for one in found),
                days=days,
                **said,
            )
        )
    return sorted(subjects, key=lambda one: (-one.standing, -one.refuted, -one.bad, -one.noted, one.kind, one.name))


def _demands(db: DuckDBPyConnection, courses: Mapping[Pair, Course]) -> list[Demand]:
    subjects: Counter[str] = Counter()
    standing: Counter[str] = Counter()
    for course in courses.values():
        subjects[course.requirement] += course.bad > 0
        standing[course.requirement] += course.standing
    found = [
        Demand(requirement=name, subjects=subjects[name], standing=standing[name], **said)
        for (name,), said in _said(db, "requirement", "true")
    ]
    return sorted(
        found,
        key=lambda one: (one.bad == 0, one.noted == 0, -one.standing, -one.subjects, -one.bad, one.requirement),
    )


def _queues(db: DuckDBPyConnection) -> list[Queue]:
    where = f"kind = 'wire' and {_AGAINST} and queue is not null"
    found = {name: said for (name,), said in _said(db, "queue", where, f"order by {_WORST}, queue limit {MOST_QUEUES}")}
    by: dict[str, dict[str, int]] = {}
    query = f"""select queue, requirement, sum(count) as n from said
        where {where} and queue in (select unnest(?)) group by all order by n desc, requirement"""
    for queue, requirement, count in rows(db, query, list(found)):
        by.setdefault(queue, {})[requirement] = count
    return [Queue(queue=name, requirements=by[name], **said) for name, said in found.items()]


def _entries(column: str) -> str:
    return f"select unnest(map_keys({column})) as name, unnest(map_values({column})) as n from captures"


def _counts(db: DuckDBPyConnection, source: str) -> dict[str, int]:
    query = f"select name, sum(n) as n from ({source}) group by name order by n desc, name limit {MOST_NAMES}"
    return dict(rows(db, query))


def _examples(db: DuckDBPyConnection, demands: Sequence[Demand]) -> dict[str, list[Example]]:
    """Return the first and the last deviation of each requirement; one that refutes, if there is one.

    Of several at one time it is the same one whatever the order of the files.
    """
    wanted = {(one.requirement, day) for one in demands[:MOST_EXAMPLES] for day in (one.first, one.last) if day}
    query = f"""select requirement, date, kind,
          min_by((outcome, text, who, queue, id, expected, actual, reason, readings),
          (not {_BAD}, began, outcome, coalesce(text, ''), id, expected, actual, reason, who, queue)) as best
        from deviations semi join (select unnest(?) as requirement, unnest(?) as date) using (requirement, date)
        group by all order by requirement, date"""
    found = list(rows(db, query, [name for name, _ in wanted], [day for _, day in wanted]))
    query = """select capture_id, min(path) from captures where capture_id in (select unnest(?)) group by all
        union all select run_id, min(path) from runs where run_id in (select unnest(?)) group by all"""
    ids = ({best[4] for _, _, kind, best in found if kind == each} for each in KINDS)
    paths = dict(rows(db, query, *map(list, ids)))
    out: dict[str, list[Example]] = {}
    for requirement, group in groupby(found, key=lambda row: row[0]):
        seen = sorted(group, key=lambda row: (row[1], KINDS.index(row[2])))
        for _, day, kind, best in seen[:1] + seen[1:][-1:]:
            outcome, text, who, queue, of, expected, actual, reason, assumed = best
            pairs = tuple((assumed or {}).items())
            place = paths.get(of, "")
            out.setdefault(requirement, []).append(
                Example(kind, outcome, text or "", who, queue, place, day, expected, actual, reason, pairs)
            )
    return out
