"""Render a lake as one HTML document that needs no network: what is broken first, then who and where, then charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from conformance.pipeline.corpus import BAD, JUDGED, Corpus, Course, Demand
from conformance.pipeline.page_broken import MOST_CHANGES, MOST_DEMANDS, broken, changes
from conformance.pipeline.page_charts import grids, plots
from conformance.pipeline.page_lists import MOST_QUEUES, MOST_SUBJECTS, queues, read, subjects
from conformance.pipeline.page_words import axis_text, bytes_text, day_text, days_text, demand_words, many
from conformance.pipeline.plots import short
from conformance.pipeline.trends import trends_json, trends_lines, trends_section
from conformance.report.page import json_block, render_page
from conformance.report.text import label
from conformance.spec.demanded import demanded_ids, profile_of
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome


def render_corpus(corpus: Corpus) -> str:
    """Return the report of a lake."""
    headline, tone = _headline(corpus)
    found = corpus.changes()
    kept = [demand for demand in corpus.demands if set(demand.said.counts) == {"pass"}]
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
        days=days_text(corpus),
        axis=axis_text(corpus),
        facts=_facts(corpus),
        filters=_filters(corpus, found, kept),
        **broken(corpus),
        changes=changes(corpus, found),
        changes_more=max(0, len(found) - MOST_CHANGES),
        plots=plots(corpus),
        grids=grids(corpus),
        subjects=subjects(corpus),
        subjects_more=max(0, len(corpus.subjects) - MOST_SUBJECTS),
        queues=queues(corpus),
        trends=trends_section(corpus.trends),
        queues_more=max(0, corpus.queues_in_all - MOST_QUEUES),
        kept=[{"demand": demand_words(one.id), "passed": one.said.counts["pass"]} for one in kept],
        **read(corpus),
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
                "first": day_text(demand.said.first) or None,
                "last": day_text(demand.said.last) or None,
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
        return f"{many(fresh, 'regression')}; {many(standing, 'requirement')} broken at the end", "bad"
    if standing:
        return f"{many(standing, 'requirement')} broken at the end, none newly", "bad"
    if refuted:
        return f"{many(refuted, 'requirement')} broken on earlier days, none at the end", "warn"
    if corpus.incomplete:
        return "Incomplete: no deviation found in what could be read", "warn"
    return "No deviation found", "good"


def _subject(corpus: Corpus) -> str:
    captures, runs = corpus.totals.get("captures", 0), corpus.totals.get("runs", 0)
    parts = [many(number, word) for number, word in ((captures, "capture"), (runs, "run")) if number]
    return " and ".join(parts) or label(PurePath(corpus.place).name or corpus.place, 80)


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
        found.append(
            ("Verdicts that refute", short(bad), f"{short(1e6 * bad / judged)} in a million of {short(judged)}")
        )
    if totals.get("captures"):
        found.append(("Packets", short(totals["packets"]), f"in {bytes_text(totals['bytes'])}"))
        found.append(("Captures", f"{totals['captures']:,}", f"{short(sum(corpus.sessions.values()))} connections"))
    if totals.get("runs"):
        cut = totals.get("incomplete", 0)
        told = many(totals.get("implementations", 0), "implementation")
        found.append(("Runs", f"{totals['runs']:,}", told + (f", {cut:,} incomplete" if cut else "")))
    lost = totals.get("lost_bytes", 0) + totals.get("damaged_bytes", 0)
    if totals.get("captures"):
        found.append(("Bytes lost", bytes_text(lost), "of streams with gaps, and damaged"))
    if corpus.incomplete:
        found.append(("Incomplete captures", f"{corpus.damaged_in_all:,}", corpus.incomplete.words))
    if corpus.rejected_in_all:
        found.append(("Files not read", f"{corpus.rejected_in_all:,}", ""))
    return found


def _filters(corpus: Corpus, changes: Sequence[Course], kept: Sequence[Demand]) -> list[str]:
    kinds: list[str] = [name for name in ("new", "again", "gone") if any(one.change == name for one in changes)]
    both = {one.kind for one in corpus.subjects}
    return kinds + (["wire", "run"] if len(both) > 1 else []) + (["pass"] if kept else [])


def told(corpus: Corpus) -> list[str]:
    """Return the corpus in a few lines: the headline, the latest changes, and the worst of each kind."""
    lines = [f"{_subject(corpus)}: {_headline(corpus)[0]}"]
    if days_text(corpus):
        lines.append(f"days: {days_text(corpus)}")
    counts = corpus.verdicts
    if counts:
        lines.append(
            "verdicts: " + ", ".join(f"{counts[one.value]:,} {one.value}" for one in Outcome if counts[one.value])
        )
    for course in corpus.changes()[:10]:
        lines.append(
            f"{course.change}: {course.requirement} by {label(course.subject, 60)} since {course.since}, "
            f"{many(course.bad, 'verdict')}"
        )
    lines += trends_lines(corpus.trends)
    for demand in [one for one in corpus.demands if one.standing][:5]:
        lines.append(f"broken: {demand.id}, {many(demand.said.bad, 'verdict')}, by {demand.subjects:,}")
    for queue in [one for one in corpus.queues if one.said.bad][:3]:
        lines.append(f"queue: {label(queue.name, 80)}, {many(queue.said.bad, 'verdict')}")
    if corpus.rejected_in_all:
        lines.append(f"not read: {many(corpus.rejected_in_all, 'file')}")
    return lines
