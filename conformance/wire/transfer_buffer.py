"""CACTransferBufferV1 (MS-MQMP 2.2.3.2): its members in the order of the interface declaration.

Data only. `transfer_buffer_read` reads bytes by these tables; `transfer_buffer_layers` makes scapy NDR classes of them,
which write the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

STRUCTURE = "CACTransferBufferV1"


class Kind(Enum):
    """The type of a member: a number in place, or a pointer and its referent."""

    U8 = "unsigned char"
    U16 = "unsigned short"
    U32 = "DWORD"
    I32 = "long"
    P_U8 = "unsigned char*"
    P_U16 = "unsigned short*"
    P_U32 = "DWORD*"
    P_UOW = "XACTUOW*"
    P_QUEUE = "QUEUE_FORMAT*"
    PP_GUID = "GUID**"
    PP_OBJECTID = "OBJECTID**"
    PP_BYTES = "unsigned char**"
    PP_WCHARS = "WCHAR**"


NUMBERS = {Kind.U8: 1, Kind.U16: 2, Kind.U32: 4, Kind.I32: 4}
POINTED_NUMBERS = {Kind.P_U8: 1, Kind.P_U16: 2, Kind.P_U32: 4}
DOUBLE = (Kind.PP_GUID, Kind.PP_OBJECTID, Kind.PP_BYTES, Kind.PP_WCHARS)
BUFFERS = {Kind.PP_BYTES: 1, Kind.PP_WCHARS: 2}  # bytes of one element


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the structure or of an arm, as it is declared.

    name: as declared. size, length: members that hold the conformance and the variance of its array. fixed: the size
    where the declaration has a number for both. top: the largest value that its range attribute allows.
    """

    name: str
    kind: Kind
    size: str = ""
    length: str = ""
    fixed: int = 0
    top: int | None = None

    @property
    def json(self) -> str:
        """The member's name in the adapter protocol."""
        return json_name(self.name)

    @property
    def pointer(self) -> bool:
        """True when the member is a pointer."""
        return self.kind not in NUMBERS

    @property
    def varying(self) -> bool:
        """True when the array has a variance, the part of it that is sent."""
        return bool(self.length or self.fixed)


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm of the union: the value of uTransferType that selects it, its name and members."""

    case: int
    name: str
    members: tuple[Member, ...]

    @property
    def json(self) -> str:
        """The arm's name in the adapter protocol."""
        return json_name(self.name)


