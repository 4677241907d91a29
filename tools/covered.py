"""Write `conformance/report/covered.json`: what names each requirement, and whether something shows that it can fail.

python -m tools.covered
"""

from __future__ import annotations

import json
from pathlib import Path

from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import digest, recorded_faults
from conformance.files import write_text
from conformance.report import coverage
from conformance.selftest import recorded_wire_faults
from conformance.suites.claims_index import by_mutation, claims
from conformance.suites.requirement_uses import index


def generate() -> str:
    """The content of `covered.json`. Takes some seconds. Raises IndexFailed when the suites cannot be collected."""
    found = index()
    for word, names in (("claimed", claims()), ("mutated", by_mutation()), ("seen", by_recorded_fault())):
        for name in names:
            found.setdefault(name, {})[word] = True
    lines = (f"{json.dumps(name)}: {json.dumps(of, sort_keys=True)}" for name, of in sorted(found.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def by_recorded_fault() -> frozenset[str]:
    """Return what the recorded faults were seen as, of those whose first failure was rightly blamed."""
    seen: set[str] = set()
    for name, fault in FAULTS.items():
        one = recorded_faults().get(name)
        if one is None or one.source != digest(fault):
            continue
        if one.requirements[0] in (*fault.breaks, *fault.first_seen_as):
            seen.update(one.requirements if one.followed else one.requirements[:1])  # the others are expected alone
    return frozenset(seen.union(*recorded_wire_faults().values()))


if __name__ == "__main__":
    write_text(Path(coverage.__file__).with_name(coverage.FILE), generate())
