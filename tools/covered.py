"""Write `conformance/report/covered.json`: the requirements that are claimed and those that a mutation breaks.

python -m tools.covered
"""

from __future__ import annotations

import json
from pathlib import Path

from conformance.files import write_text
from conformance.report import coverage
from conformance.suites.claims_index import by_mutation, claims


def generate() -> str:
    """The content of `covered.json`. Takes some seconds. Raises IndexFailed when the suites cannot be collected."""
    claimed: dict[str, list[str]] = {}
    for name, checks in sorted(claims().items()):
        suites = {check.partition(":")[0].removeprefix("suite ") for check in checks if check.startswith("suite ")}
        claimed.setdefault(",".join(sorted(suites)), []).append(name)
    content = {"claimed": dict(sorted(claimed.items())), "mutated": sorted(by_mutation())}
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    write_text(Path(coverage.__file__).with_name(coverage.FILE), generate())
