"""A packet is taken for what most of its marks show, by `dissect` and by columns alike."""

import struct
from typing import Any

import pytest
from columns_beside import Beside

from conformance.wire import dissect, encode, rebuild
from conformance.wire.columns.packets import shapes_and_code

SHAPES, _ = shapes_and_code()
INTERNAL = ("SessionAck", "EstablishConnection", "ConnectionParameters")
MPH, DESTINATION = "MessagePropertiesHeader", "UserHeader.DestinationQueue"
WRONG: dict[str, dict[str, Any]] = {
    "destination": {f"{DESTINATION}.PrivateQueueIdentifier": 5},
    "label": {f"{MPH}.Label": "QM ordering ack"},
    "size": {f"{MPH}.MessageBody": bytes(35)},
    "class": {f"{MPH}.MessageClass": 0},
}
NAMED = {"FinalAckBody.MessageID": 7, "UserHeader.Flags.DM": 1}


def acknowledgment(kind: str) -> bytes:
    return encode(kind, NAMED if kind == "FinalAck" else {})


def changed(data: bytes, changes: dict[str, Any]) -> bytes:
    return rebuild(dissect(data), changes)


def kinds(*packets: bytes) -> list[str]:
    """What each packet is taken for; columns, where they decide at all, decide alike."""
    Beside(tuple(SHAPES.places)).compare_fields(list(packets))
    return [dissect(one, transport="tcp").kind for one in packets]


@pytest.mark.parametrize("kind", ["OrderAck", "FinalAck"])
def test_an_acknowledgment_with_one_wrong_mark_is_still_one(kind: str) -> None:
    whole = acknowledgment(kind)
    assert kinds(whole, *(changed(whole, change) for change in WRONG.values())) == [kind] * 5


@pytest.mark.parametrize("kind", ["OrderAck", "FinalAck"])
def test_two_wrong_marks_make_a_message(kind: str) -> None:
    whole = acknowledgment(kind)
    pairs = [{**one, **other} for one in WRONG.values() for other in WRONG.values() if one is not other]
    assert set(kinds(*(changed(whole, pair) for pair in pairs))) == {"UserMessage"}


def test_an_express_acknowledgment_that_names_no_message_has_a_wrong_class() -> None:
    wrong = [changed(encode("OrderAck"), {f"{MPH}.MessageClass": number}) for number in (0x4000, 0x8003, 0x1234)]
    assert kinds(*wrong) == ["OrderAck"] * 3
    assert kinds(changed(acknowledgment("FinalAck"), {"UserHeader.Flags.DM": 0})) == ["FinalAck"]


@pytest.mark.parametrize("kind", INTERNAL)
def test_an_internal_packet_without_its_flag_is_still_one(kind: str) -> None:
    data = encode(kind)
    flags = struct.unpack_from("<H", data, 2)[0]
    assert flags & 8
    assert kinds(data[:2] + struct.pack("<H", flags ^ 8) + data[4:]) == [kind]


@pytest.mark.parametrize("kind", INTERNAL)
def test_the_size_tells_an_internal_packet_of_a_wrong_type(kind: str) -> None:
    data = encode(kind)
    wrong = [data[:18] + bytes([number]) + data[19:] for number in (1, 2, 3)]
    assert kinds(*wrong) == [kind] * 3
    assert kinds(data[:18] + b"\x04" + data[19:]) == ["Malformed"]


def test_a_size_of_no_packet_leaves_the_type() -> None:
    data = encode("ConnectionParameters")
    for size in (20, 31, 36, 600):
        cut = data[:size].ljust(size, b"\0")
        assert kinds(cut[:8] + struct.pack("<I", size) + cut[12:]) == ["ConnectionParameters"]


def test_a_message_of_the_size_of_an_internal_packet_is_a_message() -> None:
    for label in ("", "x"):
        short = encode("UserMessage", {f"{MPH}.Label": label})
        body = bytes(572 - len(short))
        assert kinds(changed(short, {f"{MPH}.MessageBody": body})) == ["UserMessage"]
