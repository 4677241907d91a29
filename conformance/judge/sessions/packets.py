"""Rules of MS-MQQB 2.2 on single packets, whatever came before: a table over decoded fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from conformance.judge.sessions.context import Notes, Seen
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Json

_ORDER_QUEUE = "\\private$\\order_queue$"
_ORDER_QUEUE_ID = 4
_BODY_SIZE = 36
_DM, _DQ, _MP = 0x60, 0x1C00, 1 << 21  # Masks of UserHeader.Flags (MS-MQMQ 2.2.19.2).
# MS-MQQB 2.2.5; the last two are not in its list, but 3.1.5.8.2 and 3.1.7.2.1-2 send them.
FINAL_ACK_CLASSES = frozenset(
    {0x4000, 0x8000, 0x8003, 0x8004, 0x8006, 0x8007, 0x8009, 0x800B, 0xC000, 0xC001, 0xC002, 0x8005, 0xC004}
)
_READING_DELIVERY = "R-MQQB-order-ack-delivery"


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A rule on one field. holds: takes its value; expected: the demand, for the verdict."""

    requirement: str
    field: str
    expected: Json
    holds: Callable[[int], bool]


def _is(requirement: str, field: str, value: int) -> FieldRule:
    return FieldRule(requirement_id(requirement), field, value, lambda found: found == value)


def _within(requirement: str, field: str, low: int, high: int) -> FieldRule:
    return FieldRule(requirement_id(requirement), field, {"from": low, "to": high}, lambda found: low <= found <= high)


def _clear(requirement: str, field: str, mask: int) -> FieldRule:
    expected = {"clear": f"0x{mask:04X}"}
    return FieldRule(requirement_id(requirement), field, expected, lambda found: not found & mask)


_INTERNAL = (
    _is("MQQB-2.2.1.reserved", "InternalHeader.Reserved", 0),
    _clear("MQQB-2.2.1.unused-bits", "InternalHeader.Flags", 0xFFE0),
    _within("MQQB-2.2.1.packet-type", "InternalHeader.Flags.PT", 1, 3),
)


def _acknowledgment(section: str) -> tuple[FieldRule, ...]:
    return (
        _is(f"MQQB-{section}.base-flags", "BaseHeader.Flags", 0),
        _is(f"MQQB-{section}.properties-flags", "MessagePropertiesHeader.Flags", 0),
        _is(f"MQQB-{section}.message-size", "MessagePropertiesHeader.MessageSize", _BODY_SIZE),
        _is(f"MQQB-{section}.body-type", "MessagePropertiesHeader.BodyType", 0),
    )


RULES: Mapping[str, tuple[FieldRule, ...]] = {
    "SessionAck": (*_INTERNAL, _is("MQQB-2.2.1.refused-elsewhere", "InternalHeader.Flags.CS", 0)),
    "EstablishConnection": (
        *_INTERNAL,
        _is("MQQB-2.2.3.1.re", "EstablishConnectionHeader.OperatingSystem.RE", 0x10),
        _is("MQQB-2.2.3.1.reserved", "EstablishConnectionHeader.Reserved", 0),
        _clear("MQQB-2.2.3.1.unused-bits", "EstablishConnectionHeader.OperatingSystem", 0xF800),
    ),
    "ConnectionParameters": (
        *_INTERNAL,
        _within(
            "MQQB-2.2.2.1.recoverable-ack-timeout", "ConnectionParametersHeader.RecoverableAckTimeout", 500, 120_000
        ),
        _within("MQQB-2.2.2.1.ack-timeout", "ConnectionParametersHeader.AckTimeout", 20_000, 120_000),
        _is("MQQB-2.2.2.1.reserved", "ConnectionParametersHeader.Reserved", 0),
    ),
    "OrderAck": (
        *_acknowledgment("2.2.4"),
        FieldRule(
            requirement_id("MQQB-2.2.4.user-flags"),
            "UserHeader.Flags",
            {"set": "MP", "any": "DQ, DM"},
            lambda found: found & ~(_DQ | _DM) == _MP,
        ),
        _within("MQQB-2.2.4.1.number", "OrderAckBody.TxSequenceNumber", 1, 0xFFFFFFFF),
    ),
    "FinalAck": (
        *_acknowledgment("2.2.5"),
        FieldRule(
            requirement_id("MQQB-2.2.5.user-flags"),
            "UserHeader.Flags",
            {"set": "MP, DM", "any": "DQ"},
            lambda found: found & ~_DQ == _MP | 0x20,
        ),
        FieldRule(
            requirement_id("MQQB-2.2.5.message-class"),
            "MessagePropertiesHeader.MessageClass",
            {"one of": sorted(FINAL_ACK_CLASSES)},
            lambda found: found in FINAL_ACK_CLASSES,
        ),
    ),
    "Malformed": (_INTERNAL[2],),
    "Ping": (_is("MQQB-2.2.7.signature", "Ping.Signature", 0x5548),),
}
_DESTINATION = {
    "OrderAck": requirement_id("MQQB-2.2.4.destination"),
    "FinalAck": requirement_id("MQQB-2.2.5.destination"),
}
_PREVIOUS = requirement_id("MQQB-2.2.4.1.previous")
_DELIVERY = requirement_id("MQQB-2.2.4.delivery")


def judge_alone(seen: Seen, notes: Notes) -> None:
    """Judge a packet by the rules of its kind whose fields were decoded."""
    kind = "Ping" if seen.connection is None else seen.kind
    for rule in RULES.get(kind, ()):
        found = seen.number(rule.field)
        if found is not None:
            notes.judge(rule.requirement, rule.holds(found), seen, rule.expected, found)
    if kind in _DESTINATION:
        _destination(seen, notes, _DESTINATION[kind])
    if kind == "OrderAck":
        _order_ack(seen, notes)


def _destination(seen: Seen, notes: Notes, requirement: str) -> None:
    kind = seen.number("UserHeader.Flags.DQ")
    if kind == 7:
        name = seen.text("UserHeader.DestinationQueue.DirectFormatName") or ""
        head, queue = name[: -len(_ORDER_QUEUE)], name[-len(_ORDER_QUEUE) :]
        holds = queue.lower() == _ORDER_QUEUE and head.upper().startswith(("TCP:", "SPX:")) and len(head) > 4
        notes.judge(requirement, holds, seen, "TCP:address\\PRIVATE$\\order_queue$", name)
    else:
        found = seen.number("UserHeader.DestinationQueue.PrivateQueueIdentifier")
        notes.judge(
            requirement, kind == 3 and found == _ORDER_QUEUE_ID, seen, {"DQ": 3, "id": 4}, {"DQ": kind, "id": found}
        )


def _order_ack(seen: Seen, notes: Notes) -> None:
    number, previous = (
        seen.number("OrderAckBody.TxSequenceNumber"),
        seen.number("OrderAckBody.TxPreviousSequenceNumber"),
    )
    if number is not None and previous is not None:
        notes.same(_PREVIOUS, seen, (number - 1) & 0xFFFFFFFF, previous)
    delivery = seen.number("UserHeader.Flags.DM")
    if delivery is None:
        return
    followed = {0: "express", 1: "recoverable"}.get(delivery)
    holds = followed in notes.accepted(_READING_DELIVERY)
    readings = ((_READING_DELIVERY, followed),) if followed else ()
    notes.judge(
        _DELIVERY, holds, seen, {"one of": list(notes.accepted(_READING_DELIVERY))}, followed or delivery, readings
    )
