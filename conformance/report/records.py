"""Reads a run record of any version, with its names converted to those of today's catalogue."""

from __future__ import annotations

from pathlib import Path

from conformance.runlog import Names, Run
from conformance.runlog import read_run as read_as_written
from conformance.spec.catalogue import current, current_rule, in_current_words

TODAY = Names(requirement=current, rule=current_rule, stored=in_current_words)


def read_run(path: Path) -> Run:
    """Return the run in this folder or file; a requirement that was renamed gets its new id. Raises RunRecordError."""
    return read_as_written(path, TODAY)
