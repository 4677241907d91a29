"""The driver's answer to `hello`, with which a session begins: its name, its methods and what they accept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from conformance.adapter.protocol import method
from conformance.verdict import Json


@dataclass(frozen=True, slots=True)
class Hello:
    """The result of `hello`. facets: facet name to the methods offered. settle_ms, slack_ms: milliseconds.

    queue_manager: GUID text, None when the API has none. readings: reading id to the alternative claimed.
    accepts: the values that its methods accept, by kind (`message`, `share`, ...); of an absent kind, every value.
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
        """Build the value from a hello result that fits its schema."""
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
        """True if the method of this full name (`queues.create`) is declared. `hello` is always offered."""
        known = method(name)
        return name == "hello" or known.name in self.facets.get(known.facet, frozenset())

    def takes(self, kind: str, name: str) -> bool:
        """True if the offered methods accept this: a message member, a queue property, a kind of access."""
        return kind not in self.accepts or name in self.accepts[kind]

    def refuses(self, method: str, params: Mapping[str, Json]) -> str | None:
        """Return the first parameter that the driver does not accept, in a few words; None if there is none."""
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
    """Yield the values that a call passes by kind of `accepts`, except those in format names: see `Client.need`."""
    if method == "messages.send":
        yield "message", params["message"]
    elif method in ("queues.create", "queues.get", "queues.set"):
        yield "properties", params.get("properties", ())
    elif method == "queues.open":
        yield "access", (params["access"],)
        yield "share", (params.get("share", "deny_none"),)
