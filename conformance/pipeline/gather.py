"""Gather the contents of a lake for a report: one pass over its days, then the examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from conformance.pipeline.corpus import (
    BAD,
    JUDGED,
    KINDS,
    MAX_PAIRS,
    NOTED,
    Corpus,
    Course,
    Demand,
    Example,
    Kind,
    Pair,
    Queue,
    Said,
    Span,
    Subject,
)
from conformance.pipeline.lacking import COLUMNS, incomplete_of
from conformance.pipeline.lake import Lake
from conformance.pipeline.scan import UNKNOWN_DAY, Days, Row, first_of, stored_under
from conformance.pipeline.scan import field as column
from conformance.pipeline.trends import trends_of

MOST_QUEUES: Final = 200
MAX_QUEUES: Final = 100_000
"""Queues counted; beyond that, the queues with the fewest verdicts against them are dropped."""
MOST_EXAMPLES: Final = 300
"""Requirements that get their first and last deviation as examples."""
MOST_DAMAGED: Final = 50
MOST_REJECTED: Final = 100

_COUNT = {"count": ("count", "sum")}


@dataclass(slots=True)
class _Sums:
    """The sums over the days so far. first, last: requirement to the day of the first and last deviation."""

    trend: dict[tuple[Kind, date], Counter[str]] = field(default_factory=dict)
    refuted: dict[tuple[Kind, date], int] = field(default_factory=dict)
    demands: dict[str, Said] = field(default_factory=dict)
    subjects: dict[tuple[Kind, str], Said] = field(default_factory=dict)
    by_day: dict[tuple[Kind, str], Counter[date]] = field(default_factory=dict)
    against: dict[Pair, dict[date, tuple[int, int]]] = field(default_factory=dict)
    judged: dict[str, set[date]] = field(default_factory=dict)
    """Days on which a requirement was judged in rows that name no sender."""
    run_days: dict[tuple[str, str], set[date]] = field(default_factory=dict)
    seen: dict[str, set[date]] = field(default_factory=dict)
    queues: dict[str, tuple[Said, Counter[str]]] = field(default_factory=dict)
    forgotten: int = 0
    sessions: Counter[str] = field(default_factory=Counter)

    def say(self, kind: Kind, subject: str | None, requirement: str, outcome: str, count: int, day: date) -> None:
        """Add one group of verdicts."""
        self.trend.setdefault((kind, day), Counter())[outcome] += count
        self.demands.setdefault(requirement, Said()).add(outcome, count, day)
        if subject is None:
            return
        self.subjects.setdefault((kind, subject), Said()).add(outcome, count, day)
        if outcome in BAD or outcome in NOTED:
            days = self.against.setdefault((kind, subject, requirement), {})
            bad, noted = days.get(day, (0, 0))
            days[day] = (bad + count, noted) if outcome in BAD else (bad, noted + count)
            if outcome in BAD:
                self.by_day.setdefault((kind, subject), Counter())[day] += count


def gather(lake: Lake) -> Corpus:
    """Gather everything that a report shows of the lake. Raises PipelineError."""
    days = Days(lake)
    sums = _Sums()
    totals: Counter[str] = Counter()
    traffic: dict[date, Row] = {}
    for day in days.of("captures"):
        found = days.sums(
            "captures",
            day,
            ["profile"],
            {name: (name, "sum") for name in ("bytes", "records", "packets", "lost_bytes", *COLUMNS)}
            | {"captures": ("capture_id", "count"), "cut": ("cut", "count")},
        )
        line: Counter[str] = Counter()
        for row in found:
            line.update({name: value or 0 for name, value in row.items() if name != "profile"})
        traffic[day] = line
        totals.update(line)
    for day in days.of("verdicts"):
        _verdicts(days, day, sums)
    for day in days.of("sessions"):
        _sessions(days, day, sums)
    runs, how = _runs(days, sums, totals)
    how |= _captures_how(days)
    courses = _courses(sums, _judged_by(days, sums))
    subjects, demands = _subjects(sums, courses), _demands(sums, courses)
    known = [day for day in {*traffic, *(day for _, day in sums.trend), *runs} if day > UNKNOWN_DAY]
    skipped, handed_over, damaged, damaged_in_all = _damage(days)
    rejected, rejected_in_all = _rejected(days)
    return Corpus(
        place=lake.place,
        version=days.version,
        span=Span.of(known),
        totals=dict(totals),
        trend=sums.trend,
        refuted=sums.refuted,
        traffic=traffic,
        subjects=subjects,
        demands=demands,
        courses=courses,
        pairs=len(sums.against),
        queues=_queues(sums),
        queues_in_all=len(sums.queues) + sums.forgotten,
        examples=_examples(days, demands),
        sessions=dict(sums.sessions.most_common()),
        skipped=skipped,
        handed_over=handed_over,
        damaged=damaged,
        damaged_in_all=damaged_in_all,
        rejected=rejected,
        rejected_in_all=rejected_in_all,
        how=sorted(how),
        trends=trends_of(days),
    )


def _verdicts(days: Days, day: date, sums: _Sums) -> None:
    refuted: set[str] = set()
    passed = column("outcome") == "pass"
    for row in days.sums("verdicts", day, ["requirement", "outcome", "sender"], _COUNT, where=~passed):
        requirement, outcome, sender = row["requirement"], row["outcome"], row["sender"]
        if outcome == "skip":
            continue
        if sender is not None:
            sums.seen.setdefault(sender, set()).add(day)
        elif outcome in JUDGED:
            sums.judged.setdefault(requirement, set()).add(day)
        if outcome in BAD:
            refuted.add(requirement)
        sums.say("wire", "sender not known" if sender is None else sender, requirement, outcome, row["count"], day)
    # Passes by sender and requirement would be most of all groups; counted separately they are few.
    whole = {"whole": column("sender").is_null()}
    for row in days.sums("verdicts", day, ["requirement", "whole"], _COUNT, where=passed, made=whole):
        if row["whole"]:
            sums.judged.setdefault(row["requirement"], set()).add(day)
        sums.say("wire", None, row["requirement"], "pass", row["count"], day)
    for row in days.sums("verdicts", day, ["sender"], _COUNT, where=passed & column("sender").is_valid()):
        sums.seen.setdefault(row["sender"], set()).add(day)
        sums.subjects.setdefault(("wire", row["sender"]), Said()).add("pass", row["count"], day)
    sums.refuted[("wire", day)] = len(refuted)
    noted = column("outcome").isin(sorted(BAD | NOTED)) & column("queue").is_valid()
    for row in days.sums("verdicts", day, ["queue", "requirement", "outcome"], _COUNT, where=noted):
        said, by = sums.queues.setdefault(row["queue"], (Said(), Counter()))
        said.add(row["outcome"], row["count"], day)
        by[row["requirement"]] += row["count"]
    if len(sums.queues) > MAX_QUEUES:
        worst = sorted(sums.queues, key=lambda name: _weight(sums.queues[name][0]), reverse=True)
        for name in worst[MAX_QUEUES // 2 :]:
            del sums.queues[name]
            sums.forgotten += 1


def _sessions(days: Days, day: date, sums: _Sums) -> None:
    for row in days.sums("sessions", day, ["closed_how"], {"count": ("stream_id", "count")}):
        sums.sessions[row["closed_how"] or "open"] += row["count"]
    for side in ("initiator", "acceptor"):
        found = days.sums(
            "sessions",
            day,
            ["who"],
            {"packets": (f"{side}_packets", "sum")},
            where=column(f"{side}_packets") > 0,
            made={"who": first_of(f"{side}_manager", side)},
        )
        for row in found:
            sums.seen.setdefault(row["who"], set()).add(day)


def _runs(days: Days, sums: _Sums, totals: Counter[str]) -> tuple[list[date], set[tuple[str, str, str, str]]]:
    """Add the run records. Of several runs of an implementation on a day, the last that judged a requirement counts."""
    how: set[tuple[str, str, str, str]] = set()
    names: set[str] = set()
    found = days.of("runs")
    for day in found:
        order: dict[str, tuple[datetime, str]] = {}
        for row in days.rows(
            "runs",
            day,
            ["run_id", "implementation", "started", "complete", "profile", "level", "reading_set", "judged_by"],
        ):
            totals["runs"] += 1
            totals["incomplete"] += not row["complete"]
            names.add(row["implementation"] or "not named")
            how.add((row["profile"], row["level"], row["reading_set"], row["judged_by"] or ""))
            order[row["run_id"]] = (row["started"] or datetime.min, row["run_id"])
        groups = days.sums("results", day, ["implementation", "requirement", "outcome", "run_id"], _COUNT)
        last: dict[tuple[str, str], tuple[Any, ...]] = {}
        spoken = [row for row in groups if row["outcome"] in JUDGED or row["outcome"] in NOTED]
        for row in spoken:
            key = (row["implementation"] or "not named", row["requirement"])
            last[key] = max(last.get(key, ()), _order(order.get(row["run_id"]), row["run_id"]))
        refuted: set[str] = set()
        for row in spoken:
            key = (row["implementation"] or "not named", row["requirement"])
            if last[key] != _order(order.get(row["run_id"]), row["run_id"]):
                continue
            if row["outcome"] in JUDGED:
                sums.run_days.setdefault(key, set()).add(day)
            if row["outcome"] in BAD:
                refuted.add(row["requirement"])
            sums.say("run", key[0], key[1], row["outcome"], row["count"], day)
        sums.refuted[("run", day)] = len(refuted)
    totals["implementations"] = len(names)
    return found, how


def _order(known: tuple[datetime, str] | None, run: str) -> tuple[float, str]:
    at = known[0] if known is not None else datetime.min
    return (0.0 if at == datetime.min else at.timestamp(), run)


def _captures_how(days: Days) -> set[tuple[str, str, str, str]]:
    keys = ["profile", "level", "reading_set", "judged_by"]
    return {
        (row["profile"], row["level"], row["reading_set"], row["judged_by"])
        for day in days.of("captures")
        for row in days.sums("captures", day, keys, {"count": ("capture_id", "count")})
    }


def _worst_pairs(sums: _Sums) -> list[Pair]:
    return sorted(sums.against, key=lambda pair: (_said(sums.against[pair]), pair), reverse=True)[:MAX_PAIRS]


def _judged_by(days: Days, sums: _Sums) -> dict[tuple[str, str], set[date]]:
    """Return the days on which a requirement was judged on packets of a sender, for pairs with a verdict against them.

    This is a second pass, because a requirement is kept before it is broken.
    """
    wanted: dict[tuple[str, str], set[date]] = {
        (who, what): set() for kind, who, what in sums.against if kind == "wire"
    }
    if not wanted:
        return wanted
    where = stored_under({what for _, what in wanted}) & column("sender").is_valid()
    where = where & column("outcome").isin(sorted(JUDGED))
    for day in days.of("verdicts"):
        for row in days.sums("verdicts", day, ["sender", "requirement"], _COUNT, where=where):
            if (found := wanted.get((row["sender"], row["requirement"]))) is not None:
                found.add(day)
    return wanted


def _courses(sums: _Sums, judged_by: Mapping[tuple[str, str], set[date]]) -> dict[Pair, Course]:
    out: dict[Pair, Course] = {}
    for pair in _worst_pairs(sums):
        kind, subject, requirement = pair
        if kind == "run":
            known = sums.run_days.get((subject, requirement), set())
        else:
            known = sums.seen.get(subject, set()) & sums.judged.get(requirement, set())
            known = known | judged_by.get((subject, requirement), set())
        said = {**dict.fromkeys(known, (0, 0)), **sums.against[pair]}
        said.pop(UNKNOWN_DAY, None)
        if said:
            out[pair] = Course(kind, subject, requirement, said)
    return out


def _said(days: Mapping[date, tuple[int, int]]) -> tuple[int, int]:
    return sum(bad for bad, _ in days.values()), sum(noted for _, noted in days.values())


def _subjects(sums: _Sums, courses: Mapping[Pair, Course]) -> list[Subject]:
    numbers: dict[tuple[Kind, str], Counter[str]] = {}
    for course in courses.values():
        found = numbers.setdefault((course.kind, course.subject), Counter())
        found["requirements"] += course.bad > 0
        found["standing"] += course.standing
        found["regressions"] += course.change in ("new", "again")
    subjects = [
        Subject(
            kind,
            name,
            said,
            numbers.get((kind, name), Counter())["requirements"],
            numbers.get((kind, name), Counter())["standing"],
            numbers.get((kind, name), Counter())["regressions"],
            sums.by_day.get((kind, name), Counter()),
        )
        for (kind, name), said in sums.subjects.items()
        if said.bad or said.noted
    ]
    return sorted(
        subjects, key=lambda one: (-one.standing, -one.requirements, -one.said.bad, -one.said.noted, one.kind, one.name)
    )


def _demands(sums: _Sums, courses: Mapping[Pair, Course]) -> list[Demand]:
    subjects: Counter[str] = Counter()
    standing: Counter[str] = Counter()
    for course in courses.values():
        subjects[course.requirement] += course.bad > 0
        standing[course.requirement] += course.standing
    found = [Demand(name, said, subjects[name], standing[name]) for name, said in sums.demands.items()]
    return sorted(
        found,
        key=lambda one: (one.said.bad == 0, one.said.noted == 0, -one.standing, -one.subjects, -one.said.bad, one.id),
    )


def _queues(sums: _Sums) -> list[Queue]:
    found = [Queue(name, said, dict(by.most_common())) for name, (said, by) in sums.queues.items()]
    return sorted(found, key=lambda one: (-one.said.bad, -one.said.noted, one.name))[:MOST_QUEUES]


def _weight(said: Said) -> tuple[int, int]:
    return said.bad, said.noted


def _damage(days: Days) -> tuple[dict[str, int], dict[str, int], list[Row], int]:
    skipped: Counter[str] = Counter()
    handed_over: Counter[str] = Counter()
    damaged: list[Row] = []
    count = 0
    for day in reversed(days.of("captures")):
        for row in days.rows("captures", day, ["path", "cut", "skipped", "handed_over", *COLUMNS]):
            skipped.update(dict(row["skipped"] or ()))
            handed_over.update(dict(row["handed_over"] or ()))
            if incomplete_of(row):
                count += 1
                if len(damaged) < MOST_DAMAGED:
                    damaged.append({**row, "date": day})
    return dict(skipped.most_common()), dict(handed_over.most_common()), damaged, count


def _rejected(days: Days) -> tuple[list[Row], int]:
    found: list[Row] = []
    count = 0
    for day in reversed(days.of("rejected")):
        for row in days.rows("rejected", day, ["path", "reason", "bytes"]):
            count += 1
            if len(found) < MOST_REJECTED:
                found.append({**row, "date": day})
    return found, count


def _examples(days: Days, demands: Sequence[Demand]) -> dict[str, list[Example]]:
    """Return the first and the last deviation of each requirement; one that refutes, if there is one."""
    wanted: dict[date, dict[str, bool]] = {}
    for demand in demands[:MOST_EXAMPLES]:
        if demand.said.first is not None and demand.said.last is not None:
            wanted.setdefault(demand.said.first, {})[demand.id] = True
            wanted.setdefault(demand.said.last, {})[demand.id] = True
    out: dict[str, list[Example]] = {}
    for day in sorted(wanted):
        names = sorted(wanted[day])
        for kind in KINDS:
            for example, requirement in _seen(days, day, kind, names):
                known = out.setdefault(requirement, [])
                if len(known) == 2:
                    known.pop()
                known.append(example)
    return out


def _seen(days: Days, day: date, kind: Kind, names: Sequence[str]) -> list[tuple[Example, str]]:
    """Return for each of these requirements the worst deviation of that day, and of these the earliest.

    Of several at one time it is the same one whatever the order of the files.
    """
    table = "verdicts" if kind == "wire" else "results"
    where = stored_under(names) & column("outcome").isin(sorted(BAD | NOTED))
    columns = ["requirement", "outcome", "subject", "expected", "actual", "reason", "readings"]
    columns += ["sender", "queue", "capture_id", "first_time"] if kind == "wire" else ["implementation", "run_id"]
    best: dict[str, tuple[tuple[Any, ...], Row]] = {}
    for row in days.rows(table, day, columns, where):
        at = row["first_time"] if kind == "wire" else ""
        same = (row["subject"] or "", row["capture_id" if kind == "wire" else "run_id"])
        key = (row["outcome"] not in BAD, at, row["outcome"], *same)
        if row["requirement"] not in best or key < best[row["requirement"]][0]:
            best[row["requirement"]] = key, row
    places = _places(days, day, kind, {row["capture_id" if kind == "wire" else "run_id"] for _, row in best.values()})
    return [
        (
            Example(
                kind=kind,
                outcome=row["outcome"],
                text=row["subject"] or "",
                who=row["sender" if kind == "wire" else "implementation"],
                queue=row.get("queue"),
                place=places.get(row["capture_id" if kind == "wire" else "run_id"], ""),
                when=day,
                expected=row["expected"],
                actual=row["actual"],
                reason=row["reason"],
                readings=tuple(row["readings"] or ()),
            ),
            requirement,
        )
        for requirement, (_, row) in best.items()
    ]


def _places(days: Days, day: date, kind: Kind, ids: set[str]) -> dict[str, str]:
    """Return the paths of these captures or runs: of that day or, of a capture that goes over midnight, of another."""
    table, name = ("captures", "capture_id") if kind == "wire" else ("runs", "run_id")
    out: dict[str, str] = {}
    left = set(ids)
    for each in sorted(days.of(table), key=lambda one: abs(one - day)):
        if not left:
            break
        out |= {
            row[name]: row["path"] for row in days.rows(table, each, [name, "path"], column(name).isin(sorted(left)))
        }
        left -= out.keys()
    return out
