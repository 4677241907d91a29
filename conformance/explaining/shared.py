"""Quirks that the workers of one run tell each other, as files in a folder of the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from conformance.aside import make_folder, write_text
from conformance.explaining.known_quirks import KnownQuirk, tables, usable

MAX_HEARD: Final = 100  # files read at once


@dataclass(slots=True)
class Shared:
    """The folder. worker: the name that this worker's files begin with."""

    folder: Path
    worker: str
    _read: set[str] = field(default_factory=set)
    _told: set[tuple[str, ...]] = field(default_factory=set)

    def tell(self, quirks: Sequence[Mapping[str, Any]]) -> None:
        """Tell the other workers of the quirks with a body, each body once.

        quirks: in the form of the run record. A folder that cannot be written costs what the others would know, and
        nothing else.
        """
        for table in tables(quirks):
            faults = tuple(table["faults"])
            if faults in self._told:
                continue
            self._told.add(faults)
            try:
                make_folder(self.folder)
                write_text(self.folder / f"{self.worker}-{len(self._told)}.json", json.dumps(table))
            except OSError:
                return

    def heard(self) -> tuple[KnownQuirk, ...]:
        """Return the quirks that other workers have told since the last call."""
        try:
            names = sorted(path.name for path in self.folder.iterdir() if path.suffix == ".json")
        except OSError:
            return ()
        new = [name for name in names if name not in self._read and not name.startswith(f"{self.worker}-")]
        found: list[Mapping[str, Any]] = []
        for name in new[:MAX_HEARD]:
            self._read.add(name)
            try:
                found.append(json.loads((self.folder / name).read_text("utf-8")))
            except (OSError, ValueError):
                continue
        known, _ = usable([table for table in found if isinstance(table, dict)])
        return known
