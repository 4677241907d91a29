"""Plan the histories that meet all situations of objects: `conformance/histories/situations/object_book.zlib`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.histories.situations import object_book
from tools.planner.object_planner import plan


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the book. Returns 1 if a situation is left that no history meets and no constraint excludes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=object_book.DATA, help="write to this file instead")
    parser.add_argument("--only", help="plan the members whose names begin so, and keep the histories of the others")
    given = parser.parse_args(arguments)
    every = object_book.space()
    kept = [one for one in object_book.load().histories if not one.member.startswith(given.only)] if given.only else []
    histories, left = plan(every, lambda line: print(line, file=sys.stderr, flush=True), kept)
    object_book.save(histories, given.out)
    acts = sum(len(one.acts) for one in histories)
    met = sum(len(numbers) for one in histories for numbers in one.met)
    told = f"{every.count} situations: {met} planned, {len(every.excluded())} not reachable, {len(left)} not met"
    print(f"{len(histories)} histories, {acts} acts, {given.out.stat().st_size} bytes\n{told}", file=sys.stderr)
    for number in sorted(left):
        print(f"not met: {every.situation(number)}", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
