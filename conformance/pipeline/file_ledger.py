"""Read the record of files seen that earlier versions kept beside a checkpoint: a folder with a file a sighting."""

from __future__ import annotations

import os
from pathlib import Path

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_offsets import RECENT, Position, Taken
from conformance.pipeline.inside import UnfitError, content, parsed


def position_of(ledger: Path, folder: Path, sighting: int) -> Position:
    """Return the position after a sighting. Raises PipelineError."""
    seen = list({one.name: one for one in files_of(ledger, folder, 0, sighting)}.values())
    return Position(sighting, (), seen[-RECENT:], frozenset(one.mark for one in seen[:-RECENT]))


def files_of(ledger: Path, folder: Path, after: int, through: int) -> list[Taken]:
    """Return the files of the sightings after `after` to `through`. Raises PipelineError."""
    return [one for number in range(after + 1, through + 1) for one in _read(ledger / f"{number:012}.json", folder)]


def _read(path: Path, folder: Path) -> list[Taken]:
    try:
        return [_taken(one, folder) for one in parsed(content(path))]
    except (OSError, UnfitError, TypeError) as problem:
        raise PipelineError(f"{path} cannot be read ({problem}); watch with another checkpoint.") from None


def _taken(value: object, folder: Path) -> Taken:
    if not isinstance(value, list) or [type(one) for one in value] != [str, int, bool, str, int]:
        raise UnfitError("is not a list of files that were seen")
    path, size, grown, head, changed_ns = value
    return Taken(path.removeprefix(f"{folder}{os.sep}"), size, changed_ns, head, grown)
