"""MS-MQMQ 2.2.4 TA_ADDRESS."""

from __future__ import annotations

from conformance.wire.structures.words import Member, Number, Octets, Structure

IP, IP_RAS, IPX, FOREIGN = 1, 2, 3, 5
SIZES = {IP: 4, IP_RAS: 4, IPX: 10, FOREIGN: 16}
"""The bytes of Address by AddressType."""

STRUCTURES = (
    Structure(
        "TA_ADDRESS",
        "MS-MQMQ 2.2.4",
        (
            Member("address_length", "AddressLength", Number(2), computed="address"),
            Member("address_type", "AddressType", Number(2)),
            Member("address", "Address", Octets(by="address_length")),
        ),
    ),
)
