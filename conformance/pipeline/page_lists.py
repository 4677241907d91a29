"""The lists of the corpus page: senders and implementations, queues, and what was read."""

from __future__ import annotations

from typing import Any, Final

from conformance.pipeline.corpus import Corpus
from conformance.pipeline.lacking import incomplete_of
from conformance.pipeline.page_charts import STACKED
from conformance.pipeline.page_words import NAME, day_text, demand_words, pairs
from conformance.pipeline.plots import share, short, spark
from conformance.report.page import trusted
from conformance.report.text import label

MOST_SUBJECTS: Final = 60
MOST_QUEUES: Final = 25


def subjects(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the senders and implementations with a verdict against them, the worst first."""
    out = []
    for one in corpus.subjects[:MOST_SUBJECTS]:
        values = [0.0] * corpus.span.buckets
        for day, number in one.days.items():
            at = corpus.span.bucket(day)
            if 0 <= at < len(values):
                values[at] += number
        name = label(one.name, NAME)
        told = f"Refuting verdicts on {name} through the days"
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
                "first": day_text(one.said.first),
                "last": day_text(one.said.last),
                "spark": trusted(spark(values, told)) if len(values) > 1 and any(values) else "",
            }
        )
    return out


def queues(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the queues with most verdicts against packets to them, each with a bar."""
    shown = corpus.queues[:MOST_QUEUES]
    top = max((one.said.bad + one.said.noted for one in shown), default=0)
    return [
        {
            "name": label(one.name),
            "bad": one.said.bad,
            "noted": one.said.noted,
            "requirements": len(one.requirements),
            "most": demand_words(next(iter(one.requirements), "")),
            "first": day_text(one.said.first),
            "last": day_text(one.said.last),
            "bar": trusted(
                share(
                    one.said.counts, STACKED, top,
                    f"{label(one.name, NAME)}: {one.said.bad:,} refuting, {one.said.noted:,} noted",
                )
            ),
        }
        for one in shown
    ]  # fmt: skip


def read(corpus: Corpus) -> dict[str, Any]:
    """Return what was read and how it was judged, and the captures and files that are incomplete or were not read."""
    return {
        "skipped": pairs(corpus.skipped),
        "handed_over": pairs(corpus.handed_over),
        "sessions": pairs(corpus.sessions),
        "how": [
            label(f"{profile}, level {level}, readings {readings}, mqconform {by or 'of unknown version'}", 160)
            for profile, level, readings, by in corpus.how[:20]
        ],
        "damaged": [
            {
                "day": day_text(row["date"]),
                "path": label(row["path"]),
                "words": incomplete_of(row).words,
                "cut": label(row["cut"] or ""),
            }
            for row in corpus.damaged
        ],
        "damaged_more": max(0, corpus.damaged_in_all - len(corpus.damaged)),
        "rejected": [
            {"day": day_text(row["date"]), "path": label(row["path"]), "reason": label(row["reason"])}
            for row in corpus.rejected
        ],
        "rejected_more": max(0, corpus.rejected_in_all - len(corpus.rejected)),
    }
