"""Mutations for `attribute_compare`: messages read wrongly, one attribute at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.judge.packets.attribute_compare import ATTRIBUTES, Attribute, compare_plain
from conformance.judge.packets.field_mutations import FULL, GUIDS, whole
from conformance.judge.packets.user_messages import plain_of_packet
from conformance.verdict import Outcome
from conformance.wire import Packet, dissect, encode

_TRANSACTION = "TransactionHeader."
_QUEUES = tuple(
    f"{member}{end}" for member in ("destination", "administration_queue", "response_queue") for end in ("", ":")
)


def packet_for(attribute: Attribute) -> Packet:
    """Return a right packet that exercises the requirement: priority is compared only without a transaction."""
    if attribute.member != "priority":
        return whole(attribute.when)
    values = {key: value for key, value in FULL.items() if not key.startswith(_TRANSACTION)}
    return dissect(encode("UserMessage", values), transport="buffer")


def misread(plain: Mapping[str, Any], member: str) -> dict[str, Any]:
    """Return the message with another value of this member, as a decoder reads it that looks in the wrong place."""
    outer, _, inner = member.removesuffix(":").partition(".")
    if inner:
        return {**plain, outer: {**plain[outer], inner: _other(plain[outer][inner])}}
    if member in _QUEUES:
        direct = str(plain[outer]).startswith("DIRECT=")
        return {**plain, outer: f"PUBLIC={GUIDS[7]}" if direct else "DIRECT=OS:x\\y"}
    return {**plain, outer: _other(plain[outer])}


def caught() -> frozenset[str]:
    """Return the requirements that hold for a message as it was packed and fail for the misread message."""
    found = set()
    for attribute in ATTRIBUTES:
        packet = packet_for(attribute)
        plain = plain_of_packet(packet)
        right, wrong = (
            {one.requirement: one.outcome for one in compare_plain(plain, read, packet)}
            for read in (plain, misread(plain, attribute.member))
        )
        if right.get(attribute.requirement) is Outcome.PASS and wrong[attribute.requirement] is Outcome.FAIL:
            found.add(attribute.requirement)
    return frozenset(found)


def _other(value: Any) -> Any:
    """Return a different value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value ^ 1
    if isinstance(value, list):
        return [*value, "another"]
    if isinstance(value, dict):
        return {name: _other(one) for name, one in value.items()}
    return f"{value}0"
