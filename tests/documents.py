"""The documents that some tests read. They are not part of the project: MQ_SPEC_DIR names their folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

VARIABLE = "MQ_SPEC_DIR"
WITHOUT = f"{VARIABLE} does not name the folder of the documents"


def folder() -> Path:
    """Give the folder of the documents; the test is skipped where they are not."""
    if not present():
        pytest.skip(WITHOUT)
    return Path(os.environ[VARIABLE])


def present() -> bool:
    """Whether the documents are on this machine."""
    found = os.environ.get(VARIABLE)
    return bool(found) and (Path(found) / "MS-MQMQ.md").is_file()


def mark(item: pytest.Item) -> None:
    """Mark what reads the documents through the fixture, so that `-m documents` selects it."""
    if "documents" in getattr(item, "fixturenames", ()):
        item.add_marker("documents")


def summary(skipped: Sequence[pytest.TestReport]) -> str | None:
    """Say in one line how many tests were skipped for want of the documents, and how to get these."""
    count = sum(WITHOUT in str(report.longrepr) for report in skipped)
    if not count:
        return None
    return (
        f"{count} {'test' if count == 1 else 'tests'} skipped for want of the documents of Microsoft's open "
        f"specifications: docs/contributing.md (The documents) says how to get them; {VARIABLE} names their folder."
    )
