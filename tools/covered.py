"""Write `conformance/report/covered.json`: what names each requirement, and whether a mutation breaks it.

python -m tools.covered
"""

from __future__ import annotations

import json
from pathlib import Path

from conformance.files import write_text
from conformance.report import coverage
from conformance.suites.claims_index import by_mutation, claims
from conformance.suites.requirement_uses import index


def generate() -> str:
    """The content of `covered.json`. Takes some seconds. Raises IndexFailed when the suites cannot be collected."""
    found = index()
    for word, names in (("claimed", claims()), ("mutated", by_mutation())):
        for name in names:
            found.setdefault(name, {})[word] = True
    lines = (f"{json.dumps(name)}: {json.dumps(of, sort_keys=True)}" for name, of in sorted(found.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    write_text(Path(coverage.__file__).with_name(coverage.FILE), generate())
