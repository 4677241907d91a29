"""Write `conformance/suites/objects/claims.zlib`: the requirements that each test of the suite `objects` judges.

python -m tools.object_claims [FILE]
"""

from __future__ import annotations

import importlib
import json
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest.mock import patch

from conformance.files import write_bytes
from conformance.suites.objects import playing

Claims = Mapping[str, tuple[str, ...]]
"""Requirements by the digest of plans."""


def measured() -> Claims:
    """Play all plans. The modules of the suite must not be imported yet: they ask for claims when they are."""
    found: dict[str, tuple[str, ...]] = {}

    def claimed(plans: object, find: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        return found.setdefault(playing.claims_key(plans), find())

    with patch.object(playing, "claimed", claimed):
        for module in sorted(playing.CLAIMS.parent.glob("test_*.py")):
            importlib.import_module(f"conformance.suites.objects.{module.stem}")
    return found


def packed(claims: Claims) -> bytes:
    """Return the content of the file."""
    names = sorted({name for each in claims.values() for name in each})
    places = {name: place for place, name in enumerate(names)}
    content = [names, {key: [places[name] for name in claims[key]] for key in sorted(claims)}]
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode("ascii"), 9)


if __name__ == "__main__":
    write_bytes(Path(sys.argv[1]) if sys.argv[1:] else playing.CLAIMS, packed(measured()))
