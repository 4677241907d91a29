"""What the old things came to at version 0.1, and what was changed since, on purpose.

`expect.toml` is never written again. A change of what an old thing comes to is an entry of `changes.toml`, with a
sentence that CHANGELOG.md has too: nobody's old things say something new in silence.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from observing import OLD, ROOT, Seen

EXPECTED = OLD / "expect.toml"
CHANGED = OLD / "changes.toml"
HARMLESS = frozenset({"pass", "skip", "inconclusive", "reading", "warn", "ok"})
"""What may be said of a name that nothing was said of then: rules that are new find that an old thing keeps them."""


@dataclass(frozen=True, slots=True)
class Change:
    """An expectation that is another one now. now: None where nothing is said of the name any more."""

    section: str
    name: str
    now: str | None
    why: str


def changes(path: Path = CHANGED) -> list[Change]:
    """The changes that were made on purpose."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("change", [])
    return [Change(one["section"], one["name"], one.get("now"), one["why"]) for one in entries]


def expected(section: str, made: list[Change] | None = None) -> Seen:
    """What this section has to come to now."""
    found: Seen = dict(tomllib.loads(EXPECTED.read_text(encoding="utf-8"))[section])
    for change in changes() if made is None else made:
        if change.section == section and change.now is None:
            del found[change.name]
        elif change.section == section and change.now is not None:
            found[change.name] = change.now
    return found


def differences(wanted: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """A line for each name of which something else is said than wanted, and for each new one that deviates."""
    lines = [
        f"{name}: {wanted[name]!r}, and now {found.get(name)!r}" for name in wanted if found.get(name) != wanted[name]
    ]
    new = [name for name in found if name not in wanted]
    return lines + [f"{name}: nothing, and now {found[name]!r}" for name in new if not _harmless(found[name])]


def _harmless(text: str) -> bool:
    return all(word in HARMLESS or word.isdigit() or word == "None" for word in text.split())


def in_changelog(sentence: str) -> bool:
    """Whether users are told so, wherever the lines of CHANGELOG.md are broken."""
    told = " ".join((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split())
    return " ".join(sentence.split()) in told
