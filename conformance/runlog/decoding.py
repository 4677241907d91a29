"""Decodes events, the JSON objects of a record's lines, into values.

Every function raises KeyError, TypeError, ValueError or AttributeError for an event that no writer writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.runlog.events import CaptureLine, Cut, DriverEvent, Note, PacketLine, RecordedVerdict, Story, StoryStep
from conformance.runlog.shapes import json_object, maybe_object, maybe_text, maybe_whole, text, whole
from conformance.runlog.tally import Tally
from conformance.verdict import Evidence, Json, Verdict


def _same(name: Any) -> Any:
    return name


@dataclass(frozen=True, slots=True)
class Names:
    """Functions that replace recorded names by today's names; unchanged names are returned as they are.

    requirement, rule: map an id. stored: maps a JSON value that contains ids of requirements.
    """

    requirement: Callable[[str], str] = _same
    rule: Callable[[str], str] = _same
    stored: Callable[[Json], Json] = _same


AS_WRITTEN: Names = Names()


def verdict_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> RecordedVerdict:
    """Decode a verdict event."""
    if whole(value["count"]) < 1:
        raise ValueError("a verdict seen less than once")
    for member in ("requirement", "subject", "suite", "test", "id"):
        text(value[member])
    name = names.requirement(value["requirement"])
    if name != value["requirement"]:
        value = {**value, "requirement": name}
    maybe_text(value.get("reason"))
    replaces = maybe_text(value.get("replaces"))
    for chosen in json_object(value.get("readings", {})).values():
        text(chosen)
    evidence = maybe_object(value.get("evidence"))
    if evidence is not None:
        text(evidence["kind"])
        text(evidence["ref"])
        json_object(evidence["data"])
    cut = cuts_of(value)
    return RecordedVerdict(
        id=value["id"],
        verdict=Verdict.from_json(value, cut=_within(cut, "/evidence")),
        suite=value["suite"],
        test=value["test"],
        count=value["count"],
        epoch=maybe_whole(value.get("epoch")),
        provisional=value.get("provisional") is True,
        replaces=None if replaces is None else names.requirement(replaces),
        cut=cut,
    )


def evidence_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> Evidence:
    """Decode an evidence event."""
    data = names.stored(json_object(value["data"]))
    return Evidence(text(value["kind"]), text(value["id"]), data, _within(cuts_of(value), "/data"))


def packet_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> PacketLine:
    """Decode a packet event."""
    packet = PacketLine.from_json(value)
    requirements = tuple(map(names.requirement, packet.requirements))
    return packet if requirements == packet.requirements else replace(packet, requirements=requirements)


def tally_of(value: Mapping[str, Json], names: Names = AS_WRITTEN) -> Tally:
    """Decode a tally event."""
    tally = Tally.from_json(value)
    rules: Counter[str] = Counter()
    for rule, number in tally.rules.items():
        rules[names.rule(rule)] += number
    return Tally(rules, tally.phases)


def story_of(value: Mapping[str, Json]) -> Story:
    """Decode a story event."""
    steps = tuple(StoryStep.from_json(step) for step in value["steps"])
    return Story(text(value["verdict"]), steps, maybe_text(value["repro"]), cuts_of(value))


def capture_of(value: Mapping[str, Json]) -> CaptureLine:
    """Decode a capture event."""
    return CaptureLine.from_json(value)


def driver_of(value: Mapping[str, Json]) -> DriverEvent:
    """Decode a driver event."""
    return DriverEvent(
        what=text(value["what"]),
        text=text(value["text"]),
        at=text(value["at"]),
        epoch=maybe_whole(value["epoch"]),
        returncode=maybe_whole(value["returncode"]),
        stderr=maybe_text(value["stderr"]),
    )


def note_of(value: Mapping[str, Json]) -> Note:
    """Decode a note or progress event."""
    return Note(text(value["event"]), text(value["text"]), text(value["at"]))


def cuts_of(value: Mapping[str, Json]) -> tuple[Cut, ...]:
    """Return the cuts that were made when an event was written."""
    if "cut" not in value:
        return ()
    cuts = json_object(value["cut"]).items()
    return tuple(Cut(text(at), whole(each["length"]), text(each["sha256"])) for at, each in cuts)


def _within(cuts: tuple[Cut, ...], member: str) -> bool:
    return any(cut.at == member or cut.at.startswith(f"{member}/") for cut in cuts)
