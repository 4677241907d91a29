"""Who was asked: the connector of an implementation, its name and its version, as a repro file keeps them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_MAX = 2_000  # characters of each
_SECRET = re.compile(r"(?i)((?:token|password|passwd|pwd|secret|credential|api[-_]?key)[\w-]*[=:\s]+)(\S+)")
HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Asked:
    """The one who was asked. connector: without anything secret. label: the run's."""

    connector: str | None = None
    name: str | None = None
    version: str | None = None
    label: str | None = None

    @property
    def kind(self) -> str:
        """Name of the connector."""
        return re.split("[:+]", self.connector or "")[0]

    @property
    def ours(self) -> bool:
        """True for the embedded implementation: the only one that a file may name without its reader's word."""
        return re.fullmatch(r"embedded(?:\+[\w=,.-]+)?", self.connector or "") is not None

    def is_of(self, other: Asked) -> bool:
        """Tell whether both are one implementation, in whatever version."""
        return bool(self.name) and (self.kind, self.name) == (other.kind, other.name)

    def __str__(self) -> str:
        who = " ".join(word for word in (self.name, self.version) if word)
        told = f"{self.connector or 'an unknown connector'}" + (f" ({who})" if who else "")
        return told + (f", label {self.label}" if self.label else "")

    def to_json(self) -> dict[str, Any]:
        """Return the members, null for what is not known."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Asked:
        """Read a value of `to_json`; a member that is no text is not known."""
        said = {name: raw.get(name) for name in ("connector", "name", "version", "label")}
        return cls(**{name: value[:_MAX] if isinstance(value, str) else None for name, value in said.items()})


def without_secrets(connector: str) -> str:
    """Return a connector without its token, or the name of the file that holds one."""
    token = os.environ.get("MQCONFORM_TOKEN", "").strip()
    text = connector.replace(token, HIDDEN) if token else connector
    if text.startswith("tcp:") and "?" in text:
        return f"{text.partition('?')[0]}?{HIDDEN}"
    return _SECRET.sub(rf"\1{HIDDEN}", text)
