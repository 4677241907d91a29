"""Faults of the identity of a queue: its identifier, its scope, and a name already in use (MS-MQMQ 2.3.1)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import Queue
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues

Json = Any


@fault("instance-is-the-managers", Queues.get, "MQDMPR-3.1.1.identifier-unique")
def instance_is_the_managers(plain, self, format_name, names):
    """Every queue has the identifier of the queue manager as its own."""
    found = plain(format_name, names)
    return {name: self.manager.guid if name == "PROPID_Q_INSTANCE" else value for name, value in found.items()}


@fault(
    "scope-is-site", Queues.get, "MQDMPR-3.1.1.2.scope-enterprise", "MQDMPR-3.1.7.1.3.scope",
    "MQDMPR-3.1.7.1.3.qualified-pathname",
)  # fmt: skip
def scope_is_site(plain, self, format_name, names):
    """The scope of a queue reads as Site, and its DNS path name has the short computer name."""
    found = plain(format_name, names)
    usual = plain(format_name, ["PROPID_Q_PATHNAME"])["PROPID_Q_PATHNAME"]
    return {
        name: 0 if name == "PROPID_Q_SCOPE" else usual if name == "PROPID_Q_PATHNAME_DNS" else value
        for name, value in found.items()
    }


@fault("refused-create-overwrites", Queues.create, "MQMP-3.1.4.5.existing-queue-unaltered")
def refused_create_overwrites(plain, self, path_name, given):
    """Creating a queue that exists fails, but gives it the properties asked for."""
    name = self.manager.names.path(path_name)
    parts = name.parts
    if parts["scope"] == "private" and self.is_local(str(parts["computer"])) and "subqueue" not in parts:
        existing: Queue | None = self._by_path.get(f"private$\\{parts['queue']}".lower())
        if existing is not None:
            kept = self.without_path_name(given, name)
            existing.properties |= self.properties_to_keep(kept, creating=True)
    return plain(path_name, given)
