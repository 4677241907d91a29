"""Summary lines that pytest prints at the end of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator

from conformance.runlog import Run
from conformance.runlog.events import REFUTING
from conformance.runlog.run import left_out
from conformance.runlog.tally import NO_JUDGEMENT
from conformance.spec.catalogue import demanded_ids, profile_of
from conformance.spec.constants.codes import named
from conformance.verdict import Json

MAX_TOLD = 20
MAX_VALUE = 120


def terminal_lines(run: Run) -> Iterator[str]:
    """Yield a line for the implementation, one for the counts, and one for each broken requirement."""
    hello = run.hello or {}
    name = f"{hello['name']} {hello.get('version', '')} ({run.header.connector})" if hello else run.header.connector
    yield f"{_plain(str(name))} as {run.header.profile}, level {run.header.level}, readings {run.header.reading_set}"
    wanted = demanded_ids(profile_of(run.header.profile))
    judged = {said.requirement for said in run.said if said.outcome not in NO_JUDGEMENT} & wanted
    counts = ", ".join(f"{count:,} {outcome.value}" for outcome, count in run.counts.items())
    yield f"{len(judged):,} of {len(wanted):,} requirements judged: {counts or 'no verdict'}"
    broken: dict[str, str] = {}
    for said in run.said:
        if said.outcome in REFUTING and said.requirement not in broken:
            recorded = run.first(said)
            verdict = recorded.verdict
            what = f"expected {_value(verdict.expected)}, got {_value(verdict.actual)}"
            broken[verdict.requirement] = (
                f"{verdict.outcome.value.upper()} {verdict.requirement}: {what} ({recorded.test})"
            )
    yield from map(_plain, list(broken.values())[:MAX_TOLD])
    if len(broken) > MAX_TOLD:
        yield f"and {len(broken) - MAX_TOLD} more requirements are broken"
    if run.footer is not None and run.footer.stop_reason != "completed":
        yield f"The run ended early: {run.footer.stop_reason}."
    left = left_out(run)
    if left is not None:
        yield _plain(left.sentence)


def _value(value: Json) -> str:
    text = named(value if isinstance(value, str) else json.dumps(value, default=str))
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def _plain(text: str) -> str:
    """Return a driver's text with control characters escaped, so that the terminal does not obey them."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
