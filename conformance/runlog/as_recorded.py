"""Requirements that `judge` could not judge again and whose verdicts it kept as recorded."""

from __future__ import annotations

from conformance.runlog.run import Run

KIND = "as-recorded"
"""The kind of the evidence event that lists them, once in a record of `judge`: `{"requirements": [id, ...]}`."""


def as_recorded(run: Run) -> int:
    """Return the number of requirements that `judge` kept as recorded; 0 for a record that names none."""
    named = next((item.data.get("requirements") for item in run.evidence_of(KIND)), None)
    return len(named) if isinstance(named, list) else 0
