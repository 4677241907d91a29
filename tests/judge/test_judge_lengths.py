"""A part of a packet that is too short, too long or left out is blamed, and nothing behind it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from conformance.judge.packets.judge import judge_packet
from conformance.judge.packets.rules_lists import MULTI, SOAP
from conformance.judge.packets.rules_security import CONNECTED, WITH_SID
from conformance.judge.packets.rules_user import ASKING, GUID, TRANSACTION
from conformance.judge.rules import PLAIN, Value
from conformance.verdict import Outcome
from conformance.wire import Packet, dissect, encode, patch

U, T, Q, M = "UserHeader.", "TransactionHeader.", "MultiQueueFormatHeader.", "MessagePropertiesHeader."
BODY = {M + "MessageBody": b"", M + "Label": "a label"}


def message(**values: Value) -> Packet:
    return dissect(encode("UserMessage", {**PLAIN, **values}))


def changed(packet: Packet, at: int, old: int, new: bytes = b"") -> bytes:
    size = int(packet.fields["BaseHeader.PacketSize"]) + len(new) - old
    whole = patch(packet, {"BaseHeader.PacketSize": size})
    return whole[:at] + new + whole[at + old :]


def parts() -> Iterator[tuple[str, str, bytes]]:
    """Yield a name, the requirement that is broken, and a packet in which one part is wrong."""
    plain = {key: value for key, value in PLAIN.items() if "Direct" not in key}
    public = dissect(
        encode(
            "UserMessage",
            {**plain, U + "DestinationQueue.PublicQueueIdentifier": GUID, U + "QueueManagerAddress": GUID},
        )
    )
    at = public.spans[U + "DestinationQueue.PublicQueueIdentifier"][0]
    yield "half a public queue", "MQMQ-2.2.19.2.destination-public", changed(public, at, 8)
    connected = message(**CONNECTED)
    at = connected.spans[U + "ConnectorType"][0]
    yield "half a ConnectorType", "MQMQ-2.2.19.2.connector-type-present", changed(connected, at, 8)
    transactional = message(**TRANSACTION)
    at = transactional.spans["TransactionHeader"][0]
    yield "a cut TransactionHeader", "MQMQ-2.2.19.2.transaction-header-present", changed(transactional, at + 16, 4)
    grouped = message(**{**TRANSACTION, T + "ConnectorQMGuid": GUID})
    at = grouped.spans[T + "ConnectorQMGuid"][0]
    yield "half a ConnectorQMGuid", "MQMQ-2.2.20.5.connector-present", changed(grouped, at, 8)
    secured = message(**WITH_SID)
    at, size = secured.spans["SecurityHeader"]
    yield "a cut SecurityHeader", "MQMQ-2.2.19.2.security-header-present", changed(secured, at + 12, size - 12)
    soap = message(**SOAP)
    at = soap.spans["SoapHeader.BodySectionID"][0]
    yield "Soap without a body", "MQMQ-2.2.20.7.body-section-id-layout", changed(soap, at, len(soap.data) - at)
    lists = message(**MULTI)
    for name in ("Administration", "Response"):
        at = lists.spans[f"{Q}{name}.HeaderSize"][0]
        yield f"no {name}", f"MQMQ-2.2.20.1.{name.lower()}-layout", changed(lists, at, 12)
    at = lists.spans[Q + "Signature.ID"][0]
    yield "no Signature", "MQMQ-2.2.20.1.signature-layout", changed(lists, at, len(lists.data) - at)
    some = message()
    at, size = some.spans["UserHeader"]
    yield "no UserHeader", "MQMQ-2.2.20.required-headers", changed(some, at, size)
    twice = changed(some, at, 0, some.data[at : at + size])
    yield "UserHeader twice", "MQMQ-2.2.20.message-properties-header-layout", twice
    at, size = transactional.spans["UserHeader"]
    first = transactional.data[at + size : at + size + 20] + transactional.data[at : at + size]
    moved = transactional.data[:at] + first + transactional.data[at + size + 20 :]
    yield "TransactionHeader before UserHeader", "MQMQ-2.2.20.transaction-header-layout", moved
    asking = message(**ASKING, **{U + "ResponseQueue.PrivateQueueIdentifier": 3, U + "Flags.RQ": 2})
    at, size = asking.spans[U + "ResponseQueue.PrivateQueueIdentifier"]
    start = asking.spans[U + "AdminQueue.Count"][0]
    data = asking.data
    swapped = data[:start] + data[at : at + size] + data[start:at] + data[at + size :]
    yield "queues exchanged", "MQMQ-2.2.19.2.admin-queue-layout", swapped
    at = some.spans[M + "MessageSize"][0]
    left_out = some.data[:at] + struct.pack("<I", 0) + some.data[at + 4 :]
    yield (
        "a body that is denied",
        "MQMQ-2.2.19.3.message-body-absent",
        patch(dissect(left_out), {M + "AllocationBodySize": 0}),
    )
    size = int(some.fields["BaseHeader.PacketSize"])
    yield (
        "PacketSize leaves the end out",
        "MQMQ-2.2.19.1.packet-size",
        patch(some, {"BaseHeader.PacketSize": size - 4})[: size - 4],
    )
    session = message(**{"SessionHeader.WindowSize": 64})
    yield "a cut SessionHeader", "MQMQ-2.2.19.1.session-header-present", session.data[:-4]


@pytest.mark.parametrize(("requirement", "data"), [pytest.param(*rest, id=name) for name, *rest in parts()])
def test_the_part_is_blamed_alone(requirement: str, data: bytes) -> None:
    verdicts = judge_packet(data, profile="msmq-4.0", transport="buffer", level="may")
    assert [one.requirement for one in verdicts if one.outcome is Outcome.FAIL] == [requirement]
