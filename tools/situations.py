"""Plan the histories that meet all situations, and write the book: `conformance/histories/situations/book.zlib`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from conformance.histories.situations import book, situation
from tools.situation_planner import Effort, plan


def main() -> int:
    """Make the book."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, help="end the walks by then; the book then depends on the machine")
    parser.add_argument("--rounds", type=int, default=Effort().rounds, help="rounds of walks")
    parser.add_argument("--walks", type=int, default=Effort().walks, help="walks of each process in a round")
    parser.add_argument("--states", type=int, help="the most states of every scope, instead of its own limit")
    parser.add_argument("--out", type=Path, default=book.DATA, help="write to this file instead")
    parser.add_argument("--start", type=Path, help="begin with the histories of this book, of whatever tables")
    given = parser.parse_args()
    began = time.monotonic()
    until = float("inf") if given.minutes is None else began + 60 * given.minutes

    def tell(line: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {line}", file=sys.stderr, flush=True)

    known = [] if given.start is None else book.unpacked(given.start.read_bytes(), given.start.name).histories
    made = plan(
        Effort(rounds=given.rounds, walks=given.walks, states=given.states),
        tell,
        until=until,
        known=[one.calls for one in known],
    )
    book.save(made, given.out)
    met = sum(len(numbers) for one in made.histories for numbers in one.met)
    calls = sum(len(one.calls) for one in made.histories)
    every = situation.space().count
    tell(f"{len(made.histories)} histories, {calls} calls, {given.out.stat().st_size} bytes")
    never = len(made.unreachable)
    tell(f"{every} situations: {met} planned, {never} unreachable, {every - met - never} not met")
    return 0


if __name__ == "__main__":
    sys.exit(main())
