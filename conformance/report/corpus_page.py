"""The report of a lake: one HTML document that needs no network, with what is broken first; as JSON; in a few lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import PurePath
from typing import Any, Final

from conformance.report.corpus import JUDGED, UNKNOWN_DAY, Corpus, Course, Demand, How, Version, noted, refuting
from conformance.report.corpus_plots import NAME, plots, short, spark_of, strip_of
from conformance.report.page import json_block, render_page
from conformance.report.text import label, value_text
from conformance.spec.catalogue import catalogue
from conformance.spec.demanded import demanded_ids, profile_of
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome

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


def told(corpus: Corpus) -> list[str]:
    """Return the corpus in a few lines: the headline, the latest changes, and the worst of each kind."""
    lines = [f"{_subject(corpus)}: {_headline(corpus)[0]}"]
    if corpus.span.first:
        lines.append(f"days: {_days(corpus)}")
    if corpus.verdicts:
        lines.append("verdicts: " + ", ".join(f"{count:,} {name}" for name, count in _by_rank(corpus.verdicts).items()))
    lines += [
        f"{course.change}: {course.requirement} by {label(course.subject, 60)} since {course.since}, "
        f"{_many(course.bad, 'verdict')}"
        for course in corpus.changes()[:10]
    ]
    lines += [
        f"{one.change}: {one.requirement} in {one.implementation} {one.after or 'of no version'}, "
        f"last {'clean' if one.change == 'regressed' else 'refuted'} in {one.before or 'one of no version'}"
        for one in corpus.shifts[:5]
    ]
    lines += [
        f"broken: {demand.requirement}, {_many(demand.bad, 'verdict')}, by {demand.subjects:,}"
        for demand in [one for one in corpus.demands if one.standing][:5]
    ]
    lines += [
        f"queue: {label(queue.queue, 80)}, {_many(queue.bad, 'verdict')}"
        for queue in [one for one in corpus.queues if one.bad][:3]
    ]
    return lines + ([f"not read: {_many(corpus.rejected_in_all, 'file')}"] if corpus.rejected_in_all else [])


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
        found.append(("Runs", f"{totals['runs']:,}", _many(totals["implementations"], "implementation") + cut))
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


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _size(number: int) -> str:
    return f"{short(number)}B" if number >= 1000 else f"{number} B"
