"""The first part of the corpus page: what is broken, how often, since when, by whom, and to which queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from conformance.pipeline.corpus import Corpus, Course, Demand, Example
from conformance.pipeline.page_charts import strip_of
from conformance.pipeline.page_words import NAME, day_text, demand_words, reading_words, value_words
from conformance.report.text import label

MOST_CHANGES: Final = 200
MOST_DEMANDS: Final = 300
"""Requirements shown in each group."""
SHOWN_SUBJECTS: Final = 4
SHOWN_QUEUES: Final = 3
MOST_READINGS: Final = 8


def broken(corpus: Corpus) -> dict[str, Any]:
    """Return what deviates, in groups with a title each: at the end of the lake, earlier, and what is only noted."""
    by: dict[str, list[Course]] = {}
    for course in corpus.courses.values():
        by.setdefault(course.requirement, []).append(course)
    queues: dict[str, Counter[str]] = {}
    for queue in corpus.queues:
        for requirement, number in queue.requirements.items():
            queues.setdefault(requirement, Counter())[queue.name] += number
    against = [demand for demand in corpus.demands if demand.said.bad or demand.said.noted]
    refuted = [demand for demand in against if demand.said.bad]

    def group(name: str, title: str, says: str, members: Sequence[Demand]) -> dict[str, Any]:
        cards = [_card(corpus, one, by.get(one.id, []), queues.get(one.id, Counter())) for one in members]
        shown = cards[:MOST_DEMANDS]
        return {"id": name, "title": title, "says": says, "cards": shown, "more": len(members) - len(shown)}

    now = [demand for demand in refuted if demand.standing or not by.get(demand.id)]
    groups = [
        group("broken", "Broken", "At least one sender or implementation broke it on its last day.", now),
        group(
            "earlier", "Broken on earlier days",
            "Refuted, and not on the last day on which it was judged.",
            [demand for demand in refuted if demand not in now],
        ),
    ]  # fmt: skip
    noted = group(
        "noted", "Readings and notes",
        "Never refuted: kept under another reading of the documents, or a warning, an error, or inconclusive.",
        [demand for demand in against if not demand.said.bad],
    )  # fmt: skip
    return {"broken": [one for one in groups if one["cards"]], "noted": noted}


def _card(corpus: Corpus, demand: Demand, courses: Sequence[Course], queues: Counter[str]) -> dict[str, Any]:
    said, refuted = demand.said, demand.said.bad > 0
    mine = [one for one in courses if bool(one.bad) == refuted]
    mine.sort(key=lambda one: (not one.standing, -one.bad, -_noted(one), one.kind, one.subject))
    began = [one.since for one in mine if one.standing and one.since is not None]
    examples = corpus.examples.get(demand.id, ())
    names = ("First", "Last") if len(examples) == 2 else ("Seen",)
    kinds = {one.kind for one in mine} | {example.kind for example in examples}
    changes = {one.change for one in mine if one.change is not None}
    return {
        "demand": demand_words(demand.id),
        "worst": said.worst,
        "count": said.bad if refuted else said.noted,
        "noted": said.noted if refuted else 0,
        "passed": said.counts["pass"],
        "since": day_text(min(began)) if began else "",
        "first": day_text(said.first),
        "last": day_text(said.last),
        "kinds": " ".join(sorted({*kinds, *changes})),
        "subjects": [_subject(corpus, one) for one in mine[:SHOWN_SUBJECTS]],
        "subjects_more": max(0, len(mine) - SHOWN_SUBJECTS),
        "queues": [(label(name), number) for name, number in queues.most_common(SHOWN_QUEUES)],
        "queues_more": max(0, len(queues) - SHOWN_QUEUES),
        "examples": [_example(example, name) for example, name in zip(examples, names, strict=False)],
    }


def _subject(corpus: Corpus, course: Course) -> dict[str, Any]:
    return {
        "who": label(course.subject, NAME),
        "kind": course.kind,
        "change": course.change or "",
        "count": course.bad or _noted(course),
        "since": day_text(course.since) if course.standing else "",
        "until": day_text(course.bad_days[-1]) if course.bad and not course.standing else "",
        "strip": strip_of(corpus, course),
    }


def _noted(course: Course) -> int:
    return sum(noted for _, noted in course.days.values())


def _example(example: Example, which: str) -> dict[str, Any]:
    return {
        "which": which,
        "kind": example.kind,
        "outcome": example.outcome,
        "when": day_text(example.when),
        "text": label(example.text),
        "who": label(example.who) if example.who else None,
        "queue": label(example.queue) if example.queue else None,
        "place": label(example.place),
        "reason": label(example.reason) if example.reason else None,
        "readings": [reading_words(*pair) for pair in example.readings[:MOST_READINGS]],
        "expected": value_words(example.expected),
        "actual": value_words(example.actual),
    }


def changes(corpus: Corpus, found: Sequence[Course]) -> list[dict[str, Any]]:
    """Return what became broken or clean, the latest first."""
    return [
        {
            "change": course.change,
            "kind": course.kind,
            "demand": demand_words(course.requirement),
            "who": label(course.subject, NAME),
            "since": day_text(course.since),
            "last_clean": day_text(course.clean_days[-1]),
            "latest": course.days[course.bad_days[-1]][0],
            "bad": course.bad,
            "strip": strip_of(corpus, course),
        }
        for course in found[:MOST_CHANGES]
    ]
