"""Faults of the identity of a queue: its identifier, its scope, and a name already in use (MS-MQMQ 2.3.1)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues

Json = Any


class _SameInstance(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        found = super().get(format_name, names)
        return {name: self.manager.guid if name == "PROPID_Q_INSTANCE" else value for name, value in found.items()}


class InstanceIsTheManagers(Fault):
    """Every queue has the identifier of the queue manager as its own."""

    name = "instance-is-the-managers"
    breaks = ("MQDMPR-3.1.1.identifier-unique",)
    replaces = ("queues", _SameInstance)


class _Local(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        found = super().get(format_name, names)
        plain = super().get(format_name, ["PROPID_Q_PATHNAME"])["PROPID_Q_PATHNAME"]
        return {
            name: 0 if name == "PROPID_Q_SCOPE" else plain if name == "PROPID_Q_PATHNAME_DNS" else value
            for name, value in found.items()
        }


class ScopeIsSite(Fault):
    """The scope of a queue reads as Site, and its DNS path name has the short computer name."""

    name = "scope-is-site"
    breaks = (
        "MQDMPR-3.1.1.2.scope-enterprise",
        "MQDMPR-3.1.7.1.3.scope",
        "MQDMPR-3.1.7.1.3.qualified-pathname",
    )
    replaces = ("queues", _Local)


class _Overwriting(Queues):
    def create(self, path_name: str, given: dict[str, Json]) -> str:
        name = self.manager.names.path(path_name)
        parts = name.parts
        if parts["scope"] == "private" and self.is_local(str(parts["computer"])) and "subqueue" not in parts:
            existing: Queue | None = self._by_path.get(f"private$\\{parts['queue']}".lower())
            if existing is not None:
                kept = self.without_path_name(given, name)
                existing.properties |= self.properties_to_keep(kept, creating=True)
        return super().create(path_name, given)


class RefusedCreateOverwrites(Fault):
    """Creating a queue that exists fails, but gives it the properties asked for."""

    name = "refused-create-overwrites"
    breaks = ("MQMP-3.1.4.5.existing-queue-unaltered",)
    replaces = ("queues", _Overwriting)
