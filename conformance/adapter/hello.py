"""What a driver says of itself when its session begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.adapter.protocol import method
from conformance.verdict import Json


@dataclass(frozen=True, slots=True)
class Hello:
    """The result of `hello`. facets: facet name to the methods offered. settle_ms, slack_ms: milliseconds.

    queue_manager: GUID text, None when the API has none. readings: reading id to the alternative claimed.
    """

    protocol: str
    name: str
    version: str
    profile: str
    computer: str
    facets: Mapping[str, frozenset[str]]
    clock: str
    settle_ms: int
    slack_ms: int
    limits: Mapping[str, int]
    readings: Mapping[str, str]
    queue_manager: str | None

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Hello:
        """A hello result that its schema has accepted."""
        return cls(
            protocol=raw["protocol"],
            name=raw["name"],
            version=raw["version"],
            profile=raw["profile"],
            computer=raw["computer"],
            facets={facet: frozenset(names) for facet, names in raw["facets"].items()},
            clock=raw["clock"],
            settle_ms=int(raw.get("settle_ms", 0)),
            slack_ms=int(raw.get("slack_ms", 0)),
            limits=dict(raw.get("limits", {})),
            readings=dict(raw.get("readings", {})),
            queue_manager=raw.get("queue_manager"),
        )

    def offers(self, name: str) -> bool:
        """Whether the method of this full name (`queues.create`) is declared. `hello` goes without saying."""
        known = method(name)
        return name == "hello" or known.name in self.facets.get(known.facet, frozenset())
