"""MS-MQMQ 2.2.7 QUEUE_FORMAT and 2.2.9 DL_ID, in NDR."""

from __future__ import annotations

from conformance.wire.structures.words import (
    Arm,
    Choice,
    Fields,
    Guid,
    Inner,
    Member,
    Number,
    Pointer,
    Structure,
    Text,
)

UNION: dict[int, Arm] = {
    0: Arm("", ""),
    1: Arm("m_g_public_id", "m_gPublicID", Guid()),
    2: Arm("m_o_private_id", "m_oPrivateID", Inner("OBJECTID")),
    3: Arm("m_p_direct_id", "m_pDirectID", Pointer(Text())),
    4: Arm("m_g_machine_id", "m_gMachineID", Guid()),
    5: Arm("m_g_connector_id", "m_GConnectorID", Guid()),
    6: Arm("m_dl_id", "m_DlID", Inner("DL_ID")),
    7: Arm("m_multicast_id", "m_MulticastID", Inner("MULTICAST_ID")),
    8: Arm("m_p_direct_subqueue_id", "m_pDirectSubqueueID", Pointer(Text())),
}
"""The members of the union by QUEUE_FORMAT_TYPE (2.2.6)."""


def _halves(fields: Fields) -> None:
    """Add the two halves of m_SuffixAndFlags: the suffix type, and the flags in place."""
    both = fields.get("QUEUE_FORMAT.m_SuffixAndFlags")
    if isinstance(both, int):
        fields["QUEUE_FORMAT.m_SuffixAndFlags.Suffix"] = both & 0x0F
        fields["QUEUE_FORMAT.m_SuffixAndFlags.Flags"] = both & 0xF0


STRUCTURES = (
    Structure(
        "DL_ID",
        "MS-MQMQ 2.2.9",
        (Member("m_dl_guid", "m_DlGuid", Guid()), Member("m_pwz_domain", "m_pwzDomain", Pointer(Text()))),
        ndr=True,
    ),
    Structure(
        "QUEUE_FORMAT",
        "MS-MQMQ 2.2.7",
        (
            Member("m_qft", "m_qft", Number(1)),
            Member("m_suffix_and_flags", "m_SuffixAndFlags", Number(1)),
            Member("m_reserved", "m_reserved", Number(2), computed="0"),
            Member("", "Union", Choice("m_qft", 1, UNION)),
        ),
        ndr=True,
        facts=_halves,
    ),
)
