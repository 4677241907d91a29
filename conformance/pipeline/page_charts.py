"""The drawn parts of the corpus page: plots day by day, strips of days, and grids of requirement by sender and day."""

from __future__ import annotations

from typing import Any, Final

from conformance.pipeline.corpus import BAD, KINDS, NOTED, Corpus, Course, Kind
from conformance.pipeline.page_words import NAME, demand_words, many
from conformance.pipeline.plots import line, stacked, strip
from conformance.pipeline.scan import UNKNOWN_DAY
from conformance.report.page import trusted
from conformance.report.text import label
from conformance.verdict import Outcome

GRID_SUBJECTS: Final = 8
GRID_DEMANDS: Final = 100
STACKED: Final = (
    *(outcome.value for outcome in Outcome if outcome.value in BAD), "error", "inconclusive", "reading", "warn",
)  # fmt: skip
"""The outcomes drawn in a bar, from its foot."""
_LETTERS = "ABCDEFGH"


def plots(corpus: Corpus) -> list[tuple[str, Any]]:
    """Return the plots with their titles: for captures, for runs, and of the packets judged."""
    span = corpus.span
    if not span.buckets:
        return []
    out: list[tuple[str, Any]] = []
    per = "a day" if span.width == 1 else f"in {span.width} days"
    for kind in KINDS:
        out += _judged(corpus, kind, per)
    traffic: list[dict[str, float]] = [{} for _ in range(span.buckets)]
    for day, row in corpus.traffic.items():
        at = span.bucket(day)
        if 0 <= at < span.buckets:
            traffic[at]["packets"] = traffic[at].get("packets", 0) + row["packets"]
    if any(traffic):
        title = f"Packets judged {per}"
        out.append((title, trusted(stacked(traffic, ("packets",), span.name, title=title, height=130))))
    return out


def _judged(corpus: Corpus, kind: Kind, per: str) -> list[tuple[str, Any]]:
    span, what = corpus.span, "captures" if kind == "wire" else "runs"
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
            most[at] = max(most[at] or 0, corpus.refuted.get((kind, day), 0))
    if not any(judged):
        return []
    rate = [
        1e6 * sum(n for name, n in bar.items() if name in BAD) / total if total else None
        for bar, total in zip(bars, judged, strict=True)
    ]
    title = f"Verdicts against {what}, {per}"
    out = [(title, trusted(stacked(bars, STACKED, span.name, title=title)))]
    if kind == "wire":
        title = "Refuting verdicts in a million"
        out.append((title, trusted(line(rate, span.name, title=title))))
    title = f"Requirements refuted in {what}" + (", the most on a day" if span.width > 1 else "")
    out.append((title, trusted(line(most, span.name, title=title, whole=True))))
    return out


def strip_of(corpus: Corpus, course: Course) -> Any:
    """Return the strip of a course; nothing in a lake of a single day, or of none."""
    if corpus.span.buckets < 2:
        return ""
    cells: dict[int, tuple[int, int]] = {}
    for day, (bad, noted) in course.days.items():
        at = corpus.span.bucket(day)
        before = cells.get(at, (0, 0))
        cells[at] = before[0] + bad, before[1] + noted
    days = len(course.bad_days)
    told = f"{label(course.requirement)}, {label(course.subject, NAME)}: refuted on {many(days, 'day')}"
    told += f", clean on {len(course.clean_days):,}"
    return trusted(strip(cells, corpus.span.buckets, told))


def grids(corpus: Corpus) -> list[dict[str, Any]]:
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
        strips = [strip_of(corpus, course) if course is not None else "" for course in courses]
        rows.append({"demand": demand_words(demand.id), "strips": list(zip(_LETTERS, strips, strict=False))})
    # A single day needs no grid: the list of requirements has the same facts.
    if not rows or len({day for one, day in corpus.trend if one == kind and day > UNKNOWN_DAY}) < 2:
        return None
    left = len(refuted) - len(subjects)
    told = [many(left, "column")] if left > 0 else []
    told += [many(hidden, "requirement")] if hidden > 0 else []
    return {
        "id": f"grid-{kind}",
        "kind": kind,
        "title": title,
        "rows": rows,
        "names": [
            {
                "key": _LETTERS[at],
                "name": label(one.name, NAME),
                "told": f"{many(one.requirements, 'requirement')} refuted",
            }
            for at, one in enumerate(subjects)
        ],
        "more": f"Not shown: {' and '.join(told)}." if told else "",
    }
