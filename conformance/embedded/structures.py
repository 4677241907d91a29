"""`structures.encode` and `structures.decode`: the structures of MS-MQMQ 2.2 and MS-MQMP 2.2.3.2 by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.embedded import ndr as given
from conformance.embedded.ndr import NdrReader, NdrWriter
from conformance.embedded.structures_ndr import ELEMENT_SIZES
from conformance.embedded.transfer_buffer import TransferBuffers

Json = Any


class Structures(TransferBuffers):
    """The codec a manager has. Malformed data raises MqError(MQ_ERROR_INVALID_PARAMETER)."""

    def encode(self, structure: str, value: Json) -> str:
        """Return the bytes of a structure in base64."""
        if structure in _PLAIN:
            return given.base64_text(_PLAIN[structure][0](self, value))
        out = NdrWriter()
        if structure in ELEMENT_SIZES:
            out.construct(lambda: self.write_array(out, structure, value))
        else:
            out.construct(lambda: _NDR[structure][0](self, out, value))
        return given.base64_text(bytes(out.out))

    def decode(self, structure: str, data: str) -> Json:
        """Return the value of a structure, given in base64; bytes left over are refused too."""
        source = NdrReader(given.data(data))
        if structure in _PLAIN:
            value = _PLAIN[structure][1](self, source)
        elif structure in ELEMENT_SIZES:
            value = source.construct(lambda: self.read_array(source, structure))
        else:
            value = source.construct(lambda: _NDR[structure][1](self, source))
        source.end()
        if structure == "CACTransferBufferV1":
            self.check_transfer_buffer(value)
        return value


_Plain = tuple[Callable[[Structures, Json], bytes], Callable[[Structures, NdrReader], Json]]
_Ndr = tuple[Callable[[Structures, NdrWriter, Json], None], Callable[[Structures, NdrReader], Json]]
_PLAIN: Mapping[str, _Plain] = {
    "MQDSPUBLICKEY": (lambda to, value: to.write_public_key(value), lambda to, source: to.read_public_key(source)),
    "MQDSPUBLICKEYS": (lambda to, value: to.write_public_keys(value), lambda to, source: to.read_public_keys(source)),
    "SECURITY_INFORMATION": (
        lambda to, value: to.write_security_information(value),
        lambda to, source: to.read_security_information(source),
    ),
    "TA_ADDRESS": (lambda to, value: to.write_address(value), lambda to, source: to.read_address(source)),
    "SEQUENCE_INFO": (
        lambda to, value: to.write_sequence_info(value),
        lambda to, source: to.read_sequence_info(source),
    ),
    "OBJECTID": (lambda to, value: to.write_object_id(value), lambda to, source: to.read_object_id(source)),
    "MULTICAST_ID": (lambda to, value: to.write_multicast_id(value), lambda to, source: to.read_multicast_id(source)),
    "VARIANT_BOOL": (lambda to, value: to.write_variant_bool(value), lambda to, source: to.read_variant_bool(source)),
    "ULARGE_INTEGER": (
        lambda to, value: to.write_large_integer(value),
        lambda to, source: to.read_large_integer(source),
    ),
    "TxSequenceID": (lambda to, value: to.write_sequence_id(value), lambda to, source: to.read_sequence_id(source)),
    "MessageIdentifier": (
        lambda to, value: to.write_message_identifier(value),
        lambda to, source: to.read_message_identifier(source),
    ),
    "XACTUOW": (lambda to, value: to.write_unit_of_work(value), lambda to, source: to.read_unit_of_work(source)),
    "MQUSERSIGNCERT": (lambda to, value: to.write_certificate(value), lambda to, source: to.read_certificate(source)),
    "MQUSERSIGNCERTS": (
        lambda to, value: to.write_certificates(value),
        lambda to, source: to.read_certificates(source),
    ),
}
_NDR: Mapping[str, _Ndr] = {
    "QUEUE_FORMAT": (
        lambda to, out, value: to.write_queue_format(out, value),
        lambda to, source: to.read_queue_format(source),
    ),
    "DL_ID": (lambda to, out, value: to.write_list(out, value), lambda to, source: to.read_list(source)),
    "BLOB": (lambda to, out, value: to.write_blob(out, value), lambda to, source: to.read_blob(source)),
    "PROPVARIANT": (lambda to, out, value: to.write_variant(out, value), lambda to, source: to.read_variant(source)),
    "CACTransferBufferV1": (
        lambda to, out, value: to.write_transfer_buffer(out, value),
        lambda to, source: to.read_transfer_buffer(source),
    ),
}
STRUCTURES = frozenset({*_PLAIN, *_NDR, *ELEMENT_SIZES})
