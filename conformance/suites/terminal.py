"""What pytest prints of a run when it is over."""

from __future__ import annotations

import json
from collections.abc import Iterator

from conformance.runlog import Run
from conformance.runlog.events import REFUTING
from conformance.verdict import Json, Outcome

MAX_TOLD = 20
MAX_VALUE = 120
_UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.SKIP})


def terminal_lines(run: Run) -> Iterator[str]:
    """A line for the implementation, one for the counts, one for each requirement that is broken."""
    hello = run.hello or {}
    name = f"{hello['name']} {hello.get('version', '')} ({run.header.connector})" if hello else run.header.connector
    yield f"{_plain(str(name))} as {run.header.profile}, level {run.header.level}, readings {run.header.reading_set}"
    judged = {each.verdict.requirement for each in run.verdicts if each.verdict.outcome not in _UNJUDGED}
    counts = ", ".join(f"{count:,} {outcome.value}" for outcome, count in run.counts.items())
    yield f"{len(judged):,} requirements judged: {counts or 'no verdict'}"
    broken: dict[str, str] = {}
    for each in run.verdicts:
        verdict = each.verdict
        if verdict.outcome in REFUTING and verdict.requirement not in broken:
            what = f"expected {_value(verdict.expected)}, got {_value(verdict.actual)}"
            broken[verdict.requirement] = f"{verdict.outcome.value.upper()} {verdict.requirement}: {what} ({each.test})"
    yield from map(_plain, list(broken.values())[:MAX_TOLD])
    if len(broken) > MAX_TOLD:
        yield f"and {len(broken) - MAX_TOLD} more requirements are broken"
    if run.footer is not None and run.footer.stop_reason != "completed":
        yield f"The run ended early: {run.footer.stop_reason}."


def _value(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def _plain(text: str) -> str:
    """What a driver says, without anything that a terminal obeys."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
