"""`python -m conformance.report.recount` writes `covered.json` again: what is claimed and what is discriminated."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.report.covered import FILE


def generate() -> str:
    """The content of `covered.json`. Takes some seconds. Raises IndexFailed when the suites cannot be collected."""
    from conformance.suites.claims_index import by_mutation, claims

    content = {"claimed": sorted(claims()), "mutated": sorted(by_mutation())}
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name(FILE).write_text(generate(), encoding="utf-8")
