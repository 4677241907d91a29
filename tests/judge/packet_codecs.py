"""Codecs to try the packets suite on: a right one made of our own layers, and wrong ones named after their defect."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from conformance.adapter.session import Failure, Result
from conformance.judge.packets.optional_headers import MEMBERS, name_of
from conformance.judge.packets.user_messages import NULL, plain_of_packet
from conformance.suites.packets.messages import base64_of, packet_of
from conformance.wire import Packet, dissect, patch, rebuild

REFUSED = 0xC00E0006
ELEMENT_FIELDS = (
    "FormatType",
    "PublicQueueIdentifier",
    "SourceQueueManager",
    "PrivateQueueIdentifier",
    "DirectFormatName",
    "DistributionListIdentifier",
)


class Codec:
    """Encodes and decodes as the documents say; stands where a driver's client stands."""

    def call(self, method: str, /, **params: Any) -> Result:
        if method == "packets.encode":
            return Result(0, {"packet": base64_of(self.encode(params["message"]))}, None)
        message = self.decode(base64.b64decode(params["packet"]))
        return Result(REFUSED, {}, None) if message is None else Result(0, {"message": message}, None)

    def encode(self, message: Mapping[str, Any]) -> bytes:
        return packet_of(message)

    def decode(self, data: bytes) -> dict[str, Any] | None:
        packet = dissect(data, transport="buffer")
        if packet.trouble or packet.kind != "UserMessage" or packet.fields["Packet.Unexplained"]:
            return None
        if any(value for key, value in packet.fields.items() if key.endswith(".FormatNameList.Stopped")):
            return None
        plain = plain_of_packet(packet)
        message = {name: value for name, value in plain.items() if value is not None}
        message["identifier"] = {"source": message.pop("source"), "ordinal": message.pop("ordinal")}
        octets = ("body", "extension", "correlation_identifier", "sender_identifier", "sender_certificate", "signature")
        for name in octets:
            message[name] = base64_of(bytes.fromhex(message[name]))
        return {name: value for name, value in message.items() if value != NULL} | _optional(packet)


def _optional(packet: Packet) -> dict[str, Any]:
    """The members that few messages have."""
    out: dict[str, Any] = {}
    for name, member in MEMBERS.items():
        key = f"MultiQueueFormatHeader.{name}"
        found = [
            name_of({field: packet.fields.get(f"{key}.FormatNameList.{at}.{field}") for field in ELEMENT_FIELDS})
            for at in range(int(packet.fields.get(f"{key}.ElementCount", 0)))
        ]
        if found:
            out[member] = found
    signature = packet.fields.get("MultiQueueFormatHeader.Signature.Signature")
    if isinstance(signature, bytes):
        out["multiple_destination_signature"] = base64_of(signature)
    for member in ("soap_header", "soap_body"):
        out[member] = packet.fields.get(f"SoapHeader.{member[5:].capitalize()}", "")
    return out


class BigEndianPacketSize(Codec):
    """Writes PacketSize with its highest byte first."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        data = super().encode(message)
        return data[:8] + data[8:12][::-1] + data[12:]


class BigEndianGuids(Codec):
    """Writes GUIDs as they are printed."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        data = super().encode(message)
        guid = data[16:32]
        return data[:16] + guid[3::-1] + guid[5:3:-1] + guid[7:5:-1] + guid[8:] + data[32:]


class SwapsTheTimes(Codec):
    """Writes SentTime before TimeToBeReceived."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        data = super().encode(message)
        return data[:48] + data[52:56] + data[48:52] + data[56:]


class CountsTheLabelWithoutItsEnd(Codec):
    """LabelLength leaves out the NUL, and so does the label."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        packet = dissect(super().encode(message))
        label = str(packet.fields.get("MessagePropertiesHeader.Label", ""))
        return rebuild(packet, {"MessagePropertiesHeader.Label": label.encode("utf-16-le")}) if label else packet.data


class KeepsThePrefix(Codec):
    """Sends the direct format name with DIRECT= in front."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        packet = dissect(super().encode(message))
        key = "UserHeader.DestinationQueue.DirectFormatName"
        return rebuild(packet, {key: f"DIRECT={packet.fields[key]}"}) if key in packet.fields else packet.data


class TransactionWithPriority(Codec):
    """Leaves priority 3 in transactional messages."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        packet = dissect(super().encode(message))
        return patch(packet, {"BaseHeader.Flags.PR": 3}) if message.get("transaction") else packet.data


class NumbersBitsFromTheTop(Codec):
    """Takes bit 0 of the diagrams for the most significant one."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        data = super().encode(message)
        word = int.from_bytes(data[2:4], "little")
        return data[:2] + int(f"{word:016b}"[::-1], 2).to_bytes(2, "little") + data[4:]


class ForgetsThePadding(Codec):
    """Ends the packet where the body ends."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        packet = dissect(super().encode(message))
        spare = len(packet.fields.get("MessagePropertiesHeader.Padding", b""))  # type: ignore[arg-type]
        if not spare or packet.spans["MessagePropertiesHeader.Padding"][0] + spare != len(packet.data):
            return packet.data
        return patch(packet, {"BaseHeader.PacketSize": len(packet.data) - spare})[:-spare]


class LosesTheCorrelation(Codec):
    """Writes zeros for the correlation identifier."""

    def encode(self, message: Mapping[str, Any]) -> bytes:
        return super().encode({name: value for name, value in message.items() if name != "correlation_identifier"})


class FailsOnExtensions(Codec):
    """Has no answer to a message with an extension."""

    def call(self, method: str, /, **params: Any) -> Result:
        if method == "packets.encode" and params["message"].get("extension"):
            return Result(None, {}, Failure("ExtensionError", "not supported"))
        return super().call(method, **params)


class ReadsTheBodyTooShort(Codec):
    """Takes the size of the body for one less than it is."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        message = super().decode(data)
        return None if message is None else message | {"body": base64_of(base64.b64decode(message["body"])[:-1])}


class SwapsTheFirstAndLastMark(Codec):
    """Reads FM as LM and LM as FM."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        message = super().decode(data)
        if message and message.get("transaction"):
            marks = message["transaction"]
            message["transaction"] = marks | {"first": marks["last"], "last": marks["first"]}
        return message


class AcceptsAnyVersion(Codec):
    """Never looks at VersionNumber."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        return super().decode(b"\x10" + data[1:])


class ReadsWhatIsThere(Codec):
    """Takes a packet cut short for one whose last field is shorter."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        message = super().decode(data)
        return {"destination": "DIRECT=OS:a\\q", "body": ""} if message is None and len(data) > 80 else message


class RefusesReservedBits(Codec):
    """Takes a reserved bit for an error."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        packet = dissect(data)
        reserved = [key for key in packet.fields if key.rpartition(".")[2].removeprefix("X").isdigit() and "X" in key]
        return None if any(packet.fields[key] for key in reserved) else super().decode(data)


class RefusesEverythingAfterAnError(Codec):
    """Once a packet was malformed, no packet is read any more."""

    def __init__(self) -> None:
        self.broken = False

    def decode(self, data: bytes) -> dict[str, Any] | None:
        message = None if self.broken else super().decode(data)
        self.broken = message is None
        return message
