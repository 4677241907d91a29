"""What is written is read again."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import amount, fewer
from printed_frames import SESSION_ACK, USER_MESSAGE
from wire_strategies import GUID, NAME, U32, user_messages

from conformance.wire import EncodeError, dissect, encode, patch, rebuild
from conformance.wire.elements import WAYS, each_way
from conformance.wire.headers import MULTI_QUEUE_FORMAT_HEADER
from conformance.wire.layout import Blob, steps_of


@given(user_messages(), st.sampled_from(["after", "inside"]))
@settings(max_examples=fewer(150), deadline=None)
def test_what_is_encoded_is_decoded(values: dict[str, Any], placement: str) -> None:
    data = encode("UserMessage", values, placement=placement)
    packet = dissect(data)
    assert packet.trouble == ()
    assert {key: packet.fields[key] for key in values} == values
    assert packet.fields["Packet.Unexplained"] == 0
    session = "SessionHeader.AckSequenceNumber" in values
    assert len(data) - packet.fields["BaseHeader.PacketSize"] == (16 if session and placement == "after" else 0)
    assert len(data) % 4 == 0
    assert rebuild(packet) == data


@given(user_messages())
@settings(max_examples=fewer(60), deadline=None)
def test_sections_lie_side_by_side(values: dict[str, Any]) -> None:
    packet = dissect(encode("UserMessage", values))
    at = 0
    for offset, length in sorted(span for key, span in packet.spans.items() if "." not in key):
        assert (offset, offset % 4) == (at, 0)
        at += length
    assert at == len(packet.data)


def test_a_body_may_have_its_allocated_length() -> None:
    """Where MessageSize tells the size before encryption, only AllocationBodySize explains the packet."""
    values: dict[str, Any] = {
        "UserHeader.DestinationQueue.DirectFormatName": "OS:a\\q",
        "MessagePropertiesHeader.PrivacyLevel": 5,
        "MessagePropertiesHeader.MessageBody": bytes(range(32)),
        "MessagePropertiesHeader.MessageSize": 21,
    }
    packet = dissect(encode("UserMessage", values))
    assert (packet.trouble, packet.fields["Packet.Unexplained"]) == ((), 0)
    assert packet.fields["MessagePropertiesHeader.MessageBody"] == bytes(range(32))
    plain = dissect(encode("UserMessage", values | {"MessagePropertiesHeader.PrivacyLevel": 0}))
    assert plain.fields["MessagePropertiesHeader.MessageBody"] == bytes(range(21))
    assert plain.fields["Packet.Unexplained"] == 8


@given(st.binary(max_size=400))
@settings(max_examples=fewer(300), deadline=None)
def test_any_bytes_decode_to_something(data: bytes) -> None:
    packet = dissect(data)
    assert packet.kind != "Malformed" or packet.trouble


@given(st.binary(max_size=200), st.integers(0, 0x1F), st.integers(16, 0x00400000))
@settings(max_examples=fewer(300), deadline=None)
def test_any_bytes_behind_a_base_header_decode_to_something(rest: bytes, flags: int, size: int) -> None:
    data = bytes([0x10, 0, flags, 0]) + b"LIOR" + size.to_bytes(4, "little") + b"\xff" * 4 + rest
    packet = dissect(data)
    assert packet.trouble or packet.fields["BaseHeader.PacketSize"] <= len(data)


@given(st.data(), st.sampled_from([USER_MESSAGE[:300], USER_MESSAGE, SESSION_ACK]))
@settings(max_examples=fewer(300), deadline=None)
def test_mutated_frames_decode_to_something(data: st.DataObject, frame: bytes) -> None:
    mutated = bytearray(frame)
    for _ in range(data.draw(st.integers(1, 4))):
        mutated[data.draw(st.integers(0, min(len(frame) - 1, 221)))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(mutated)))
    for candidate in (bytes(mutated), bytes(mutated[:cut])):
        packet = dissect(candidate)
        assert all(at >= 0 and at + length <= len(candidate) for at, length in packet.spans.values())
        assert sum(len(value) for value in packet.fields.values() if isinstance(value, bytes)) <= len(candidate) + 572


@given(st.binary(max_size=200))
@settings(max_examples=fewer(100), deadline=None)
def test_any_datagram_decodes_to_something(data: bytes) -> None:
    packet = dissect(data, transport="udp")
    assert packet.kind in {"Ping", "Malformed"}
    assert (packet.kind == "Ping") == (len(data) >= 24 and data[2:4] == b"HU")


DESTINATION = {"UserHeader.DestinationQueue.DirectFormatName": "OS:a\\q"}


def test_sizes_flags_and_padding_are_computed() -> None:
    fields = dissect(
        encode(
            "UserMessage",
            DESTINATION | {"MessagePropertiesHeader.Label": "ab", "MessagePropertiesHeader.MessageBody": b"12345"},
        )
    ).fields
    assert fields["UserHeader.DestinationQueue.Count"] == 14
    assert fields["MessagePropertiesHeader.LabelLength"] == 3
    assert fields["MessagePropertiesHeader.MessageSize"] == 5
    assert fields["MessagePropertiesHeader.AllocationBodySize"] == 5
    assert fields["MessagePropertiesHeader.Padding"] == b"\0"
    assert fields["UserHeader.Flags.MP"] == 1
    assert fields["UserHeader.Flags.DQ"] == 7


def test_a_message_of_a_transaction_has_priority_zero_and_is_recoverable() -> None:
    fields = dissect(encode("UserMessage", DESTINATION | {"TransactionHeader.TxSequenceNumber": 1})).fields
    assert fields["UserHeader.Flags.TH"] == 1
    assert fields["UserHeader.Flags.DM"] == 1
    assert fields["BaseHeader.Flags.PR"] == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("BaseHeader.PacketSize", 7),
        ("BaseHeader.Signature", 1),
        ("BaseHeader.VersionNumber", 0x11),
        ("BaseHeader.Flags.X3", 1),
        ("BaseHeader.Flags", 0xFFC7),
        ("MessagePropertiesHeader.AllocationBodySize", 99),
    ],
)
def test_a_given_value_is_written_as_it_is(key: str, value: int) -> None:
    data = encode("UserMessage", DESTINATION | {key: value})
    start, width = dissect(encode("UserMessage", DESTINATION)).span(key) or (0, 0)
    written = int.from_bytes(data[start : start + width], "little")
    assert written == value if not key.endswith("X3") else written >> 12 & 1


def test_a_length_that_lies_is_written_as_it_is() -> None:
    data = encode("UserMessage", DESTINATION | {"MessagePropertiesHeader.MessageSize": 400})
    assert [trouble.code for trouble in dissect(data).trouble] == ["truncated"]


def test_a_flag_and_its_header_can_be_made_to_disagree() -> None:
    data = encode("UserMessage", DESTINATION | {"UserHeader.Flags.TH": 1}, sections=["MessagePropertiesHeader"])
    assert len(data) == len(encode("UserMessage", DESTINATION))
    assert data[16 + 44 + 2] & 0x10


def test_text_given_as_bytes_is_not_ended() -> None:
    packet = dissect(encode("UserMessage", DESTINATION | {"MessagePropertiesHeader.Label": "ab".encode("utf-16-le")}))
    assert packet.fields["MessagePropertiesHeader.Label"] == "ab"
    assert packet.fields["MessagePropertiesHeader.Label.Terminated"] is False


def test_patch_changes_only_the_bits_named() -> None:
    packet = dissect(encode("UserMessage", DESTINATION))
    changed = patch(packet, {"UserHeader.Flags.RC": 31})
    assert bin(int.from_bytes(changed, "little") ^ int.from_bytes(packet.data, "little")).count("1") == 5


def test_rebuild_recomputes_the_sizes() -> None:
    packet = dissect(encode("UserMessage", DESTINATION | {"TransactionHeader.TxSequenceNumber": 1}))
    longer = dissect(rebuild(packet, {"MessagePropertiesHeader.MessageBody": b"x" * 9}))
    assert longer.fields["BaseHeader.PacketSize"] == packet.fields["BaseHeader.PacketSize"] + 12
    shorter = dissect(rebuild(packet, without=["TransactionHeader"]))
    assert shorter.fields["UserHeader.Flags.TH"] == 0
    assert len(shorter.data) == len(packet.data) - 20


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("NoSuchKind", {}),
        ("UserMessage", {"UserHeader.NoSuchField": 1}),
        ("UserMessage", {"Ping.Cookie": 1}),
        ("UserMessage", {"UserHeader.Flags.RC": 32}),
        ("UserMessage", {"UserHeader.MessageID": -1}),
        ("UserMessage", {"UserHeader.MessageID": "text"}),
        ("UserMessage", {"UserHeader.SourceQueueManager": "no guid"}),
        ("UserMessage", {"MessagePropertiesHeader.CorrelationID": b"short"}),
    ],
)
def test_what_cannot_be_written_is_refused(kind: str, values: dict[str, object]) -> None:
    with pytest.raises(EncodeError):
        encode(kind, values)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["OrderAck", "FinalAck"])
def test_acknowledgments_are_told_from_messages(kind: str) -> None:
    packet = dissect(encode(kind, {f"{kind}Body.TxSequenceNumber": 9}))
    assert (packet.kind, packet.trouble) == (kind, ())
    assert packet.fields[f"{kind}Body.TxSequenceNumber"] == 9
    assert packet.fields["MessagePropertiesHeader.MessageSize"] == 36
    assert packet.fields["UserHeader.DestinationQueue.PrivateQueueIdentifier"] == 4


LIST = "MultiQueueFormatHeader.Destination.FormatNameList"
GUID_A = "11ea26c6-b6e6-4997-9595-9150557358d1"
RAW_A = bytes.fromhex("c626ea11e6b697499595 9150557358d1".replace(" ", ""))
DIRECT = {"DirectFormatName": "OS:h\\q"}
TABLE = next(step.elements for step in steps_of(MULTI_QUEUE_FORMAT_HEADER) if isinstance(step, Blob) and step.elements)
ELEMENT = st.one_of(
    GUID.map(lambda guid: {"PublicQueueIdentifier": guid}),
    st.builds(lambda guid, number: {"SourceQueueManager": guid, "PrivateQueueIdentifier": number}, GUID, U32),
    NAME.map(lambda name: {"DirectFormatName": name}),
    GUID.map(lambda guid: {"DistributionListIdentifier": guid}),
)


def packet(*elements: dict[str, Any], **others: Any) -> Any:
    values = {f"{LIST}.{at}.{name}": value for at, one in enumerate(elements) for name, value in one.items()}
    return dissect(encode("UserMessage", values | {f"MultiQueueFormatHeader.{k}": v for k, v in others.items()}))


def of_bytes(raw: bytes, count: int) -> Any:
    key = "MultiQueueFormatHeader.Destination."
    return dissect(encode("UserMessage", {LIST: raw, key + "ElementCount": count}))


@given(st.lists(ELEMENT, min_size=1, max_size=6))
@settings(max_examples=fewer(80), deadline=None)
def test_names_that_are_encoded_are_decoded(names: list[dict[str, Any]]) -> None:
    found = packet(*names)
    assert found.trouble == ()
    assert (
        found.fields[f"{LIST}.Elements"] == len(names) == found.fields[LIST.replace("FormatNameList", "ElementCount")]
    )
    assert (found.fields[f"{LIST}.Stopped"], found.fields[f"{LIST}.Left"]) == ("", 0)
    ways = each_way(found.fields[LIST], 0, len(names), TABLE)
    shown = [
        {key: value for key, value in one.items() if key not in ("FormatType", "Padding")} for one in ways[WAYS[0]]
    ]
    assert shown == names
    assert rebuild(found) == found.data


def test_an_element_lies_where_its_span_says() -> None:
    found = packet(DIRECT, {"SourceQueueManager": GUID_A, "PrivateQueueIdentifier": 7})
    at, length = found.spans[f"{LIST}.1.SourceQueueManager"]
    assert found.data[at : at + length] == RAW_A
    assert found.fields[f"{LIST}.1.PrivateQueueIdentifier"] == 7
    assert found.fields[f"{LIST}.Of2"] == found.fields[f"{LIST}.Of3"] == 1


@pytest.mark.parametrize(
    ("raw", "fitting"),
    [
        # A direct name of 16 bytes, then a private queue: without alignment the last two bytes would be padding.
        (b"\3\0" + "OS:h\\q\0".encode("utf-16-le") + b"\2\0\xaa\xaa" + RAW_A + b"\7\0\0\0", set(WAYS)),
        # The direct name one WCHAR longer: FormatType at 18, its GUID at 20 from the header, at 22 from the element.
        (b"\3\0" + "OS:h\\qq\0".encode("utf-16-le") + b"\2\0" + RAW_A + b"\7\0\0\0", {WAYS[0], WAYS[1], "none"}),
        (b"\3\0" + "OS:h\\qq\0".encode("utf-16-le") + b"\2\0\0\0" + RAW_A + b"\7\0\0\0", {WAYS[2], WAYS[3]}),
        (b"\1\0" + RAW_A + b"\3\0q\0\0\0", {"header.packed", "element.packed", "none"}),
        (b"\1\0\xaa\xaa" + RAW_A + b"\3\0q\0\0\0", {"header.aligned", "element.aligned"}),
        (b"\3\0q\0\0\0", set(WAYS)),
    ],
)
def test_the_ways_that_fit_are_told(raw: bytes, fitting: set[str]) -> None:
    fields = of_bytes(raw, 2 if len(raw) > 6 else 1).fields
    assert {way for way in WAYS if fields[f"{LIST}.Fits.{way}"]} == fitting
    assert fields[f"{LIST}.Way"] in fitting
    assert fields[f"{LIST}.Left"] == 0
    guids = [value for key, value in fields.items() if key.startswith(f"{LIST}.") and value == GUID_A]
    assert len(guids) == (1 if len(raw) > 6 else 0)


@pytest.mark.parametrize(
    ("raw", "count", "stopped", "elements", "left"),
    [
        (b"\3\0q\0\0\0", 2, "", 1, 0),
        (b"\3\0q\0\0\0" * 2, 1, "", 2, 0),
        (b"\3\0q\0\0\0\0\0\0\0", 1, "", 1, 4),
        (b"\3\0q\0\0\0\0\0\0\0", 2, "type", 1, 4),
        (b"\3\0q\0\0\0\3\0q\0", 2, "unterminated", 1, 4),
        (b"\1\0" + bytes(15), 1, "short", 0, 17),
        (b"\x05\0" + bytes(16), 1, "type", 0, 18),
        (b"", 3, "", 0, 0),
    ],
)
def test_where_a_list_stops(raw: bytes, count: int, stopped: str, elements: int, left: int) -> None:
    fields = of_bytes(raw, count).fields
    assert (fields[f"{LIST}.Stopped"], fields[f"{LIST}.Elements"], fields[f"{LIST}.Left"]) == (stopped, elements, left)
    assert (f"{LIST}.StoppedType" in fields) == (stopped == "type")


def test_very_many_names_do_not_become_as_many_fields() -> None:
    many = amount("wire.names-in-a-list")
    found = of_bytes(b"\3\0\0\0" * many, 0xFFFFFFFF)
    assert found.fields[f"{LIST}.Elements"] == many
    assert len(found.fields) < 3000


def test_a_count_and_a_selector_can_lie() -> None:
    found = packet(DIRECT | {"FormatType": 5}, **{"Destination.ElementCount": 9})
    assert found.fields["MultiQueueFormatHeader.Destination.ElementCount"] == 9
    assert found.fields[f"{LIST}.StoppedType"] == 5


def test_a_name_is_changed_in_a_packet_that_was_read() -> None:
    before = packet(DIRECT, {"PublicQueueIdentifier": GUID_A})
    after = dissect(rebuild(before, {f"{LIST}.0.DirectFormatName": "OS:longer\\queue"}))
    assert after.fields[f"{LIST}.0.DirectFormatName"] == "OS:longer\\queue"
    assert after.fields[f"{LIST}.1.PublicQueueIdentifier"] == GUID_A
    assert len(after.data) == len(before.data) + 16


@pytest.mark.parametrize(
    "element",
    [
        {"DirectFormatName": "a", "PublicQueueIdentifier": GUID_A},
        {"PublicQueueIdentifier": "no guid"},
        {"PrivateQueueIdentifier": 1 << 32},
        {"FormatType": -1},
        {"NoSuchField": 1},
    ],
)
def test_what_is_no_element_is_refused(element: dict[str, Any]) -> None:
    with pytest.raises(EncodeError):
        packet(element)


@given(st.binary(max_size=120), U32)
@settings(max_examples=fewer(200), deadline=None)
def test_any_bytes_are_a_list_of_something(raw: bytes, count: int) -> None:
    found = of_bytes(raw, count)
    assert all(at + length <= len(found.data) for at, length in found.spans.values())
    assert rebuild(found) == found.data
