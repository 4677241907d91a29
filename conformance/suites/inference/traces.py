"""The traces that separate readings, as shipped in `fixtures/traces/`: found by search, checked by a test, run first.

`python -m conformance.suites.inference.traces` searches again and writes them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from pathlib import Path

from conformance.model import Call
from conformance.resources import resource
from conformance.spec.catalogue import alternative_of, catalogue
from conformance.suites.inference.kits import TOGETHER
from conformance.suites.inference.playing import model_readings
from conformance.suites.inference.searching import Trace, ruled_out, separate

FORMAT = 1


class TraceError(ValueError):
    """A file of traces that cannot be used; the message is one sentence."""


def found_for(reading: str, one: str, other: str) -> Iterator[Trace]:
    """The shortest trace that separates two alternatives, and those that do under other alternatives of the moment.

    A context, with what it presupposes, is searched where no trace found so far separates both ways.
    """
    known: list[Trace] = []
    for given in ({}, *_contexts(reading)):
        if any(len(ruled_out(reading, (one, other), trace.calls, given) or ()) == 2 for trace in known):
            continue
        trace = separate(reading, one, other, given)
        if trace is not None and (len(trace.rules_out) == 2 or not given):
            known.append(trace)
            yield trace


def _contexts(reading: str) -> Iterator[dict[str, str]]:
    """What a trace may presuppose: alternatives of one reading of the same moment, or of two of them."""
    others = [name for name in TOGETHER if name != reading] if reading in TOGETHER else []
    for number in (1, 2):
        for names in combinations(others, number):
            for chosen in product(*(catalogue().readings[name].alternatives for name in names)):
                yield dict(zip(names, chosen, strict=True))


def to_json(trace: Trace) -> dict[str, object]:
    """A trace as its file holds it."""
    return {
        "alternatives": list(trace.alternatives),
        "rules_out": sorted(trace.rules_out),
        **({"given": dict(sorted(trace.given.items()))} if trace.given else {}),
        "calls": [call.to_json() for call in trace.calls],
    }


def from_json(reading: str, raw: Mapping[str, object]) -> Trace:
    """The inverse of `to_json`. Raises TraceError."""
    try:
        one, other = (alternative_of(reading, name) for name in raw["alternatives"])  # type: ignore[attr-defined]
        calls = tuple(Call.from_json(call) for call in raw["calls"])  # type: ignore[attr-defined]
        given = {name: alternative_of(name, value) for name, value in raw.get("given", {}).items()}  # type: ignore[attr-defined]
        return Trace(reading, (one, other), calls, frozenset(raw["rules_out"]), given)  # type: ignore[call-overload]
    except (KeyError, TypeError, ValueError) as wrong:
        raise TraceError(f"A trace of {reading} cannot be read: {wrong}.") from None


@cache
def shipped() -> tuple[Trace, ...]:
    """Every shipped trace, the shortest first. Raises TraceError, and FileNotFoundError where none are installed."""
    found = []
    for path in sorted(resource("fixtures/traces").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.get("format") != FORMAT:
            raise TraceError(f"{path} has format {content.get('format')!r}; this version reads format {FORMAT}.")
        found += [from_json(content["reading"], raw) for raw in content["traces"]]
    return tuple(sorted(found, key=lambda trace: (len(trace.given), len(trace.calls), trace.reading)))


def write(folder: Path, only: str = "") -> Iterator[str]:
    """Search for the traces of every reading of the model and write a file each. Yields a line for each pair."""
    folder.mkdir(parents=True, exist_ok=True)
    for reading in model_readings():
        if only not in reading:
            continue
        traces: list[Trace] = []
        for one, other in combinations(catalogue().readings[reading].alternatives, 2):
            pair = list(found_for(reading, one, other))
            traces += pair
            told = ", ".join(f"{len(trace.calls)} calls rule out {sorted(trace.rules_out)}" for trace in pair)
            yield f"{reading}: {one} and {other}: {told or 'no trace separates them'}"
        if traces:
            content = {"format": FORMAT, "reading": reading, "traces": [to_json(trace) for trace in traces]}
            path = folder / f"{reading.removeprefix('R-').lower()}.json"
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for line in write(resource("fixtures") / "traces", *sys.argv[1:2]):
        print(line, flush=True)
