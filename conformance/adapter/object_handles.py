"""Facet `objects`: what a schema cannot say of answers and events, and so is looked at beside it.

A driver names each object by a handle that it gives in a result, or in an argument of an event. An event of a handle
that it never gave is its defect, and so is a list of values that is not as long as the list of members asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.adapter import protocol
from conformance.verdict import Json

_INTERFACES = ("DISPATCH", "UNKNOWN")
_FACET = "objects."


class ObjectHandles:
    """The handles of objects that a driver has given in this session, released ones too: an event may cross it."""

    def __init__(self) -> None:
        """Begin without any."""
        self.typed = False  # True if hello agreed that values have types
        self._given: set[str | int] = set()

    def wrong_answer(self, method: str, params: Mapping[str, Json], result: Mapping[str, Json]) -> str | None:
        """Note the handles in a result that fits its schema. Returns what is wrong with it, None for nothing."""
        if not method.startswith(_FACET) or result["status"] is None or not protocol.succeeded(result["status"]):
            return None
        if "object" in result:
            self._given.add(result["object"])
        values = result.get("values")
        if method == "objects.get" and "members" in params:
            asked = len(params["members"])
            if values is None or len(values) != asked:
                return f"{asked} members were asked for, and it has {'no' if values is None else len(values)} values"
            self._given.update(_handles(each["value"] for each in values if "value" in each))
        elif method == "objects.invoke" and "value" in result:
            self._given.update(_handles([result["value"]]))
        return None

    def wrong_event(self, source: str | int, arguments: list[Json]) -> str | None:
        """Note the handles in an event. Returns what is wrong with it, None for nothing."""
        if not self.typed:
            return None
        if source not in self._given:
            return f"an event of the object {str(source)[:40]!r}, a handle it never gave"
        check = protocol.value_validator("typed_value")
        try:
            for each in arguments:
                check(each)
        except protocol.SchemaInvalid as wrong:
            return f"an event with an argument that the protocol does not allow: {wrong}"
        self._given.update(_handles(arguments))
        return None


def _handles(values: Any) -> Iterator[str | int]:
    """The handles in typed values, in arrays too."""
    for value in values:
        inner = value.get("value")
        if value["vt"] in _INTERFACES and inner is not None:
            yield inner
        elif value["vt"] == "ARRAY" and isinstance(inner, list):
            yield from _handles(inner)
