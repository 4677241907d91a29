"""Events that sinks are told (MC-MQAC 3.16.4.4): as an answer shows them, and the verdicts on those that come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from conformance.activex.expected import Seen
from conformance.activex.further_world import Names, cell
from conformance.activex.statuses import S_OK
from conformance.activex.tables_further import EVENT
from conformance.activex.values import Variant, same
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome, Verdict


def named(member: str, *columns: str) -> Names:
    """Return the requirements of some columns of a member of MSMQEvent, or of what leads to its events."""
    return cell(EVENT, f"{member}.method", *columns)


@dataclass(frozen=True, slots=True)
class Told:
    """An event: of which object, with its name and its arguments. names: what it shows."""

    source: str
    name: str
    arguments: tuple[Variant, ...]
    names: Names = ()

    def is_like(self, other: Told) -> bool:
        """Tell whether two events are the same to a client."""
        alike = (self.source, self.name, len(self.arguments)) == (other.source, other.name, len(other.arguments))
        return alike and all(same(mine, its) for mine, its in zip(self.arguments, other.arguments, strict=False))


def shown_as(told: list[Told]) -> Mapping[str, Seen]:
    """Return events as an answer shows them."""
    return {
        f"{at} {one.source} {one.name}": Seen(S_OK, Variant("ARRAY", one.arguments, "VARIANT"))
        for at, one in enumerate(told)
    }


def events_of(seen: Seen) -> list[Told]:
    """Return the events that came with an answer."""
    found = []
    for key, event in seen.shown.items():
        _, source, name = key.split(" ")
        found.append(Told(source, name, tuple(event.value.value) if event.value is not None else ()))
    return found


def judged(
    expected: list[Told], optional: list[Told], came: list[Told], silent: Names, endless: frozenset[str]
) -> Iterator[Verdict]:
    """Yield the verdicts on events: each that has to come, and each that came without anybody asking for it.

    silent: what an event shows that nobody asked for. endless: objects whose registration has no time-out of its own.
    """
    left = list(came)
    missing: list[Told] = []
    for told in expected:
        found = next((one for one in left if told.is_like(one)), None)
        if found is None:
            missing.append(told)
            continue
        left.remove(found)
        yield from (Verdict(name, Outcome.PASS, f"event {told.name}") for name in told.names)
    for told in missing:
        instead = next((one for one in left if (one.source, one.name) == (told.source, told.name)), None)
        if instead is not None:
            left.remove(instead)
        actual = None if instead is None else _said(instead)
        names = told.names
        if instead is not None:  # with other values, or not even with the arguments that the event is declared with
            declared = [one.vt for one in told.arguments] == [one.vt for one in instead.arguments]
            names = (*names, _DECLARED[told.name]) if declared else (_DECLARED[told.name], *names)
        yield from (Verdict(name, Outcome.FAIL, f"event {told.name}", _said(told), actual) for name in names)
    for stray in left:
        if any((it.source, it.name) == (stray.source, stray.name) for it in optional):
            continue
        alike = next((told.names for told in expected if told.name == stray.name), ())
        default = named("EnableNotification", "default:timeout", "later:infinite")
        early = default if stray.name == "ArrivedError" and stray.source in endless else ()
        names = alike or (*early, *_ONCE.get(stray.name, ()), *silent)
        yield from (Verdict(name, Outcome.FAIL, f"event {stray.name}", None, _said(stray)) for name in names)


_DECLARED: Final = {
    "Arrived": requirement_id("MQAC-3.16.4.4.1.arrived-method"),
    "ArrivedError": requirement_id("MQAC-3.16.4.4.2.arrived-error-method"),
}
"""What an event shows that comes with other arguments."""
_ONCE: Final[Mapping[str, Names]] = {
    "Arrived": named("EnableNotification", "there", "later"),
    "ArrivedError": named("EnableNotification", "over", "zero"),
}
"""What an event shows wrong that nobody asked for."""


def _said(told: Told) -> dict[str, object]:
    return {"event": told.name, "of": told.source, "arguments": [one.to_json() for one in told.arguments]}
