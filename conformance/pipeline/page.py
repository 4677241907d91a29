"""Render a lake as one HTML document that needs no network: changes, trend, senders and implementations, queues."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import PurePath
from typing import Any, Final

from conformance.pipeline.corpus import BAD, JUDGED, KINDS, NOTED, Corpus, Course, Demand, Example, Kind
from conformance.pipeline.lacking import incomplete_of
from conformance.pipeline.plots import line, ranked, short, spark, stacked, strip
from conformance.pipeline.scan import UNKNOWN_DAY
from conformance.pipeline.trends import trends_json, trends_lines, trends_section
from conformance.report.page import json_block, render_page, trusted
from conformance.report.text import label, value_text
from conformance.spec.catalogue import catalogue
from conformance.spec.demanded import demanded_ids, profile_of
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome

MOST_CHANGES: Final = 200
GRID_SUBJECTS: Final = 8
GRID_DEMANDS: Final = 100
MOST_SUBJECTS: Final = 60
MOST_QUEUES: Final = 25
DRAWN_QUEUES: Final = 12
MOST_DEMANDS: Final = 300
_LETTERS = "ABCDEFGH"
_KINDS = (*(outcome.value for outcome in Outcome if outcome.value in BAD), "error", "inconclusive", "reading", "warn")
_WORDS = 800


def render_corpus(corpus: Corpus) -> str:
    """Return the report of a lake."""
    headline, tone = _headline(corpus)
    changes = corpus.changes()
    against = [demand for demand in corpus.demands if demand.said.bad or demand.said.noted]
    kept = [demand for demand in corpus.demands if set(demand.said.counts) == {"pass"}]
    queues = corpus.queues
    return render_page(
        "corpus.html.j2",
        ("base.js", "corpus.js"),
        ("report.css", "corpus.css"),
        summary_json=json_block(summary(corpus), indent=1),
        data_json=json_block({"outcomes": [outcome.value for outcome in Outcome], "levels": []}),
        subject=_subject(corpus),
        headline=headline,
        tone=tone,
        place=label(corpus.place),
        lake_version=corpus.version,
        made=f"{corpus.made:%Y-%m-%d %H:%M} UTC",
        days=_days(corpus),
        axis=_axis(corpus),
        facts=_facts(corpus),
        filters=_filters(corpus, changes, kept),
        changes=[_change(corpus, course) for course in changes[:MOST_CHANGES]],
        changes_more=max(0, len(changes) - MOST_CHANGES),
        plots=_plots(corpus),
        grids=_grids(corpus),
        subjects=_subjects(corpus),
        subjects_more=max(0, len(corpus.subjects) - MOST_SUBJECTS),
        queues=[
            {
                "name": label(one.name),
                "bad": one.said.bad,
                "noted": one.said.noted,
                "requirements": len(one.requirements),
                "most": _demand(next(iter(one.requirements), "")),
                "first": _day(one.said.first),
                "last": _day(one.said.last),
            }
            for one in queues[:MOST_QUEUES]
        ],
        queue_plot=_queue_plot(corpus),
        trends=trends_section(corpus.trends),
        queues_more=max(0, corpus.queues_in_all - MOST_QUEUES),
        demands=[_row(corpus, demand) for demand in against[:MOST_DEMANDS]],
        demands_more=max(0, len(against) - MOST_DEMANDS),
        kept=[{"demand": _demand(one.id), "passed": one.said.counts["pass"]} for one in kept],
        **_read(corpus),
    )


def summary(corpus: Corpus) -> dict[str, Any]:
    """Return the corpus as a JSON object with all keys always present; `--json` prints it, and the page embeds it."""
    span = corpus.span
    return {
        "lake": corpus.place,
        "version": corpus.version,
        "first_day": span.first.isoformat() if span.first else None,
        "last_day": span.last.isoformat() if span.last else None,
        "totals": dict(corpus.totals),
        "coverage": dict(zip(("judged", "demanded"), _coverage(corpus), strict=True)),
        "verdicts": {one.value: corpus.verdicts[one.value] for one in Outcome if corpus.verdicts[one.value]},
        "changes": [
            {
                "change": course.change,
                "kind": course.kind,
                "subject": course.subject,
                "requirement": course.requirement,
                "since": course.since.isoformat() if course.since else None,
                "last_bad": course.bad_days[-1].isoformat(),
                "last_clean": course.clean_days[-1].isoformat(),
                "count": course.bad,
            }
            for course in corpus.changes()[:MOST_CHANGES]
        ],
        "requirements": [
            {
                "requirement": demand.id,
                "worst": demand.said.worst,
                "counts": dict(demand.said.counts),
                "subjects": demand.subjects,
                "standing": demand.standing,
                "first": _day(demand.said.first) or None,
                "last": _day(demand.said.last) or None,
            }
            for demand in corpus.demands
            if demand.said.bad or demand.said.noted
        ][:MOST_DEMANDS],
        "subjects": [
            {
                "kind": one.kind,
                "name": one.name,
                "refuted": one.requirements,
                "standing": one.standing,
                "regressions": one.regressions,
                "verdicts": one.said.bad,
                "noted": one.said.noted,
            }
            for one in corpus.subjects[:MOST_SUBJECTS]
        ],
        "queues": [
            {"queue": one.name, "refuted": one.said.bad, "noted": one.said.noted, "requirements": one.requirements}
            for one in corpus.queues[:MOST_QUEUES]
        ],
        **trends_json(corpus.trends),
        "rejected": corpus.rejected_in_all,
        "damaged": corpus.damaged_in_all,
        "incomplete": corpus.incomplete.to_json() if corpus.incomplete else None,
    }


def _coverage(corpus: Corpus) -> tuple[int, int]:
    """Return how many requirements were judged, and how many bind the MSMQ versions that were judged for."""
    wanted = demanded_ids(*sorted({profile_of(how[0]) for how in corpus.how}) or [DEFAULT_PROFILE])
    judged = (demand.id for demand in corpus.demands if not JUDGED.isdisjoint(demand.said.counts))
    return sum(name in wanted for name in judged), len(wanted)


def _headline(corpus: Corpus) -> tuple[str, str]:
    standing = sum(demand.standing > 0 for demand in corpus.demands)
    fresh = sum(course.change in ("new", "again") for course in corpus.courses.values())
    refuted = sum(demand.said.bad > 0 for demand in corpus.demands)
    if not corpus.verdicts:
        return "Nothing was judged", "warn"
    if fresh:
        return f"{_many(fresh, 'regression')}; {_many(standing, 'requirement')} broken at the end", "bad"
    if standing:
        return f"{_many(standing, 'requirement')} broken at the end, none newly", "bad"
    if refuted:
        return f"{_many(refuted, 'requirement')} broken on earlier days, none at the end", "warn"
    if corpus.incomplete:
        return "Incomplete: no deviation found in what could be read", "warn"
    return "No deviation found", "good"


def _subject(corpus: Corpus) -> str:
    captures, runs = corpus.totals.get("captures", 0), corpus.totals.get("runs", 0)
    parts = [_many(number, word) for number, word in ((captures, "capture"), (runs, "run")) if number]
    return " and ".join(parts) or label(PurePath(corpus.place).name or corpus.place, 80)


def _days(corpus: Corpus) -> str:
    span = corpus.span
    if span.first is None or span.last is None:
        return ""
    return span.first.isoformat() if span.first == span.last else f"{span.first} to {span.last}"


def _axis(corpus: Corpus) -> str:
    width = corpus.span.width
    return f"{_days(corpus)}{f', a cell is {width} days' if width > 1 else ''}"


def _facts(corpus: Corpus) -> list[tuple[str, str, str]]:
    totals, verdicts = corpus.totals, corpus.verdicts
    bad = sum(number for outcome, number in verdicts.items() if outcome in BAD)
    judged = sum(verdicts.values())
    refuted = sum(demand.said.bad > 0 for demand in corpus.demands)
    said, demanded = _coverage(corpus)
    found = [
        ("Requirements refuted", f"{refuted:,}", ""),
        ("Requirements judged", f"{said:,}", f"of {demanded:,}"),
    ]
    if judged:
        found.append(("Verdicts that refute", short(bad), f"{1e6 * bad / judged:,.4g} in a million of {short(judged)}"))
    if totals.get("captures"):
        found.append(("Packets", short(totals["packets"]), f"in {_bytes(totals['bytes'])}"))
        found.append(("Captures", f"{totals['captures']:,}", f"{short(sum(corpus.sessions.values()))} connections"))
    if totals.get("runs"):
        cut = totals.get("incomplete", 0)
        told = _many(totals.get("implementations", 0), "implementation")
        found.append(("Runs", f"{totals['runs']:,}", told + (f", {cut:,} incomplete" if cut else "")))
    lost = totals.get("lost_bytes", 0) + totals.get("damaged_bytes", 0)
    if totals.get("captures"):
        found.append(("Bytes lost", _bytes(lost), "of streams with gaps, and damaged"))
    if corpus.incomplete:
        found.append(("Incomplete captures", f"{corpus.damaged_in_all:,}", corpus.incomplete.words))
    if corpus.rejected_in_all:
        found.append(("Files not read", f"{corpus.rejected_in_all:,}", ""))
    return found


def _filters(corpus: Corpus, changes: Sequence[Course], kept: Sequence[Demand]) -> list[str]:
    kinds: list[str] = [name for name in ("new", "again", "gone") if any(one.change == name for one in changes)]
    both = {one.kind for one in corpus.subjects}
    return kinds + (["wire", "run"] if len(both) > 1 else []) + (["pass"] if kept else [])


def _change(corpus: Corpus, course: Course) -> dict[str, Any]:
    return {
        "change": course.change,
        "kind": course.kind,
        "demand": _demand(course.requirement),
        "who": label(course.subject, 120),
        "since": _day(course.since),
        "last_clean": _day(course.clean_days[-1]),
        "latest": course.days[course.bad_days[-1]][0],
        "bad": course.bad,
        "strip": _strip(corpus, course),
    }


def _plots(corpus: Corpus) -> list[tuple[str, Any]]:
    span = corpus.span
    if not span.buckets:
        return []
    out: list[tuple[str, Any]] = []
    per = "a day" if span.width == 1 else f"in {span.width} days"
    for kind in KINDS:
        what = "captures" if kind == "wire" else "runs"
        bars: list[dict[str, float]] = [{} for _ in range(span.buckets)]
        judged = [0] * span.buckets
        most: list[float | None] = [None] * span.buckets
        for (one, day), counts in corpus.trend.items():
            at = span.bucket(day)
            if one == kind and 0 <= at < span.buckets:
                judged[at] += sum(counts.values())
                for outcome, number in counts.items():
                    if outcome in BAD or outcome in NOTED:
                        bars[at][outcome] = bars[at].get(outcome, 0) + number
                refuted = corpus.refuted.get((kind, day), 0)
                most[at] = max(most[at] or 0, refuted)
        if not any(judged):
            continue
        titles = (
            f"Verdicts against {what}, {per}",
            f"Requirements refuted in {what}" + (", the most on a day" if span.width > 1 else ""),
        )
        rate = [
            1e6 * sum(n for name, n in bar.items() if name in BAD) / total if total else None
            for bar, total in zip(bars, judged, strict=True)
        ]
        out.append((titles[0], trusted(stacked(bars, _KINDS, span.name, title=titles[0]))))
        if kind == "wire":
            title = "Refuting verdicts in a million"
            out.append((title, trusted(line(rate, span.name, title=title))))
        out.append((titles[1], trusted(line(most, span.name, title=titles[1]))))
    traffic: list[dict[str, float]] = [{} for _ in range(span.buckets)]
    for day, row in corpus.traffic.items():
        at = span.bucket(day)
        if 0 <= at < span.buckets:
            traffic[at]["packets"] = traffic[at].get("packets", 0) + row["packets"]
    if any(traffic):
        title = f"Packets judged {per}"
        out.append((title, trusted(stacked(traffic, ("packets",), span.name, title=title, height=130))))
    return out


def _grids(corpus: Corpus) -> list[dict[str, Any]]:
    """Return a grid for senders of packets, and one for implementations."""
    titles = {"wire": "Requirement by sender and day", "run": "Requirement by implementation and day"}
    return [grid for kind in KINDS if (grid := _grid(corpus, kind, titles[kind])) is not None]


def _grid(corpus: Corpus, kind: Kind, title: str) -> dict[str, Any] | None:
    refuted = [one for one in corpus.subjects if one.kind == kind and one.requirements]
    subjects = refuted[:GRID_SUBJECTS]
    rows: list[dict[str, Any]] = []
    hidden = 0
    for demand in corpus.demands:
        courses = [corpus.courses.get((one.kind, one.name, demand.id)) for one in subjects]
        if not any(course is not None and course.bad for course in courses):
            continue
        if len(rows) == GRID_DEMANDS:
            hidden += 1
            continue
        strips = [_strip(corpus, course) if course is not None else "" for course in courses]
        rows.append({"demand": _demand(demand.id), "strips": strips})
    # A single day needs no grid: the list of requirements below has the same facts.
    if not rows or len({day for one, day in corpus.trend if one == kind and day > UNKNOWN_DAY}) < 2:
        return None
    left = len(refuted) - len(subjects)
    told = [f"{_many(left, 'column')}"] if left > 0 else []
    told += [f"{_many(hidden, 'requirement')}"] if hidden > 0 else []
    return {
        "id": f"grid-{kind}",
        "kind": kind,
        "title": title,
        "rows": rows,
        "names": [
            {
                "key": _LETTERS[at],
                "name": label(one.name, 120),
                "told": f"{_many(one.requirements, 'requirement')} refuted",
            }
            for at, one in enumerate(subjects)
        ],
        "more": f"Not shown: {' and '.join(told)}." if told else "",
    }


def _subjects(corpus: Corpus) -> list[dict[str, Any]]:
    out = []
    for one in corpus.subjects[:MOST_SUBJECTS]:
        values = [0.0] * corpus.span.buckets
        for day, number in one.days.items():
            at = corpus.span.bucket(day)
            if 0 <= at < len(values):
                values[at] += number
        name = label(one.name, 120)
        out.append(
            {
                "kind": one.kind,
                "name": name,
                "requirements": one.requirements,
                "standing": one.standing,
                "regressions": one.regressions,
                "bad": one.said.bad,
                "noted": one.said.noted,
                "rate": short(1e6 * one.said.bad / one.said.counts.total()) if one.said.counts["pass"] else "",
                "first": _day(one.said.first),
                "last": _day(one.said.last),
                "spark": trusted(spark(values, f"Refuting verdicts on {name} through the days")) if any(values) else "",
            }
        )
    return out


def _queue_plot(corpus: Corpus) -> Any:
    rows = [
        (one.name, one.said.counts, f"{label(one.name, 120)}: {one.said.bad:,} refuting, {one.said.noted:,} noted")
        for one in corpus.queues[:DRAWN_QUEUES]
    ]
    return trusted(ranked(rows, _KINDS, title="Verdicts against packets, by destination queue"))


def _row(corpus: Corpus, demand: Demand) -> dict[str, Any]:
    examples = corpus.examples.get(demand.id, ())
    names = ("First", "Last") if len(examples) == 2 else ("Seen",)
    said = demand.said
    return {
        "demand": _demand(demand.id),
        "worst": said.worst,
        "bad": said.bad,
        "noted": said.noted,
        "passed": said.counts["pass"],
        "subjects": demand.subjects,
        "first": _day(said.first),
        "last": _day(said.last),
        "kinds": " ".join(sorted({example.kind for example in examples})),
        "examples": [_example(example, name) for example, name in zip(examples, names, strict=False)],
    }


def _example(example: Example, which: str) -> dict[str, Any]:
    return {
        "which": which,
        "kind": example.kind,
        "outcome": example.outcome,
        "when": example.when.isoformat(),
        "text": label(example.text),
        "who": label(example.who) if example.who else None,
        "queue": label(example.queue) if example.queue else None,
        "place": label(example.place),
        "reason": label(example.reason) if example.reason else None,
        "expected": _value(example.expected),
        "actual": _value(example.actual),
    }


def _read(corpus: Corpus) -> dict[str, Any]:
    return {
        "skipped": _pairs(corpus.skipped),
        "handed_over": _pairs(corpus.handed_over),
        "sessions": _pairs(corpus.sessions),
        "how": [
            label(f"{profile}, level {level}, readings {readings}, mqconform {by or 'of unknown version'}", 160)
            for profile, level, readings, by in corpus.how[:20]
        ],
        "damaged": [
            {
                "day": _day(row["date"]),
                "path": label(row["path"]),
                "words": incomplete_of(row).words,
                "cut": label(row["cut"] or ""),
            }
            for row in corpus.damaged
        ],
        "damaged_more": max(0, corpus.damaged_in_all - len(corpus.damaged)),
        "rejected": [
            {"day": _day(row["date"]), "path": label(row["path"]), "reason": label(row["reason"])}
            for row in corpus.rejected
        ],
        "rejected_more": max(0, corpus.rejected_in_all - len(corpus.rejected)),
    }


def _strip(corpus: Corpus, course: Course) -> Any:
    cells: dict[int, tuple[int, int]] = {}
    for day, (bad, noted) in course.days.items():
        at = corpus.span.bucket(day)
        before = cells.get(at, (0, 0))
        cells[at] = before[0] + bad, before[1] + noted
    days = len(course.bad_days)
    told = f"{label(course.requirement)}, {label(course.subject, 120)}: refuted on {_many(days, 'day')}"
    told += f", clean on {len(course.clean_days):,}"
    return trusted(strip(cells, corpus.span.buckets, told))


def _demand(name: str) -> dict[str, str]:
    known = catalogue().requirements.get(name)
    return {
        "id": label(name),
        "says": known.says if known else "Not in this version's catalogue",
        "where": f"{known.document} {known.section}" if known else "",
        "level": known.level if known else "",
    }


def _pairs(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(label(name, 120), number) for name, number in list(numbers.items())[:20]]


def _value(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return value_text(json.loads(text), _WORDS)
    except (ValueError, RecursionError):
        return label(text, _WORDS)


def _day(day: date | None) -> str:
    return "" if day is None or day.year <= 1970 else day.isoformat()


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _bytes(number: int) -> str:
    return f"{short(number)}B" if number >= 1000 else f"{number} B"


def told(corpus: Corpus) -> list[str]:
    """Return the corpus in a few lines: the headline, the latest changes, and the worst of each kind."""
    lines = [f"{_subject(corpus)}: {_headline(corpus)[0]}"]
    if _days(corpus):
        lines.append(f"days: {_days(corpus)}")
    counts = corpus.verdicts
    if counts:
        lines.append(
            "verdicts: " + ", ".join(f"{counts[one.value]:,} {one.value}" for one in Outcome if counts[one.value])
        )
    for course in corpus.changes()[:10]:
        lines.append(
            f"{course.change}: {course.requirement} by {label(course.subject, 60)} since {course.since}, "
            f"{_many(course.bad, 'verdict')}"
        )
    lines += trends_lines(corpus.trends)
    for demand in [one for one in corpus.demands if one.standing][:5]:
        lines.append(f"broken: {demand.id}, {_many(demand.said.bad, 'verdict')}, by {demand.subjects:,}")
    for queue in [one for one in corpus.queues if one.said.bad][:3]:
        lines.append(f"queue: {label(queue.name, 80)}, {_many(queue.said.bad, 'verdict')}")
    if corpus.rejected_in_all:
        lines.append(f"not read: {_many(corpus.rejected_in_all, 'file')}")
    return lines
