"""Codecs of structures to try the suite on: a right one made of our own tables, and wrong ones named after a defect."""

from __future__ import annotations

import base64
from typing import Any

from transfer_buffer_codecs import BufferCodec

from conformance.adapter.session import Result
from conformance.wire.structures import complete, decode, encode, patch
from conformance.wire.transfer_buffer import STRUCTURE

REFUSED = 0xC00E0006
LISTED_VT = {0, 1, 2, 3, 11, 16, 17, 18, 19, 20, 21, 31, 65, 72}


class StructureCodec:
    """Writes and reads as the documents say; stands where a driver's client stands."""

    def call(self, method: str, /, **params: Any) -> Result:
        name = params["structure"]
        if method == "structures.encode":
            data = self.encode(name, params["value"])
            return Result(0, {"data": base64.b64encode(data).decode("ascii")}, None)
        value = self.decode(name, base64.b64decode(params["data"]))
        return Result(REFUSED, {}, None) if value is None else Result(0, {"value": value}, None)

    def encode(self, name: str, value: Any) -> bytes:
        return BufferCodec().encode(value) if name == STRUCTURE else encode(name, value)

    def decode(self, name: str, data: bytes) -> Any:
        if name == STRUCTURE:
            return BufferCodec().decode(data)
        found = decode(name, data)
        counts = [held for part in found.parts for key, held in part.fields.items() if key.endswith(".CountMatches")]
        return found.value if found.whole and all(counts) else None


class CountsTheProviderWithoutItsEnd(StructureCodec):
    """ulProviderLen leaves out the NUL."""

    def encode(self, name: str, value: Any) -> bytes:
        if name != "MQDSPUBLICKEY":
            return super().encode(name, value)
        return encode(name, value, {"ul_provider_len": complete(name, value)["ul_provider_len"] - 2})


class SwapsTheLengths(StructureCodec):
    """Puts ulProviderLen before ulKeyLen."""

    def encode(self, name: str, value: Any) -> bytes:
        data = super().encode(name, value)
        return data[4:8] + data[:4] + data[8:] if name == "MQDSPUBLICKEY" else data


class ListWithoutItsOwnLength(StructureCodec):
    """ulLen counts the keys alone."""

    def encode(self, name: str, value: Any) -> bytes:
        found = decode(name, super().encode(name, value))
        return patch(found, {"ul_len": len(found.data) - 8}) if name == "MQDSPUBLICKEYS" else found.data


class BigEndianAddressLength(StructureCodec):
    """AddressLength has its high byte first."""

    def encode(self, name: str, value: Any) -> bytes:
        data = super().encode(name, value)
        return data[1::-1] + data[2:] if name == "TA_ADDRESS" else data


class SwapsTheNibbles(StructureCodec):
    """The flags are in the low bits of m_SuffixAndFlags."""

    def encode(self, name: str, value: Any) -> bytes:
        data = super().encode(name, value)
        if name != "QUEUE_FORMAT":
            return data
        return data[:1] + bytes([(data[1] << 4 & 0xF0) | data[1] >> 4]) + data[2:]


class MachineIsFive(StructureCodec):
    """Takes QUEUE_FORMAT_TYPE_MACHINE for 5."""

    def encode(self, name: str, value: Any) -> bytes:
        data = super().encode(name, value)
        found = decode(name, data)
        wrong = name == "QUEUE_FORMAT" and value["m_qft"] == 4
        return patch(found, {"m_qft": 5, "tag": 5}) if wrong else data


class TruthIsOne(StructureCodec):
    """Writes VARIANT_TRUE as 1."""

    def encode(self, name: str, value: Any) -> bytes:
        return b"\x01\x00" if name == "VARIANT_BOOL" and value else super().encode(name, value)


class TextWithoutEnd(StructureCodec):
    """Leaves the NUL of a domain out."""

    def encode(self, name: str, value: Any) -> bytes:
        if name != "DL_ID":
            return super().encode(name, value)
        count = len(value["m_pwz_domain"].encode("utf-16-le")) // 2
        given = {"m_pwz_domain.max_count": count, "m_pwz_domain.actual_count": count}
        return encode(name, value, given)[:-2]


class PointersInPlace(StructureCodec):
    """Writes what a pointer refers to where the pointer stands."""

    def encode(self, name: str, value: Any) -> bytes:
        data = super().encode(name, value)
        return data[:4] + data[8:] if name == "BLOB" else data


class DigestOfNothing(StructureCodec):
    """Leaves the digest of a certificate zero."""

    def encode(self, name: str, value: Any) -> bytes:
        data = super().encode(name, value)
        return bytes(16) + data[16:] if name == "MQUSERSIGNCERT" else data


class ReadsReserved(StructureCodec):
    """Refuses reserved members that are not zero."""

    def decode(self, name: str, data: bytes) -> Any:
        if name == "PROPVARIANT" and any(data[2:8]):
            return None
        return super().decode(name, data)


class TakesWhatIsCut(StructureCodec):
    """Reads structures that end too early."""

    def decode(self, name: str, data: bytes) -> Any:
        found = decode(name, data)
        return found.value if found.value is not None else {}


class ReadsSignedAsUnsigned(StructureCodec):
    """Reads a VT_I4 as an unsigned number."""

    def decode(self, name: str, data: bytes) -> Any:
        value = super().decode(name, data)
        if name == "PROPVARIANT" and value and value["vt"] == 3:
            return {**value, "value": value["value"] % (1 << 32)}
        return value


WRONG: dict[type[StructureCodec], str] = {
    CountsTheProviderWithoutItsEnd: "MQMQ-2.2.1.ul-provider-len",
    SwapsTheLengths: "MQMQ-2.2.1.ul-key-len-place",
    ListWithoutItsOwnLength: "MQMQ-2.2.2.ul-len",
    BigEndianAddressLength: "MQMQ-2.2.4.address-length",
    SwapsTheNibbles: "MQMQ-2.2.7.m-suffix-and-flags",
    MachineIsFive: "MQMQ-2.2.6.queue-format-type-machine",
    TruthIsOne: "MQMQ-2.2.14.variant-true",
    TextWithoutEnd: "MQMQ-2.2.9.m-pwz-domain-text",
    PointersInPlace: "MQMQ-2.2.15.declaration",
    DigestOfNothing: "MQMQ-2.2.22.digest",
    ReadsReserved: "MQMQ-2.2.13.1.w-reserved1-receiver",
    TakesWhatIsCut: "MQMQ-2.2.3.declaration",
    ReadsSignedAsUnsigned: "MQMQ-2.2.12.vt-i4-value",
}
"""What the first failure of each is blamed on."""
