"""CACTransferBufferV1 (MS-MQMP 2.2.3.2): its members as tables, reading it from NDR, and its value in the protocol."""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from conformance.wire.layout import Value
from conformance.wire.packet import Packet, Span, Trouble

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


@cache
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


class _Stopped(Exception):
    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.says)
        self.trouble = trouble


class _Bytes:
    """The bytes, a position in them, and the fields read so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.fields: dict[str, Value] = {}
        self.spans: dict[str, Span] = {}

    def take(self, name: str, size: int, align: int = 1) -> bytes:
        """Take `size` bytes at the next multiple of `align`, and record their place under the name."""
        start = -(-self.at // align) * align
        if start + size > len(self.data):
            says = f"{name} needs {size} bytes at {start}, the structure ends at {len(self.data)}"
            raise _Stopped(Trouble("truncated", name, min(start, len(self.data)), says))
        self.at = start + size
        self.spans[name] = (start, size)
        return self.data[start : self.at]

    def number(self, name: str, width: int, signed: bool = False) -> int:
        value = int.from_bytes(self.take(name, width, width), "little", signed=signed)
        self.fields[name] = value
        return value

    def referent(self, name: str) -> int:
        return self.number(f"{name}.Referent", 4)

    def guid(self, name: str, align: int = 4) -> None:
        self.fields[name] = str(uuid.UUID(bytes_le=self.take(name, 16, align)))

    def count(self, name: str, offset: int, used: int, room: int) -> None:
        """Reject a varying array that does not fit into its own capacity."""
        if offset + used > room:
            says = f"{name} uses {used} elements from {offset} of an array of {room}"
            raise _Stopped(Trouble("size", name, self.at, says))


def read_transfer_buffer(data: bytes) -> Packet:
    """Read the structure into fields, places and facts for each member; errors are in `trouble`.

    data: one parameter behind a reference pointer, without any header. Beside the value of a member (absent for a null
    pointer) there are `.Referent` of every pointer, `.Inner` of a pointer to a pointer, `.MaxCount`, `.Offset` and
    `.ActualCount` of arrays, `.Terminated` and `.TextLength` of WCHARs, `Union.Tag`, `Trailing` (bytes left over),
    `Pointees` (the number of pointers that are not null) and `Last`, the member whose pointee comes last.
    """
    source = _Bytes(bytes(data))
    trouble: tuple[Trouble, ...] = ()
    try:
        _read(source)
    except _Stopped as stopped:
        trouble = (stopped.trouble,)
    return Packet(STRUCTURE, source.fields, source.spans, trouble, source.data)


def _read(source: _Bytes) -> None:
    kind = source.number(key(TRANSFER_TYPE.name), 4)
    source.number(key(TAG), 4)
    arm = BY_CASE.get(kind)
    if arm is None:
        says = f"uTransferType {kind} has no arm in the union"
        raise _Stopped(Trouble("queue-type", key(TRANSFER_TYPE.name), 0, says))
    later: list[tuple[str, Callable[[], None]]] = []
    for member in arm.members:
        _flat(source, member, arm, later)
    for member in MEMBERS:
        _flat(source, member, None, later)
    for name, pointee in later:
        pointee()
        source.fields[key("Last")] = name.rpartition(".")[2]
    source.fields[key("Pointees")] = len(later)
    source.fields[key("Trailing")] = len(source.data) - source.at


def _flat(source: _Bytes, member: Member, arm: Arm | None, later: list[tuple[str, Callable[[], None]]]) -> None:
    """Read the part in the structure itself; the referents follow it, in the order of the pointers."""
    name = key(member.name, arm)
    width = NUMBERS.get(member.kind)
    if width is not None:
        source.number(name, width, member.kind is Kind.I32)
    elif source.referent(name):
        later.append((name, lambda: _pointee(source, member, name)))


def _pointee(source: _Bytes, member: Member, name: str) -> None:
    kind = member.kind
    if kind in POINTED_NUMBERS:
        source.number(name, POINTED_NUMBERS[kind])
    elif kind is Kind.P_QUEUE:
        _queue_format(source, name)
    elif kind is Kind.P_UOW:
        source.guid(name, ALIGNMENT[kind])
    elif source.number(f"{name}.Inner", 4):
        if kind in BUFFERS:
            _array(source, member, name)
        elif kind is Kind.PP_GUID:
            source.guid(name)
        else:
            _object_identifier(source, name)


def _array(source: _Bytes, member: Member, name: str) -> None:
    width = BUFFERS[member.kind]
    used = room = source.number(f"{name}.MaxCount", 4)
    if member.varying:
        offset = source.number(f"{name}.Offset", 4)
        used = source.number(f"{name}.ActualCount", 4)
        source.count(name, offset, used, room)
    raw = source.take(name, used * width, width)
    if width == 1:
        source.fields[name] = raw
        source.fields[f"{name}.SidLength"] = sid_length(raw)
        source.fields[f"{name}.CertificateLength"] = certificate_length(raw)
        return
    text = _text(raw)
    source.fields[name] = text
    source.fields[f"{name}.Terminated"] = "\0" in text
    source.fields[f"{name}.TextLength"] = len(text.partition("\0")[0])


def _object_identifier(source: _Bytes, name: str) -> None:
    source.take(name, SIZE[Kind.PP_OBJECTID], ALIGNMENT[Kind.PP_OBJECTID])
    start = source.spans[name][0]
    source.at = start
    source.guid(f"{name}.Lineage")
    source.number(f"{name}.Uniquifier", 4)
    source.fields[name] = source.data[start : source.at]


def _queue_format(source: _Bytes, name: str) -> None:
    source.take(f"{name}.Start", 0, 4)
    selector = source.number(f"{name}.m_qft", 1)
    source.number(f"{name}.m_suffix_and_flags", 1)
    source.number(f"{name}.m_reserved", 2)
    tag = source.number(f"{name}.Tag", 1)
    if tag != selector or (selector and selector not in QUEUE_ARMS):
        says = f"{name} has m_qft {selector} and the union's tag {tag}"
        raise _Stopped(Trouble("queue-type", f"{name}.m_qft", source.at, says))
    start = source.spans[f"{name}.m_qft"][0]
    if selector:
        member, shape = QUEUE_ARMS[selector]
        _queue_arm(source, f"{name}.{member}", shape)
    source.fields[name] = source.data[start : source.at]
    source.spans[name] = (start, source.at - start)


def _queue_arm(source: _Bytes, name: str, shape: str) -> None:
    if shape == "guid":
        source.guid(name)
    elif shape == "objectid":
        _object_identifier(source, name)
    elif shape == "multicast":
        source.number(f"{name}.m_address", 4)
        source.number(f"{name}.m_port", 4)
    elif shape == "dl":
        source.guid(f"{name}.m_dl_guid")
        _string(source, f"{name}.m_pwz_domain")
    else:
        _string(source, name)


def _string(source: _Bytes, name: str) -> None:
    """Read a unique pointer to a `[string]` of WCHARs; its referent follows immediately."""
    if not source.referent(name):
        return
    room = source.number(f"{name}.MaxCount", 4)
    offset = source.number(f"{name}.Offset", 4)
    used = source.number(f"{name}.ActualCount", 4)
    source.count(name, offset, used, room)
    text = _text(source.take(name, used * 2, 2))
    source.fields[f"{name}.Terminated"] = text.endswith("\0")
    source.fields[name] = text.removesuffix("\0")


def _text(raw: bytes) -> str:
    return raw.decode("utf-16-le", "surrogatepass")


def sid_length(raw: bytes) -> int:
    """Return the length of the SID (MS-DTYP 2.4.2.2) at the beginning; 0 when there is none or it is cut short."""
    if len(raw) < 8 or raw[0] != 1 or raw[1] > 15:
        return 0
    length = 8 + 4 * raw[1]
    return length if length <= len(raw) else 0


def certificate_length(raw: bytes) -> int:
    """Return the length of the X.509 certificate (RFC 5280 4.1) at the beginning, by its DER outline; 0 for none.

    The outline: a sequence of a sequence, a sequence and a bit string, and nothing else.
    """
    outer = _der(raw, 0, 0x30)
    if outer is None:
        return 0
    at, end = outer
    for tag in (0x30, 0x30, 0x03):
        inner = _der(raw[:end], at, tag)
        if inner is None:
            return 0
        at = inner[1]
    return end if at == end else 0


def _der(raw: bytes, at: int, tag: int) -> Span | None:
    """Return begin and end of the contents of a DER value; None where there is no value of this tag."""
    if at + 2 > len(raw) or raw[at] != tag:
        return None
    size, begin = raw[at + 1], at + 2
    if size > 0x80:
        more = size - 0x80
        size, begin = int.from_bytes(raw[begin : begin + more], "big"), begin + more
    elif size == 0x80:
        return None
    return (begin, begin + size) if begin + size <= len(raw) else None


Json: TypeAlias = Any


def value_of(structure: Packet) -> dict[str, Json]:
    """Return the members by their protocol names. Raises ValueError for a structure that could not be read."""
    if structure.trouble:
        raise ValueError(structure.trouble[0].says)
    kind = int(structure.fields[key(TRANSFER_TYPE.name)])
    arm = BY_CASE[kind]
    out: dict[str, Json] = {TRANSFER_TYPE.json: kind}
    out[arm.json] = {member.json: member_value(structure, member, arm) for member in arm.members}
    return out | {member.json: member_value(structure, member) for member in MEMBERS}


def member_value(structure: Packet, member: Member, arm: Arm | None = None) -> Json:
    """Return one member; None for a null pointer."""
    name = key(member.name, arm)
    value = structure.fields.get(name)
    if value is None:
        return None
    if member.kind is Kind.PP_BYTES and isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if member.kind is Kind.PP_OBJECTID:
        return _object_identifier_value(structure, name)
    if member.kind is Kind.P_UOW:
        return {"rgb": value}
    if member.kind is Kind.P_QUEUE:
        return _queue_format_value(structure, name)
    return value


def _object_identifier_value(structure: Packet, name: str) -> Json:
    return {"lineage": structure.fields[f"{name}.Lineage"], "uniquifier": structure.fields[f"{name}.Uniquifier"]}


def _queue_format_value(structure: Packet, name: str) -> Json:
    fields = structure.fields
    selector = int(fields[f"{name}.m_qft"])
    out: dict[str, Json] = {word: fields[f"{name}.{word}"] for word in ("m_qft", "m_suffix_and_flags", "m_reserved")}
    if selector:
        member, shape = QUEUE_ARMS[selector]
        inner = f"{name}.{member}"
        if shape == "objectid":
            out[member] = _object_identifier_value(structure, inner)
        elif shape in ("dl", "multicast"):
            words = ("m_dl_guid", "m_pwz_domain") if shape == "dl" else ("m_address", "m_port")
            out[member] = {word: fields.get(f"{inner}.{word}") for word in words}
        else:
            out[member] = fields.get(inner)
    return out
