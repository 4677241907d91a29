"""Load the traces that separate readings from `fixtures/traces/`. Inference runs them first.

`python -m tools.traces` finds them by search and writes them, and a test checks them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from conformance.histories.inference.searching import Trace
from conformance.histories.operations.table import stored_call
from conformance.resources import resource
from conformance.spec.catalogue import alternative_of

FORMAT = 1


class TraceError(ValueError):
    """A file of traces cannot be used; the message is one sentence."""


def from_json(reading: str, raw: Mapping[str, object]) -> Trace:
    """Return a trace from its JSON form: the inverse of `to_json` in `tools.traces`. Raises TraceError."""
    try:
        one, other = (alternative_of(reading, name) for name in raw["alternatives"])  # type: ignore[attr-defined]
        calls = tuple(stored_call(call) for call in raw["calls"])  # type: ignore[attr-defined]
        given = {name: alternative_of(name, value) for name, value in raw.get("given", {}).items()}  # type: ignore[attr-defined]
        return Trace(reading, (one, other), calls, frozenset(raw["rules_out"]), given)  # type: ignore[call-overload]
    except (KeyError, TypeError, ValueError) as wrong:
        raise TraceError(f"A trace of {reading} cannot be read: {wrong}.") from None


@cache
def shipped() -> tuple[Trace, ...]:
    """Return every shipped trace, the shortest first. Raises TraceError, or FileNotFoundError if none are installed."""
    found = []
    for path in sorted(resource("fixtures/traces").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.get("format") != FORMAT:
            raise TraceError(f"{path} has format {content.get('format')!r}; this version reads format {FORMAT}.")
        found += [from_json(content["reading"], raw) for raw in content["traces"]]
    return tuple(sorted(found, key=lambda trace: (len(trace.given), len(trace.calls), trace.reading)))
