"""What a repro file tells of where it comes from: who was asked, and what went before on the same state folder."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MOST = 12  # examples in a file
_MAX_SIZE = 256 << 10  # characters of them
_SECRET = re.compile(r"(?i)((?:token|passw|pwd|secret|credential|api[-_]?key)[\w-]*[=:\s]+)\S+")


class Asked(NamedTuple):
    """An implementation. connector: without its secrets. label: the run's. None: not known."""

    connector: str | None = None
    name: str | None = None
    version: str | None = None
    label: str | None = None

    def is_of(self, other: Asked) -> bool:
        """Tell whether both are one implementation, in whatever version, by one kind of connector."""
        kinds = {re.split("[:+]", one.connector or "")[0] for one in (self, other)}
        return bool(self.name) and self.name == other.name and len(kinds) == 1

    def __str__(self) -> str:
        who = " ".join(word for word in (self.name, self.version) if word)
        label = f", label {self.label}" if self.label else ""
        return f"{self.connector or 'nobody known'}{f' ({who})' if who else ''}{label}"


def asked_of(raw: Mapping[str, Any]) -> Asked:
    """Read the members that a repro file has; one that is no short text is not known."""
    said = [raw.get(name) for name in Asked._fields]
    return Asked(*(text if isinstance(text, str) and len(text) < 2_000 else None for text in said))


def without_secrets(connector: str) -> str:
    """Return a connector, or an argument with one, without its token, or the name of the file that holds one."""
    token = os.environ.get("MQCONFORM_TOKEN", "").strip()
    text = connector.replace(token, "***") if token else connector
    return re.sub(r"(\btcp:[^?\s]*\?).*", r"\1***", _SECRET.sub(r"\1***", text), flags=re.DOTALL)


class Antecedents(NamedTuple):
    """What went before an example: a process, or its folder, may remember what a reset should have removed.

    starts: processes that ended on the folder. examples: the last ones, each with its suite and what repeats it.
    """

    starts: int = 0
    examples: tuple[dict[str, Any], ...] = ()


NOBODY, NOTHING = Asked(), Antecedents()


def antecedents(last: Sequence[tuple[int, str, str, Mapping[str, Any]]]) -> Antecedents:
    """Return what went before the newest example. last: the starts, suite, kind and data of the last ones."""
    kept: list[dict[str, Any]] = []
    size = 0
    for _, suite, kind, data in last[-2::-1]:
        text = json.dumps({"suite": suite, "repro": {"kind": kind, **data}}, default=str)
        size += len(text)
        if size > _MAX_SIZE:
            break
        kept.insert(0, json.loads(text))
    return Antecedents(last[-1][0] if last else 0, tuple(kept))


def antecedents_of(raw: Mapping[str, Any]) -> Antecedents:
    """Read what a repro file has. Raises KeyError, TypeError or ValueError for what no run has written."""
    examples = ({"suite": str(one["suite"]), "repro": dict(one["repro"])} for one in raw.get("examples", [])[:MOST])
    return Antecedents(int(raw.get("starts", 0)), tuple(examples))
