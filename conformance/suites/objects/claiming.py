"""The requirements that plans judge, found once and kept: an ideal object plays every plan, which takes seconds.

They are kept in the user's cache folder, in a file named after the code and the data that decide them. The key of an
entry is a digest of its plans, so that an entry can only be missing, not stale.
"""

from __future__ import annotations

import atexit
import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import conformance
from conformance import cache as files

_DECIDING = ("activex", "model", "spec", "suites/objects")
"""Folders of the package whose code and data decide what a plan judges."""
_NEW: dict[str, tuple[str, ...]] = {}


def claimed(plans: object, find: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """Return the requirements that plans judge. plans: whatever names them by its repr. find: plays them."""
    key = hashlib.blake2b(repr(plans).encode(), digest_size=12).hexdigest()
    known = _kept().get(key) or _NEW.get(key)
    if known is None:
        if not _NEW:
            atexit.register(_keep)
        known = _NEW[key] = find()
    return tuple(known)


@cache
def _name() -> str:
    root = Path(conformance.__file__).parent
    digest = hashlib.blake2b(digest_size=12)
    for folder in _DECIDING:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".py", ".toml", ".json"):
                digest.update(file.read_bytes())
    return f"object-claims-{digest.hexdigest()}.json"


@cache
def _kept() -> dict[str, tuple[str, ...]]:
    try:
        content = files.read(files.folder(), _name())
        entries = json.loads(content) if content else {}
        return {key: tuple(map(str, found)) for key, found in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # what lies there is not what was written
        return {}


def _keep() -> None:
    """Add what was found to what is there. Of two processes that do so at once one may lose, and finds it again."""
    _kept.cache_clear()
    try:
        files.write(files.folder(), _name(), json.dumps({**_kept(), **_NEW}).encode())
    except OSError:
        return
