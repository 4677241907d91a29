"""Codecs of CACTransferBufferV1 to try the suite on: a right one, and wrong ones named after their defect."""

from __future__ import annotations

import base64
from typing import Any

from conformance.adapter.session import Result
from conformance.judge.structures.transfer_buffer import judge_transfer_buffer
from conformance.judge.structures.transfer_buffer_rules import plain
from conformance.verdict import Outcome
from conformance.wire.packet import Packet
from conformance.wire.transfer_buffer import RECEIVE, TAG, TRANSFER_TYPE, key, read_transfer_buffer, value_of
from conformance.wire.transfer_buffer_layers import write_transfer_buffer

REFUSED = 0xC00E0006
S = "MQMP-2.2.3.2."


def readable(data: bytes) -> Packet | None:
    """The structure, unless it is cut short or its two discriminants differ."""
    found = read_transfer_buffer(data)
    agree = found.fields.get(key(TAG)) == found.fields.get(key(TRANSFER_TYPE.name))
    return found if found.whole and agree else None


class BufferCodec:
    """Writes and reads as the document says; stands where a driver's client stands."""

    def call(self, method: str, /, **params: Any) -> Result:
        if method == "structures.encode":
            data = self.encode(params["value"])
            return Result(0, {"data": base64.b64encode(data).decode("ascii")}, None)
        value = self.decode(base64.b64decode(params["data"]))
        return Result(REFUSED, {}, None) if value is None else Result(0, {"value": value}, None)

    def encode(self, value: dict[str, Any]) -> bytes:
        return write_transfer_buffer(value)

    def decode(self, data: bytes) -> dict[str, Any] | None:
        found = readable(data)
        if found is None:
            return None
        sizes = [found.fields.get(key(one.name, RECEIVE), 0) for one in RECEIVE.members if one.top]
        return value_of(found) if all(int(size) <= 1024 for size in sizes) else None


class BigEndianClass(BufferCodec):
    """pClass has its high byte first."""

    def encode(self, value: dict[str, Any]) -> bytes:
        number = value.get("p_class")
        return write_transfer_buffer({**value, "p_class": number and (number >> 8 | (number & 0xFF) << 8)})


class SwapsTheTimes(BufferCodec):
    """Takes pSentTime for pArrivedTime and the other way round."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        value = super().decode(data)
        return value and {**value, "p_sent_time": value["p_arrived_time"], "p_arrived_time": value["p_sent_time"]}


class WithoutTheTag(BufferCodec):
    """Leaves the discriminant before the union out."""

    def encode(self, value: dict[str, Any]) -> bytes:
        data = super().encode(value)
        return data[:4] + data[8:]


class RoomIsWhatIsUsed(BufferCodec):
    """Writes ulBodyBufferSizeInBytes into ulAllocBodyBufferInBytes."""

    def encode(self, value: dict[str, Any]) -> bytes:
        used = value.get("ul_body_buffer_size_in_bytes", 0)
        return write_transfer_buffer({**value, "ul_alloc_body_buffer_in_bytes": used, "p_body_size": None})


class CountsTheTitleInBytes(BufferCodec):
    """ulTitleBufferSizeInWCHARs is the number of bytes, its array right."""

    def encode(self, value: dict[str, Any]) -> bytes:
        data = bytearray(super().encode(value))
        begin, size = read_transfer_buffer(bytes(data)).spans[key("ulTitleBufferSizeInWCHARs")]
        data[begin : begin + size] = (2 * value.get("ul_title_buffer_size_in_wchars", 0)).to_bytes(4, "little")
        return bytes(data)


class TraceOfFourBytes(BufferCodec):
    """pTrace leads to a DWORD."""

    def encode(self, value: dict[str, Any]) -> bytes:
        data = super().encode(value)
        alone = read_transfer_buffer(data).fields.get(key("Last")) == "pTrace"
        return data + bytes(3) if alone else data


class NameWithoutItsEnd(BufferCodec):
    """Format names lose their NUL."""

    def encode(self, value: dict[str, Any]) -> bytes:
        if "receive" not in value:
            return super().encode(value)
        inside = dict(value["receive"])
        for word in ("response", "admin", "dest", "ordering"):
            name = inside.get(f"pp_{word}_format_name")
            if name:
                inside |= {f"pp_{word}_format_name": name[:-1], f"ul_{word}_format_name_len": len(name) - 1}
        return write_transfer_buffer({**value, "receive": inside})


class ResponseInPlaceOfAdministration(BufferCodec):
    """Swaps the two queues of Send."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        value = super().decode(data)
        if value is None or "send" not in value:
            return value
        one, other = value["send"]["p_admin_queue_format"], value["send"]["p_response_queue_format"]
        return {**value, "send": {"p_admin_queue_format": other, "p_response_queue_format": one}}


class TakesWhatIsCutShort(BufferCodec):
    """Makes up what it cannot read."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        found = read_transfer_buffer(data)
        return super().decode(data) if found.whole else plain()


class RangeIsAdvice(BufferCodec):
    """Takes names of any length."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        found = readable(data)
        return None if found is None else value_of(found)


class FourthTransferType(BufferCodec):
    """Takes every other transfer type for CreateCursor."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        if data[:1] not in (b"\0", b"\1") and len(data) > 8:
            data = bytes((2, 0, 0, 0)) * 2 + data[8:]
        return super().decode(data)


class PointersAreThoseItWrites(BufferCodec):
    """Reads no pointer below 0x20000."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        found = read_transfer_buffer(data)
        numbers = [int(held) for name, held in found.fields.items() if name.endswith(".Referent")]
        return super().decode(data) if all(not number or number >= 0x20000 for number in numbers) else None


class EverybodyIsNobody(BufferCodec):
    """Writes MQMSG_SENDERID_TYPE_NONE for a SID."""

    def encode(self, value: dict[str, Any]) -> bytes:
        return write_transfer_buffer({**value, "pul_sender_id_type": value.get("pul_sender_id_type") and 0})


class RefusesTheForbidden(BufferCodec):
    """Right too: does not write what must not be sent."""

    def call(self, method: str, /, **params: Any) -> Result:
        result = super().call(method, **params)
        data = base64.b64decode(result.values.get("data", ""))
        verdicts = judge_transfer_buffer(data, profile="msmq-4.0") if data else []
        broken = any(verdict.outcome is Outcome.FAIL for verdict in verdicts)
        return Result(REFUSED, {}, None) if broken else result


class MendsTheForbidden(BufferCodec):
    """Right too: writes something that can be sent instead."""

    def encode(self, value: dict[str, Any]) -> bytes:
        return super().encode(plain(value["u_transfer_type"]))


WRONG: dict[type[BufferCodec], str] = {
    BigEndianClass: f"{S}p-class",
    SwapsTheTimes: f"{S}p-sent-time",
    WithoutTheTag: f"{S}p-class",
    RoomIsWhatIsUsed: f"{S}alloc-body-buffer",
    CountsTheTitleInBytes: f"{S}title-buffer-size",
    TraceOfFourBytes: f"{S}p-trace",
    NameWithoutItsEnd: f"{S}response-format-name-length",
    ResponseInPlaceOfAdministration: f"{S}p-admin-queue-format",
    TakesWhatIsCutShort: f"{S}cac-transfer-buffer-v1",
    RangeIsAdvice: f"{S}response-format-name-length-range",
    FourthTransferType: f"{S}transfer-type-values",
    PointersAreThoseItWrites: f"{S}cac-transfer-buffer-v1",
    EverybodyIsNobody: f"{S}sender-id-type",
}