def json_name(name: str) -> str:
    """Convert `ppMessageID` to `pp_message_id`: lower case, an underscore between words; `WCHARs` is one word."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"(?<=[A-Z])(?=[A-Z][a-z](?!$))", "_", name).lower()


def _format_name(word: str) -> tuple[Member, ...]:
    size = f"ul{word}FormatNameLen"
    return (
        Member(size, Kind.U32, top=1024),
        Member(f"pp{word}FormatName", Kind.PP_WCHARS, size),
        Member(f"pul{word}FormatNameLenProp", Kind.P_U32),
    )


SEND = Arm(0, "Send", (Member("pAdminQueueFormat", Kind.P_QUEUE), Member("pResponseQueueFormat", Kind.P_QUEUE)))
RECEIVE = Arm(
    1,
    "Receive",
    (
        *(Member(name, Kind.U32) for name in ("RequestTimeout", "Action", "Asynchronous", "Cursor")),
        *(member for word in ("Response", "Admin", "Dest", "Ordering") for member in _format_name(word)),
    ),
)
CREATE_CURSOR = Arm(
    2, "CreateCursor", tuple(Member(name, Kind.U32) for name in ("hCursor", "srv_hACQueue", "cli_pQMQueue"))
)
ARMS: tuple[Arm, ...] = (SEND, RECEIVE, CREATE_CURSOR)
BY_CASE: dict[int, Arm] = {arm.case: arm for arm in ARMS}
TRANSFER_TYPE = Member("uTransferType", Kind.U32, top=2)
TAG = "Union.Tag"  # NDR repeats the discriminant of a non-encapsulated union before the arm

# The members behind the union.
MEMBERS: tuple[Member, ...] = (
    Member("pClass", Kind.P_U16),
    Member("ppMessageID", Kind.PP_OBJECTID),
    Member("ppCorrelationID", Kind.PP_BYTES, fixed=20),
    Member("pSentTime", Kind.P_U32),
    Member("pArrivedTime", Kind.P_U32),
    Member("pPriority", Kind.P_U8),
    Member("pDelivery", Kind.P_U8),
    Member("pAcknowledge", Kind.P_U8),
    Member("pAuditing", Kind.P_U8),
    Member("pApplicationTag", Kind.P_U32),
    Member("ppBody", Kind.PP_BYTES, "ulAllocBodyBufferInBytes", "ulBodyBufferSizeInBytes"),
    Member("ulBodyBufferSizeInBytes", Kind.U32),
    Member("ulAllocBodyBufferInBytes", Kind.U32),
    Member("pBodySize", Kind.P_U32),
    Member("ppTitle", Kind.PP_WCHARS, "ulTitleBufferSizeInWCHARs", "ulTitleBufferSizeInWCHARs"),
    Member("ulTitleBufferSizeInWCHARs", Kind.U32),
    Member("pulTitleBufferSizeInWCHARs", Kind.P_U32),
    Member("ulAbsoluteTimeToQueue", Kind.U32),
    Member("pulRelativeTimeToQueue", Kind.P_U32),
    Member("ulRelativeTimeToLive", Kind.U32),
    Member("pulRelativeTimeToLive", Kind.P_U32),
    Member("pTrace", Kind.P_U8),
    Member("pulSenderIDType", Kind.P_U32),
    Member("ppSenderID", Kind.PP_BYTES, "uSenderIDLen"),
    Member("pulSenderIDLenProp", Kind.P_U32),
    Member("pulPrivLevel", Kind.P_U32),
    Member("ulAuthLevel", Kind.U32),
    Member("pAuthenticated", Kind.P_U8),
    Member("pulHashAlg", Kind.P_U32),
    Member("pulEncryptAlg", Kind.P_U32),
    Member("ppSenderCert", Kind.PP_BYTES, "ulSenderCertLen"),
    Member("ulSenderCertLen", Kind.U32),
    Member("pulSenderCertLenProp", Kind.P_U32),
    Member("ppwcsProvName", Kind.PP_WCHARS, "ulProvNameLen"),
    Member("ulProvNameLen", Kind.U32),
    Member("pulAuthProvNameLenProp", Kind.P_U32),
    Member("pulProvType", Kind.P_U32),
    Member("fDefaultProvider", Kind.I32),
    Member("ppSymmKeys", Kind.PP_BYTES, "ulSymmKeysSize"),
    Member("ulSymmKeysSize", Kind.U32),
    Member("pulSymmKeysSizeProp", Kind.P_U32),
    Member("bEncrypted", Kind.U8),
    Member("bAuthenticated", Kind.U8),
    Member("uSenderIDLen", Kind.U16),
    Member("ppSignature", Kind.PP_BYTES, "ulSignatureSize"),
    Member("ulSignatureSize", Kind.U32),
    Member("pulSignatureSizeProp", Kind.P_U32),
    Member("ppSrcQMID", Kind.PP_GUID),
    Member("pUow", Kind.P_UOW),
    Member("ppMsgExtension", Kind.PP_BYTES, "ulMsgExtensionBufferInBytes", "ulMsgExtensionBufferInBytes"),
    Member("ulMsgExtensionBufferInBytes", Kind.U32),
    Member("pMsgExtensionSize", Kind.P_U32),
    Member("ppConnectorType", Kind.PP_GUID),
    Member("pulBodyType", Kind.P_U32),
    Member("pulVersion", Kind.P_U32),
)


class Placed(NamedTuple):
    """A member with its arm; None for a member of the structure itself."""

    arm: Arm | None
    member: Member

    @property
    def key(self) -> str:
        """The full key of its value, `CACTransferBufferV1.Receive.Action`."""
        return key(self.member.name, self.arm)


def key(name: str, arm: Arm | None = None) -> str:
    """Return the full key of a member."""
    return f"{STRUCTURE}.{arm.name}.{name}" if arm else f"{STRUCTURE}.{name}"


def all_members() -> Iterator[Placed]:
    """Yield each member of the arms and of the structure, in the declared order; uTransferType is the first."""
    yield Placed(None, TRANSFER_TYPE)
    for arm in ARMS:
        for member in arm.members:
            yield Placed(arm, member)
    for member in MEMBERS:
        yield Placed(None, member)


def sizes_of(members: tuple[Member, ...]) -> dict[str, tuple[Member, bool]]:
    """Map size members to the member of their array, and True for its capacity, False for the part in use."""
    out: dict[str, tuple[Member, bool]] = {}
    for member in members:
        if member.length:
            out[member.length] = (member, False)
        if member.size:
            out[member.size] = (member, True)
    return out


# Alignment and size, in bytes, of structures that pointers refer to.
ALIGNMENT = {Kind.P_UOW: 1, Kind.PP_GUID: 4, Kind.PP_OBJECTID: 4}
SIZE = {Kind.P_UOW: 16, Kind.PP_GUID: 16, Kind.PP_OBJECTID: 20}

# QUEUE_FORMAT (MS-MQMQ 2.2.7): by m_qft the arm of its union, and the type of the arm.
QUEUE_ARMS: dict[int, tuple[str, str]] = {
    1: ("m_g_public_id", "guid"),
    2: ("m_o_private_id", "objectid"),
    3: ("m_p_direct_id", "text"),
    4: ("m_g_machine_id", "guid"),
    5: ("m_g_connector_id", "guid"),
    6: ("m_dl_id", "dl"),
    7: ("m_multicast_id", "multicast"),
    8: ("m_p_direct_subqueue_id", "text"),
}
