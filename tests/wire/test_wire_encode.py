"""What `encode` computes, and that each computed value can be overridden."""

import pytest

from conformance.wire import EncodeError, dissect, encode, patch, rebuild

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
