"""Search for the traces that separate readings and write them to `fixtures/traces/`; takes minutes.

    python -m tools.traces [WORD]

WORD: only the readings whose id contains it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

from conformance.files import resource, write_text
from conformance.histories.inference.probing import model_readings
from conformance.histories.inference.separating_traces import FORMAT, TOGETHER, Trace, ruled_out, separate
from conformance.spec.catalogue import catalogue


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
    """Yield contexts that a trace presupposes: alternatives of one reading of the same moment, or of two of them."""
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
            write_text(path, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    for line in write(resource("fixtures") / "traces", *sys.argv[1:2]):
        print(line, flush=True)
