"""The report of a lake: one HTML document that needs no network, with its plots; as JSON; in a few lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from html import escape
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from conformance.report.corpus import (
    BAD,
    JUDGED,
    KINDS,
    UNKNOWN_DAY,
    Corpus,
    Course,
    Demand,
    How,
    Kind,
    Subject,
    Version,
    noted,
    refuting,
)
from conformance.report.page import json_block, render_page, trusted
from conformance.report.text import label, value_text
from conformance.runlog.counts import counted
from conformance.spec.catalogue import catalogue, demanded_ids, profile_of
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from markupsafe import Markup

NAME: Final = 120
"""Characters shown of a sender's or an implementation's name."""
STACKED: Final = (
    *(outcome.value for outcome in Outcome if outcome.value in BAD), "error", "inconclusive", "reading", "warn",
)  # fmt: skip
"""The outcomes drawn in a bar, from its foot."""
_TOP, _BOTTOM = 12, 26
_TICKS = 4
_LABELS: Final = (("narrow", 3), ("broad", 8))
"""Class of the labels below a plot, and how many fit: on a phone, and from 46 rem on."""
_WIDEST: Final = 8.0
"""The most a bar takes of the width, in percent."""


def plots(corpus: Corpus) -> list[tuple[str, Markup]]:
    """Return the plots with their titles: for captures, for runs, and of the packets judged."""
    span = corpus.span
    if not span.buckets:
        return []
    per = "a day" if span.width == 1 else f"in {span.width} days"
    out = [one for kind in KINDS for one in _judged(corpus, kind, per)]
    traffic: list[dict[str, float]] = [{} for _ in range(span.buckets)]
    for day, packets in corpus.traffic.items():
        if 0 <= (at := span.bucket(day)) < span.buckets:
            traffic[at]["packets"] = traffic[at].get("packets", 0) + packets
    if any(traffic):
        title = f"Packets judged {per}"
        out.append((title, stacked(traffic, ("packets",), span.name, title=title, height=130)))
    return [(title, trusted(drawn)) for title, drawn in out]


def _judged(corpus: Corpus, kind: Kind, per: str) -> list[tuple[str, str]]:
    span, what = corpus.span, "captures" if kind == "wire" else "runs"
    bars: list[dict[str, float]] = [{} for _ in range(span.buckets)]
    rates: list[float | None] = [None] * span.buckets
    most: list[float | None] = [None] * span.buckets
    judged, bad = [0] * span.buckets, [0] * span.buckets
    for (one, day), counts in corpus.trend.items():
        at = span.bucket(day)
        if one == kind and 0 <= at < span.buckets:
            for outcome in STACKED:
                if outcome in counts:
                    bars[at][outcome] = bars[at].get(outcome, 0) + counts[outcome]
            judged[at] += sum(counts.values())
            bad[at] += refuting(counts)
            rates[at] = 1e6 * bad[at] / judged[at] if judged[at] else None
            most[at] = max(most[at] or 0, corpus.refuted.get((kind, day), 0))
    if not any(judged):
        return []
    title = f"Verdicts against {what}, {per}"
    out = [(title, stacked(bars, STACKED, span.name, title=title))]
    if kind == "wire":
        title = "Refuting verdicts in a million"
        out.append((title, line(rates, span.name, title=title)))
    title = f"Requirements refuted in {what}" + (", the most on a day" if span.width > 1 else "")
    return [*out, (title, line(most, span.name, title=title, whole=True))]


def strip_of(corpus: Corpus, course: Course) -> Markup:
    """Return the strip of a course; nothing in a lake of a single day, or of none."""
    if corpus.span.buckets < 2:
        return trusted("")
    cells: dict[int, tuple[int, int]] = {}
    for day, (bad, seen) in course.days.items():
        at = corpus.span.bucket(day)
        before = cells.get(at, (0, 0))
        cells[at] = before[0] + bad, before[1] + seen
    days = len(course.bad_days)
    told = f"{label(course.requirement)}, {label(course.subject, NAME)}: refuted on {days:,} day{'s' * (days != 1)}"
    return trusted(strip(cells, corpus.span.buckets, f"{told}, clean on {len(course.clean_days):,}"))


def spark_of(corpus: Corpus, subject: Subject) -> Markup:
    """Return the refuting verdicts on a subject through the days as small bars; nothing in a lake of a single day."""
    values = [0.0] * corpus.span.buckets
    for day, number in subject.days.items():
        if 0 <= (at := corpus.span.bucket(day)) < len(values):
            values[at] += number
    if len(values) < 2 or not any(values):
        return trusted("")
    title = f"Refuting verdicts on {label(subject.name, NAME)} through the days"
    highs = [(at, max(1.5, 20 * value / max(values))) for at, value in enumerate(values) if value]
    bars = (f'<rect x="{at + 0.1:.1f}" y="{20 - high:.1f}" width="0.8" height="{high:.1f}"/>' for at, high in highs)
    return trusted(_row("spark", f"{len(values)} 20", title, bars))


def stacked(
    bars: Sequence[Mapping[str, float]],
    kinds: Sequence[str],
    name: Callable[[int], str],
    *,
    title: str,
    height: int = 190,
) -> str:
    """Draw a bar for each bucket, stacked in the order of `kinds`, each part with its kind as class.

    name: returns a bucket in words.
    """
    top = max((sum(bar.get(kind, 0) for kind in kinds) for bar in bars), default=0)
    base, scale, out = _plot(title, height, ticks_to(top, whole=True))
    step = 100 / max(1, len(bars))
    thick = min(_WIDEST, step * 0.78)
    for at, bar in enumerate(bars):
        if not any(bar.get(kind) for kind in kinds):
            continue
        x, y = step * at + (step - thick) / 2, float(base)
        parts = ", ".join(f"{bar[kind]:,.0f} {kind}" for kind in kinds if bar.get(kind))
        out.append(f"<g><title>{escape(f'{name(at)}: {parts}')}</title>")
        for kind in kinds:
            if bar.get(kind):
                high = max(1.0, bar[kind] * scale)
                y -= high
                out.append(
                    f'<rect class="{escape(kind)}" x="{x:.2f}%" y="{y:.1f}" width="{thick:.2f}%" height="{high:.1f}"/>'
                )
        out.append("</g>")
    return "\n".join([*out, *_day_axis(len(bars), name, height), "</svg>"])


def line(
    values: Sequence[float | None], name: Callable[[int], str], *, title: str, height: int = 150, whole: bool = False
) -> str:
    """Draw a line through the values, interrupted at None, with a dot for each value. whole: they are counts."""
    ticks = ticks_to(max((value for value in values if value is not None), default=0), whole=whole)
    base, scale, out = _plot(title, height, ticks)
    step = 100 / max(1, len(values))
    dots: list[str] = []
    before: tuple[str, str] | None = None
    for at, value in enumerate(values):
        if value is None:
            before = None
            continue
        here = f"{step * (at + 0.5):.2f}%", f"{base - value * scale:.1f}"
        if before is not None:
            out.append(f'<line class="line" x1="{before[0]}" y1="{before[1]}" x2="{here[0]}" y2="{here[1]}"/>')
        before = here
        dots.append(
            f'<circle cx="{here[0]}" cy="{here[1]}" r="2.5">'
            f"<title>{escape(f'{name(at)}: {value:,.6g}')}</title></circle>"
        )
    return "\n".join([*out, *dots, *_day_axis(len(values), name, height), "</svg>"])


def strip(cells: Mapping[int, tuple[int, int]], buckets: int, title: str) -> str:
    """Draw one course through the days as a row of cells: refuted, noted, clean, or empty if it was not judged.

    cells: bucket to (refuting, noted) verdicts. Neighbours of one kind are drawn as one.
    """

    def kind(at: int) -> str:
        bad, noted = cells.get(at, (0, 0))
        return "" if at not in cells else "fail" if bad else "warn" if noted else "pass"

    groups = [(name, list(group)) for name, group in groupby(range(buckets), kind)]
    parts = (f'<rect class="{name}" x="{at[0]}" width="{len(at)}" height="1"/>' for name, at in groups if name)
    return _row("strip", f"{buckets} 1", title, parts)


def ticks_to(top: float, *, whole: bool = False) -> list[float]:
    """Return about four round numbers from 0 to at least `top`. whole: none of them is a fraction."""
    if top <= 0:
        return [0.0, 1.0]
    step = 1.0
    while step * _TICKS < top:
        step *= 10
    while step / 10 * _TICKS >= top:
        step /= 10
    step = next(part for part in (step / 5, step / 2, step) if part * _TICKS >= top)
    if whole:
        step = max(1.0, step)
    return [step * at for at in range(int(-(-top // step)) + 1)]


def short(number: float) -> str:
    """Format a number for an axis: 1.2M, 35k, 0.05."""
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size * 0.9995:
            return f"{number / size:.3g}{name}"
    return f"{number:.3g}"


def _row(kind: str, box: str, title: str, parts: Iterable[str]) -> str:
    """Return a drawing within a row of text, which is stretched to its place."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {box}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _plot(title: str, height: int, ticks: Sequence[float]) -> tuple[int, float, list[str]]:
    """Begin a plot with lines across, their numbers at the left. Returns its base, the scale and the parts so far."""
    base = height - _BOTTOM
    scale = (base - _TOP) / (ticks[-1] or 1)
    out = [
        f'<svg class="plot" width="100%" height="{height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    ]
    for tick in ticks:
        y = base - tick * scale
        out.append(
            f'<line class="rule" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="-6" y="{y + 4:.1f}" text-anchor="end">{short(tick)}</text>'
        )
    return base, scale, out


def _day_axis(count: int, name: Callable[[int], str], height: int) -> list[str]:
    """Return labels with the first day of buckets, below them: as many as fit on a phone, and as many as fit else."""
    return [
        f'<text class="tick {kind}" x="{100 * (at + 0.5) / count:.2f}%" y="{height - 8}" '
        f'text-anchor="middle">{escape(name(at)[:10])}</text>'
        for kind, most in _LABELS
        for at in range(0, count, -(-count // most))
    ]


MOST_CHANGES: Final = 200
MOST_DEMANDS: Final = 300
"""Requirements shown in each group."""
MOST_SUBJECTS: Final = 60
MOST_QUEUES: Final = 25
SHOWN_VERSIONS: Final = 12
SHOWN_SHIFTS: Final = 100
SHOWN_READINGS: Final = 100
SHOWN_SUBJECTS: Final = 4
"""Subjects shown of each requirement."""
SHOWN_QUEUES: Final = 3
_WORDS: Final = 800


def render_corpus(corpus: Corpus) -> str:
    """Return the report of a lake."""
    headline, tone = _headline(corpus)
    changes = corpus.changes()
    kept = [demand for demand in corpus.demands if set(demand.counts) == {"pass"}]
    kinds: list[str] = [name for name in ("new", "again", "gone") if any(one.change == name for one in changes)]
    both = {one.kind for one in corpus.subjects}
    width = corpus.span.width
    return render_page(
        "corpus.html.j2",
        ("base.js", "corpus.js"),
        ("report.css", "corpus.css"),
        summary_json=json_block(summary(corpus), indent=1),
        data_json=json_block({"outcomes": [outcome.value for outcome in Outcome], "levels": []}),
        corpus=corpus,
        subject=_subject(corpus),
        headline=headline,
        tone=tone,
        days=_days(corpus),
        axis=f"{_days(corpus)}{f', a cell is {width} days' if width > 1 else ''}",
        facts=_facts(corpus),
        filters=kinds + (["wire", "run"] if len(both) > 1 else []) + (["pass"] if kept else []),
        groups=_groups(corpus),
        changes=changes[:MOST_CHANGES],
        changes_more=len(changes) - MOST_CHANGES,
        subjects=corpus.subjects[:MOST_SUBJECTS],
        subjects_more=len(corpus.subjects) - MOST_SUBJECTS,
        queues=corpus.queues[:MOST_QUEUES],
        queues_more=corpus.queues_in_all - MOST_QUEUES,
        kept=kept,
        plots=plots(corpus),
        trends=_trends(corpus),
        name=partial(label, limit=NAME),
        label=label,
        day=_day,
        words=_words,
        short=short,
        reading=_reading,
        value=_value,
        strip=partial(strip_of, corpus),
        spark=partial(spark_of, corpus),
        refuting=refuting,
        noted=noted,
    )


def summary(corpus: Corpus) -> dict[str, Any]:
    """Return the corpus as a JSON object with all keys always present; `--json` prints it, and the page embeds it."""
    against = [one for one in corpus.demands if one.bad or one.noted]
    return {
        "lake": corpus.place,
        "version": corpus.version,
        "first_day": _day(corpus.span.first) or None,
        "last_day": _day(corpus.span.last) or None,
        "totals": dict(corpus.totals),
        "coverage": dict(zip(("judged", "demanded"), _coverage(corpus), strict=True)),
        "verdicts": _by_rank(corpus.verdicts),
        "changes": [
            {
                **_members(one, "change", "kind", "subject", "requirement", "since"),
                "last_bad": _day(one.bad_days[-1]),
                "last_clean": _day(one.clean_days[-1]),
                "count": one.bad,
            }
            for one in corpus.changes()[:MOST_CHANGES]
        ],
        "requirements": [
            _members(one, "requirement", "worst", "counts", "subjects", "standing", "first", "last")
            for one in against[:MOST_DEMANDS]
        ],
        "subjects": [
            {**_members(one, "kind", "name", "refuted", "standing", "regressions", "noted"), "verdicts": one.bad}
            for one in corpus.subjects[:MOST_SUBJECTS]
        ],
        "queues": [
            {**_members(one, "queue", "noted", "requirements"), "refuted": one.bad}
            for one in corpus.queues[:MOST_QUEUES]
        ],
        "versions": [
            {
                **dict(zip(("profile", "level", "reading_set"), one.how, strict=True)),
                **_members(one, "implementation", "runs", "first", "last"),
                "version": one.name or None,
                "verdicts": _by_rank(one.verdicts),
                "requirements": _by_rank(one.requirements),
                **{
                    change: [
                        {"requirement": shift.requirement, "since": shift.before or None}
                        for shift in corpus.shifted(one, change)
                    ]
                    for change in ("regressed", "mended")
                },
            }
            for one in corpus.versions
        ],
        "readings": [
            {
                **_members(one, "reading", "alternative", "verdicts", "senders"),
                "implementations": [
                    {"implementation": name, "version": of or None} for name, of in one.implementations
                ],
            }
            for one in corpus.readings
        ],
        "rejected": corpus.rejected_in_all,
        "damaged": corpus.damaged_in_all,
        "incomplete": corpus.incomplete.to_json() if corpus.incomplete else None,
    }


def _members(one: object, *names: str) -> dict[str, Any]:
    """Return members of a value as JSON has them: a day that is not known is null."""
    found = {name: getattr(one, name) for name in names}
    return {name: _day(value) or None if isinstance(value, date) else value for name, value in found.items()}


def corpus_lines(corpus: Corpus) -> list[str]:
    """Return the corpus in a few lines: the headline, the latest changes, and the worst of each kind."""
    lines = [f"{_subject(corpus)}: {_headline(corpus)[0]}"]
    if corpus.span.first:
        lines.append(f"days: {_days(corpus)}")
    if corpus.verdicts:
        lines.append("verdicts: " + ", ".join(f"{count:,} {name}" for name, count in _by_rank(corpus.verdicts).items()))
    lines += [
        f"{course.change}: {course.requirement} by {label(course.subject, 60)} since {course.since}, "
        f"{counted(course.bad, 'verdict')}"
        for course in corpus.changes()[:10]
    ]
    lines += [
        f"{one.change}: {one.requirement} in {one.implementation} {one.after or 'of no version'}, "
        f"last {'clean' if one.change == 'regressed' else 'refuted'} in {one.before or 'one of no version'}"
        for one in corpus.shifts[:5]
    ]
    lines += [
        f"broken: {demand.requirement}, {counted(demand.bad, 'verdict')}, by {demand.subjects:,}"
        for demand in [one for one in corpus.demands if one.standing][:5]
    ]
    lines += [
        f"queue: {label(queue.queue, 80)}, {counted(queue.bad, 'verdict')}"
        for queue in [one for one in corpus.queues if one.bad][:3]
    ]
    return lines + ([f"not read: {counted(corpus.rejected_in_all, 'file')}"] if corpus.rejected_in_all else [])


def _coverage(corpus: Corpus) -> tuple[int, int]:
    """Return how many requirements were judged, and how many bind the MSMQ versions that were judged for."""
    wanted = demanded_ids(*sorted({profile_of(how[0]) for how in corpus.how}) or [DEFAULT_PROFILE])
    judged = (demand.requirement for demand in corpus.demands if not JUDGED.isdisjoint(demand.counts))
    return sum(name in wanted for name in judged), len(wanted)


def _headline(corpus: Corpus) -> tuple[str, str]:
    standing = sum(demand.standing > 0 for demand in corpus.demands)
    fresh = sum(course.change in ("new", "again") for course in corpus.courses.values())
    refuted = sum(demand.bad > 0 for demand in corpus.demands)
    if not corpus.verdicts:
        return "Nothing was judged", "warn"
    if fresh:
        return f"{counted(fresh, 'regression')}; {counted(standing, 'requirement')} broken at the end", "bad"
    if standing:
        return f"{counted(standing, 'requirement')} broken at the end, none newly", "bad"
    if refuted:
        return f"{counted(refuted, 'requirement')} broken on earlier days, none at the end", "warn"
    if corpus.incomplete:
        return "Incomplete: no deviation found in what could be read", "warn"
    return "No deviation found", "good"


def _subject(corpus: Corpus) -> str:
    captures, runs = corpus.totals.get("captures", 0), corpus.totals.get("runs", 0)
    parts = [counted(number, word) for number, word in ((captures, "capture"), (runs, "run")) if number]
    return " and ".join(parts) or label(PurePath(corpus.place).name or corpus.place, 80)


def _facts(corpus: Corpus) -> list[tuple[str, str, str]]:
    totals, judged = corpus.totals, sum(corpus.verdicts.values())
    bad, (said, demanded) = refuting(corpus.verdicts), _coverage(corpus)
    found = [
        ("Requirements refuted", f"{sum(demand.bad > 0 for demand in corpus.demands):,}", ""),
        ("Requirements judged", f"{said:,}", f"of {demanded:,}"),
    ]
    if judged:
        found.append(
            ("Verdicts that refute", short(bad), f"{short(1e6 * bad / judged)} in a million of {short(judged)}")
        )
    if totals.get("captures"):
        found.append(("Packets", short(totals["packets"]), f"in {_size(totals['bytes'])}"))
        found.append(("Captures", f"{totals['captures']:,}", f"{short(sum(corpus.sessions.values()))} connections"))
    if totals.get("runs"):
        cut = f", {totals['incomplete']:,} incomplete" if totals["incomplete"] else ""
        found.append(("Runs", f"{totals['runs']:,}", counted(totals["implementations"], "implementation") + cut))
    if totals.get("captures"):
        lost = totals["lost_bytes"] + totals["damaged_bytes"]
        found.append(("Bytes lost", _size(lost), "of streams with gaps, and damaged"))
    if corpus.incomplete:
        found.append(("Incomplete captures", f"{corpus.damaged_in_all:,}", corpus.incomplete.words))
    if corpus.rejected_in_all:
        found.append(("Files not read", f"{corpus.rejected_in_all:,}", ""))
    return found


def _groups(corpus: Corpus) -> list[dict[str, Any]]:
    """Return what deviates, in groups with a title each: at the end of the lake, earlier, and what is only noted."""
    by: dict[str, list[Course]] = {}
    for course in corpus.courses.values():
        by.setdefault(course.requirement, []).append(course)
    queues: dict[str, Counter[str]] = {}
    for queue in corpus.queues:
        for requirement, number in queue.requirements.items():
            queues.setdefault(requirement, Counter())[queue.queue] += number
    groups: dict[str, list[Demand]] = {"broken": [], "earlier": [], "noted": []}
    for demand in corpus.demands:
        if demand.bad:
            groups["broken" if demand.standing or not by.get(demand.requirement) else "earlier"].append(demand)
        elif demand.noted:
            groups["noted"].append(demand)
    return [
        {
            "id": name,
            "cards": [
                _card(corpus, one, by.get(one.requirement, []), queues.get(one.requirement, Counter()))
                for one in groups[name][:MOST_DEMANDS]
            ],
            "more": len(groups[name]) - MOST_DEMANDS,
        }
        for name in groups
        if groups[name]
    ]


def _card(corpus: Corpus, demand: Demand, courses: Sequence[Course], queues: Counter[str]) -> dict[str, Any]:
    refuted = demand.bad > 0
    mine = [one for one in courses if bool(one.bad) == refuted]
    mine.sort(key=lambda one: (not one.standing, -one.bad, -one.noted, one.kind, one.subject))
    examples = corpus.examples.get(demand.requirement, ())
    kinds = {*(one.kind for one in mine), *(one.kind for one in examples)}
    changes = {one.change for one in mine if one.change is not None}
    return {
        "demand": demand,
        "refuted": refuted,
        "since": min((one.since for one in mine if one.standing and one.since is not None), default=None),
        "kinds": " ".join(sorted({*kinds, *changes})),
        "subjects": mine[:SHOWN_SUBJECTS],
        "subjects_more": len(mine) - SHOWN_SUBJECTS,
        "queues": queues.most_common(SHOWN_QUEUES),
        "queues_more": len(queues) - SHOWN_QUEUES,
        "examples": list(zip(("First", "Last") if len(examples) == 2 else ("Seen",), examples, strict=False)),
    }


def _trends(corpus: Corpus) -> dict[str, Any]:
    """Return what `trends.html.j2` shows: the last versions of each implementation, the changes, the readings."""
    shown: dict[tuple[str, How], list[Version]] = {}
    for one in corpus.versions:
        shown.setdefault((one.implementation, one.how), []).append(one)
    ways = Counter(name for name, _ in shown)
    latest = {(name, versions[-1].name) for (name, _), versions in shown.items()}
    return {
        "named": lambda name, how: label(f"{name} ({', '.join(how)})" if ways[name] > 1 else name, 160),
        "versions": [one for versions in shown.values() for one in reversed(versions[-SHOWN_VERSIONS:])],
        "shifts": corpus.shifts[:SHOWN_SHIFTS],
        "readings": [
            (one, [label(" ".join(pair).strip(), 80) for pair in one.implementations if pair in latest][:8])
            for one in corpus.readings[:SHOWN_READINGS]
        ],
    }


def _words(name: str) -> dict[str, str]:
    """Return a requirement in words, with its place in the documents."""
    known = catalogue().requirements.get(name)
    return {
        "id": label(name),
        "says": known.says if known else "Not in this version's catalogue",
        "where": f"{known.document} {known.section} · {known.level} · " if known else "",
    }


def _reading(name: str, alternative: str) -> str:
    """Return the alternative of a reading, with its meaning."""
    known = catalogue().readings.get(name)
    meaning = known.alternatives.get(alternative, "") if known else ""
    return label(alternative, NAME) + (f" ({meaning})" if meaning else "")


def _value(text: str) -> str:
    """Return a value that a table holds as JSON."""
    try:
        return value_text(json.loads(text), _WORDS)
    except (ValueError, RecursionError):
        return label(text, _WORDS)


def _days(corpus: Corpus) -> str:
    """Return the first and the last day of the lake."""
    first, last = corpus.span.first, corpus.span.last
    return " to ".join(dict.fromkeys((_day(first), _day(last))))


def _day(day: date | None) -> str:
    """Return a day; nothing for a day that is not known."""
    return "" if day is None or day <= UNKNOWN_DAY else day.isoformat()


def _by_rank(counts: Mapping[str, int]) -> dict[str, int]:
    return {one.value: counts[one.value] for one in Outcome if counts.get(one.value)}


def _size(number: int) -> str:
    return f"{short(number)}B" if number >= 1000 else f"{number} B"
