"""Structures that are the bytes of their packet diagram (MS-MQMQ 2.2.1 to 2.2.22), little-endian.

Each has a method `write_...` that returns its bytes and a method `read_...` that takes them from a reader. Reserved
members and the contents of keys and certificates are not checked; values from tables and counts are.
"""

from __future__ import annotations

import hashlib
import struct
import uuid
from typing import Any

from conformance.embedded import ndr as given
from conformance.embedded.ndr import NdrReader, refuse, terminated, wide

Json = Any
# MS-MQMQ 2.2.4: the types of transport addresses and their lengths. IP, IP over RAS, IPX, foreign.
ADDRESS_LENGTHS = {1: 4, 2: 4, 3: 10, 5: 16}
PROVIDER_TYPES = (0x01, 0x18)  # PROV_RSA_FULL and PROV_RSA_AES (2.2.1)
SECURITY_FLAGS = 0x0F
KEY_FIXED = 12
KEYS_FIXED = 8
CERTIFICATE_FIXED = 36
VARIANT_TRUE = 0xFFFF


class PlainStructures:
    """The codec of plain structures."""

    # Parts of several structures.

    def guid_bytes(self, value: Json) -> bytes:
        """A GUID (MS-DTYP 2.3.4)."""
        return given.guid(value).bytes_le

    def guid_text(self, raw: bytes) -> str:
        """The inverse of `guid_bytes`."""
        return str(uuid.UUID(bytes_le=raw))

    # MQDSPUBLICKEY (2.2.1) and MQDSPUBLICKEYS (2.2.2)

    def write_public_key(self, value: Json) -> bytes:
        names = ("ul_provider_type", "s_provider_name", "a_buf")
        given.members(value, ("ul_key_len", "ul_provider_len", *names), names)
        kind = given.one_of(value["ul_provider_type"], PROVIDER_TYPES)
        name, key = wide(given.text(value["s_provider_name"])) + b"\0\0", given.data(value["a_buf"])
        return struct.pack("<III", len(key), self.provider_length(name), kind) + name + key

    def provider_length(self, name: bytes) -> int:
        """ulProviderLen of a null-terminated name."""
        return len(name)

    def read_public_key(self, source: NdrReader) -> Json:
        key_length, name_length, kind = struct.unpack("<III", source.raw(KEY_FIXED))
        given.one_of(kind, PROVIDER_TYPES)
        name = terminated(source.raw(name_length))
        return {
            "ul_key_len": key_length,
            "ul_provider_len": name_length,
            "ul_provider_type": kind,
            "s_provider_name": name,
            "a_buf": given.base64_text(source.raw(key_length)),
        }

    def write_public_keys(self, value: Json) -> bytes:
        given.members(value, ("ul_len", "c_numof_keys", "a_public_keys"), ("a_public_keys",))
        keys = [self.write_public_key(key) for key in given.array(value["a_public_keys"])]
        return struct.pack("<II", self.keys_length(sum(map(len, keys))), len(keys)) + b"".join(keys)

    def keys_length(self, keys: int) -> int:
        """ulLen for keys of so many bytes: the size of the whole structure."""
        return KEYS_FIXED + keys

    def read_public_keys(self, source: NdrReader) -> Json:
        start = source.at
        length, count = struct.unpack("<II", source.raw(KEYS_FIXED))
        source.room(count, KEY_FIXED)
        keys = [self.read_public_key(source) for _ in range(count)]
        if source.at - start != length:
            raise refuse()
        return {"ul_len": length, "c_numof_keys": count, "a_public_keys": keys}

    # SECURITY_INFORMATION (2.2.3)

    def write_security_information(self, value: Json) -> bytes:
        return struct.pack("<I", self.security_flags(given.number(value)))

    def read_security_information(self, source: NdrReader) -> Json:
        return self.security_flags(source.number(4))

    def security_flags(self, flags: int) -> int:
        """Return the flags; refuse any that the table does not have."""
        if flags & ~SECURITY_FLAGS:
            raise refuse()
        return flags

    # TA_ADDRESS (2.2.4)

    def write_address(self, value: Json) -> bytes:
        names = ("address_type", "address")
        given.members(value, ("address_length", *names), names)
        kind, address = given.number(value["address_type"], given.U16), given.data(value["address"])
        self.check_address(kind, len(address))
        return struct.pack("<HH", self.address_length(address), kind) + address

    def address_length(self, address: bytes) -> int:
        """AddressLength of an address."""
        return len(address)

    def read_address(self, source: NdrReader) -> Json:
        length, kind = struct.unpack("<HH", source.raw(4))
        self.check_address(kind, length)
        return {"address_length": length, "address_type": kind, "address": given.base64_text(source.raw(length))}

    def check_address(self, kind: int, length: int) -> None:
        """Refuse an unknown type, and a length that the type does not have."""
        if ADDRESS_LENGTHS.get(kind) != length:
            raise refuse()

    # SEQUENCE_INFO (2.2.5.1)

    def write_sequence_info(self, value: Json) -> bytes:
        names = ("seq_id", "seq_no", "prev_no")
        given.members(value, names, names)
        identifier = given.decimal(value["seq_id"], -(1 << 63), (1 << 63) - 1)
        return struct.pack("<qII", identifier, given.number(value["seq_no"]), given.number(value["prev_no"]))

    def read_sequence_info(self, source: NdrReader) -> Json:
        identifier, number, previous = struct.unpack("<qII", source.raw(16))
        return {"seq_id": str(identifier), "seq_no": number, "prev_no": previous}

    # OBJECTID (2.2.8) and MULTICAST_ID (2.2.10), the same in NDR except for their alignment

    def write_object_id(self, value: Json) -> bytes:
        given.members(value, ("lineage", "uniquifier"), ("lineage", "uniquifier"))
        return self.guid_bytes(value["lineage"]) + struct.pack("<I", given.number(value["uniquifier"]))

    def read_object_id(self, source: NdrReader) -> Json:
        lineage, uniquifier = struct.unpack("<16sI", source.raw(20))
        return {"lineage": self.guid_text(lineage), "uniquifier": uniquifier}

    def write_multicast_id(self, value: Json) -> bytes:
        given.members(value, ("m_address", "m_port"), ("m_address", "m_port"))
        return struct.pack("<II", given.number(value["m_address"]), given.number(value["m_port"]))

    def read_multicast_id(self, source: NdrReader) -> Json:
        address, port = struct.unpack("<II", source.raw(8))
        return {"m_address": address, "m_port": port}

    # VARIANT_BOOL (2.2.14), ULARGE_INTEGER (2.2.17)

    def write_variant_bool(self, value: Json) -> bytes:
        return struct.pack("<H", self.truth(given.flag(value)))

    def truth(self, value: bool) -> int:
        """Return the number of a truth value."""
        return VARIANT_TRUE if value else 0

    def read_variant_bool(self, source: NdrReader) -> Json:
        return given.one_of(source.number(2), (0, VARIANT_TRUE)) == VARIANT_TRUE

    def write_large_integer(self, value: Json) -> bytes:
        given.members(value, ("quad_part",), ("quad_part",))
        return struct.pack("<Q", given.decimal(value["quad_part"], 0, given.U64))

    def read_large_integer(self, source: NdrReader) -> Json:
        return {"quad_part": str(source.number(8))}

    # TxSequenceID (2.2.18.1.2), MessageIdentifier (2.2.18.1.3), XACTUOW (2.2.18.1.8)

    def write_sequence_id(self, value: Json) -> bytes:
        given.members(value, ("ordinal", "time_stamp"), ("ordinal", "time_stamp"))
        return struct.pack("<II", given.number(value["ordinal"]), given.number(value["time_stamp"]))

    def read_sequence_id(self, source: NdrReader) -> Json:
        ordinal, time_stamp = struct.unpack("<II", source.raw(8))
        return {"ordinal": ordinal, "time_stamp": time_stamp}

    def write_message_identifier(self, value: Json) -> bytes:
        given.members(value, ("queue_manager_guid", "ordinal"), ("queue_manager_guid", "ordinal"))
        return self.guid_bytes(value["queue_manager_guid"]) + struct.pack("<I", given.number(value["ordinal"]))

    def read_message_identifier(self, source: NdrReader) -> Json:
        guid, ordinal = struct.unpack("<16sI", source.raw(20))
        return {"queue_manager_guid": self.guid_text(guid), "ordinal": ordinal}

    def write_unit_of_work(self, value: Json) -> bytes:
        given.members(value, ("rgb",), ("rgb",))
        return self.guid_bytes(value["rgb"])

    def read_unit_of_work(self, source: NdrReader) -> Json:
        return {"rgb": self.guid_text(source.raw(16))}

    # MQUSERSIGNCERTS (2.2.21) and MQUSERSIGNCERT (2.2.22)

    def write_certificate(self, value: Json) -> bytes:
        names = ("identifier", "certificate")
        given.members(value, ("digest", "certificate_length", *names), names)
        certificate = given.data(value["certificate"])
        fixed = self.certificate_digest(certificate) + self.guid_bytes(value["identifier"])
        return fixed + struct.pack("<I", len(certificate)) + certificate

    def certificate_digest(self, certificate: bytes) -> bytes:
        """Digest: the MD5 hash of the certificate."""
        return hashlib.md5(certificate, usedforsecurity=False).digest()

    def read_certificate(self, source: NdrReader) -> Json:
        digest, identifier, length = struct.unpack("<16s16sI", source.raw(CERTIFICATE_FIXED))
        return {
            "digest": given.base64_text(digest),
            "identifier": self.guid_text(identifier),
            "certificate_length": length,
            "certificate": given.base64_text(source.raw(length)),
        }

    def write_certificates(self, value: Json) -> bytes:
        given.members(value, ("certificate_count", "certificates"), ("certificates",))
        certificates = [self.write_certificate(certificate) for certificate in given.array(value["certificates"])]
        return struct.pack("<I", len(certificates)) + b"".join(certificates)

    def read_certificates(self, source: NdrReader) -> Json:
        count = source.number(4)
        source.room(count, CERTIFICATE_FIXED)
        return {"certificate_count": count, "certificates": [self.read_certificate(source) for _ in range(count)]}
