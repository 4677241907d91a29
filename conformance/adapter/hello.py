"""What a driver says of itself when its session begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from conformance.adapter.protocol import method
from conformance.verdict import Json


@dataclass(frozen=True, slots=True)
class Hello:
    """The result of `hello`. facets: facet name to the methods offered. settle_ms, slack_ms: milliseconds.

    queue_manager: GUID text, None when the API has none. readings: reading id to the alternative claimed.
    accepts: what its methods can be given, by kind (`message`, `share`, ...); of a kind left out, everything.
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
    accepts: Mapping[str, frozenset[str]]

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
            accepts={kind: frozenset(names) for kind, names in raw.get("accepts", {}).items()},
        )

    def offers(self, name: str) -> bool:
        """Whether the method of this full name (`queues.create`) is declared. `hello` goes without saying."""
        known = method(name)
        return name == "hello" or known.name in self.facets.get(known.facet, frozenset())

    def takes(self, kind: str, name: str) -> bool:
        """Whether what it offers can be given this: a member of a message, a queue property, a kind of access."""
        return kind not in self.accepts or name in self.accepts[kind]

    def refuses(self, method: str, params: Mapping[str, Json]) -> str | None:
        """What among the parameters of a call it says it cannot be given, in a few words; None for nothing."""
        if not self.accepts:
            return None
        for kind, names in given(method, params):
            for name in names:
                if not self.takes(kind, name):
                    return f"{name} ({_TOLD[kind]})"
        return None


_TOLD = {
    "message": "of a message",
    "properties": "of a queue",
    "access": "access to a queue",
    "share": "share mode of a queue",
    "format_names": "format name",
}


def given(method: str, params: Mapping[str, Json]) -> Iterator[tuple[str, Iterable[str]]]:
    """What a call gives, by the kinds of `accepts`. Format names are not looked into: see `Client.need`."""
    if method == "messages.send":
        yield "message", params["message"]
    elif method in ("queues.create", "queues.get", "queues.set"):
        yield "properties", params.get("properties", ())
    elif method == "queues.open":
        yield "access", (params["access"],)
        yield "share", (params.get("share", "deny_none"),)
