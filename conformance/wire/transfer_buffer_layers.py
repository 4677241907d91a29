"""CACTransferBufferV1 (MS-MQMP 2.2.3.2) as scapy NDR layers, made from the tables of `transfer_buffer`.

`TransferBufferV1(data)` dissects, `show()` names values; `layer_of` makes a layer from a value of the adapter protocol
and `write_transfer_buffer` its bytes. Sizes are those of the buffers unless they are given.
"""

from __future__ import annotations

import base64
import json
import struct
import uuid
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import count
from typing import Any, ClassVar

from scapy.fields import StrFixedLenField, UUIDField, XLEIntField
from scapy.layers.dcerpc import (
    NDRByteField,
    NDRConformantArray,
    NDRConformantString,
    NDRConfStrLenField,
    NDRConfStrLenFieldUtf16,
    NDRConfVarStrLenField,
    NDRConfVarStrLenFieldUtf16,
    NDRConfVarStrNullFieldUtf16,
    NDRFullEmbPointerField,
    NDRFullPointerField,
    NDRIntField,
    NDRPacket,
    NDRPacketField,
    NDRPointer,
    NDRShortField,
    NDRSignedIntField,
    NDRUnion,
    NDRUnionField,
    NDRVaryingArray,
)

from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire.transfer_buffer import (
    ARMS,
    BUFFERS,
    BY_CASE,
    MEMBERS,
    QUEUE_ARMS,
    STRUCTURE,
    TRANSFER_TYPE,
    Arm,
    Kind,
    Member,
    sizes_of,
)

FIRST_REFERENT = 0x00020000


def member_text(value: Any, name: str = "", wide: bool = False) -> str:
    """Format a value for `show()`: pointers and arrays opened, numbers with their names, WCHARs as text."""
    while isinstance(value, NDRPointer | NDRConformantString | NDRConformantArray | NDRVaryingArray | list):
        if isinstance(value, list):
            if len(value) != 1:
                break
            value = value[0]
        else:
            value = value.value
    if isinstance(value, int):
        names = ENUMERATIONS[name].members if name in ENUMERATIONS else {}
        found = "|".join(word for word, number in names.items() if number == value)
        return f"{value:#x} ({found})" if found else f"{value:#x}" if value > 9 else str(value)
    if wide and isinstance(value, bytes):
        value = value.decode("utf-16-le", "replace")
    return repr(value) if value is not None else "NULL"


class ShownPointer(NDRFullEmbPointerField):  # type: ignore[misc]
    """A unique pointer that shows its referent."""

    def i2repr(self, pkt: Any, val: Any) -> str:
        return member_text(val, self.fld.name)


class ShownNumber(NDRIntField):  # type: ignore[misc]
    """A number that shows the name of its value."""

    def i2repr(self, pkt: Any, val: Any) -> str:
        return member_text(val, self.name)


class Ndr20(NDRPacket):  # type: ignore[misc]
    """A structure in NDR 2.0; scapy's default is NDR64."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("ndr64", False)
        super().__init__(*args, **kwargs)

    def post_dissect(self, s: bytes) -> bytes:
        self.raw_packet_cache = None  # it would hold the structure without the referents of its pointers
        return s


class ArmField(NDRPacketField):  # type: ignore[misc]
    """A structure as an arm of a union; the referents of its pointers follow the structure around the union."""

    def addfield(self, pkt: Any, s: bytes, x: Any) -> bytes:
        x.add_parent(pkt)
        written: bytes = super().addfield(pkt, s, x)
        return written


class PlacedGuid(Ndr20):
    """A GUID (MS-DTYP 2.3.4.2) aligned to 4 bytes."""

    ALIGNMENT = (4, 4)
    fields_desc: ClassVar[list[Any]] = [UUIDField("guid", None, uuid_fmt=UUIDField.FORMAT_LE)]


class Uow(Ndr20):
    """XACTUOW (MS-MQMQ 2.2.18.1.8): sixteen unaligned bytes."""

    ALIGNMENT = (1, 1)
    fields_desc: ClassVar[list[Any]] = [UUIDField("rgb", None, uuid_fmt=UUIDField.FORMAT_LE)]


class ObjectIdentifier(Ndr20):
    """OBJECTID (MS-MQMQ 2.2.8)."""

    ALIGNMENT = (4, 4)
    fields_desc: ClassVar[list[Any]] = [
        UUIDField("Lineage", None, uuid_fmt=UUIDField.FORMAT_LE),
        NDRIntField("Uniquifier", 0),
    ]


class MulticastIdentifier(Ndr20):
    """MULTICAST_ID (MS-MQMQ 2.2.10)."""

    ALIGNMENT = (4, 4)
    fields_desc: ClassVar[list[Any]] = [NDRIntField("m_address", 0), NDRIntField("m_port", 0)]


class DistributionListIdentifier(Ndr20):
    """DL_ID (MS-MQMQ 2.2.9)."""

    ALIGNMENT = (4, 8)
    fields_desc: ClassVar[list[Any]] = [
        UUIDField("m_DlGuid", None, uuid_fmt=UUIDField.FORMAT_LE),
        ShownPointer(NDRConfVarStrNullFieldUtf16("m_pwzDomain", "")),
    ]


_QUEUE_PACKETS = {
    "guid": PlacedGuid,
    "objectid": ObjectIdentifier,
    "dl": DistributionListIdentifier,
    "multicast": MulticastIdentifier,
}


def _selected(by: str, value: int) -> tuple[Any, Any]:
    """Return the two conditions for an arm: by the selecting member when it is built, by the tag when it is read."""
    return (lambda pkt: getattr(pkt, by, None) == value, lambda _, val: val.tag == value)


def _queue_arms() -> list[tuple[Any, Any]]:
    out = []
    for selector, (_, shape) in QUEUE_ARMS.items():
        if shape == "text":
            field: Any = ShownPointer(NDRConfVarStrNullFieldUtf16("Union", ""))
        else:
            field = ArmField("Union", None, _QUEUE_PACKETS[shape])
        out.append((field, _selected("m_qft", selector)))
    return out


class QueueFormat(Ndr20):
    """QUEUE_FORMAT (MS-MQMQ 2.2.7)."""

    ALIGNMENT = (4, 8)
    fields_desc: ClassVar[list[Any]] = [
        NDRByteField("m_qft", 0),
        NDRByteField("m_SuffixAndFlags", 0),
        NDRShortField("m_reserved", 0),
        NDRUnionField(_queue_arms(), StrFixedLenField("Union", b"", length=0), align=(1, 1), switch_fmt=("B", "B")),
    ]


_IN_PLACE = {Kind.U8: NDRByteField, Kind.U16: NDRShortField, Kind.U32: ShownNumber, Kind.I32: NDRSignedIntField}
_POINTED = {Kind.P_U8: NDRByteField, Kind.P_U16: NDRShortField, Kind.P_U32: NDRIntField}
_PACKETS = {Kind.P_UOW: Uow, Kind.P_QUEUE: QueueFormat, Kind.PP_GUID: PlacedGuid, Kind.PP_OBJECTID: ObjectIdentifier}
_ARRAYS = {
    (Kind.PP_BYTES, False): NDRConfStrLenField,
    (Kind.PP_BYTES, True): NDRConfVarStrLenField,
    (Kind.PP_WCHARS, False): NDRConfStrLenFieldUtf16,
    (Kind.PP_WCHARS, True): NDRConfVarStrLenFieldUtf16,
}


def _field(member: Member) -> Any:
    kind = member.kind
    if kind in _IN_PLACE:
        return _IN_PLACE[kind](member.name, 0)
    if kind in _POINTED:
        return ShownPointer(_POINTED[kind](member.name, 0))
    if kind in _PACKETS:
        inner = NDRPacketField(member.name, None, _PACKETS[kind])
        return ShownPointer(inner if kind in (Kind.P_UOW, Kind.P_QUEUE) else NDRFullPointerField(inner))
    array = _ARRAYS[kind, member.varying]
    size = (lambda pkt: getattr(pkt, member.size)) if member.size else (lambda pkt: member.fixed)
    return ShownPointer(NDRFullPointerField(array(member.name, b"", size_is=size)))


def _arm_class(arm: Arm) -> type[Any]:
    desc = [_field(member) for member in arm.members]
    return type(f"TransferBuffer{arm.name}", (Ndr20,), {"ALIGNMENT": (4, 8), "fields_desc": desc})


ARM_CLASSES: dict[int, type[Any]] = {arm.case: _arm_class(arm) for arm in ARMS}


def _union() -> Any:
    arms = [(ArmField("Union", None, ARM_CLASSES[arm.case]), _selected(TRANSFER_TYPE.name, arm.case)) for arm in ARMS]
    union = NDRUnionField(arms, XLEIntField("Union", 0), align=(4, 8), switch_fmt=("I", "I"))
    # The union is not the outermost construction: the referents of its pointers follow the whole structure.
    union.handles_deferred = False
    return union


class TransferBufferV1(Ndr20):
    """CACTransferBufferV1 (MS-MQMP 2.2.3.2) as one parameter behind a reference pointer."""

    ALIGNMENT = (4, 8)
    fields_desc: ClassVar[list[Any]] = [
        ShownNumber(TRANSFER_TYPE.name, 0),
        _union(),
        *(_field(member) for member in MEMBERS),
    ]

    def do_dissect(self, s: bytes) -> bytes:
        try:
            left: bytes = super().do_dissect(s)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error):
            # Bytes that cannot be dissected stay payload, as in any other scapy layer.
            self.fields.clear()
            self.deferred_pointers.clear()
            return s
        return left

    def mysummary(self) -> str:
        arm = BY_CASE.get(self.uTransferType)
        return f"{STRUCTURE} {arm.name if arm else self.uTransferType}"

    def show(self, dump: bool = False, indent: int = 3, lvl: str = "", label_lvl: str = "") -> str | None:
        """Print a line per member, pointers opened; with `dump` return the lines instead."""
        lines = [f"{label_lvl}###[ {STRUCTURE} ]###", f"{label_lvl}{lvl}  uTransferType = {self.uTransferType}"]
        inside = self.Union.value if isinstance(self.Union, NDRUnion) else None
        arm = next((arm for arm in ARMS if isinstance(inside, ARM_CLASSES[arm.case])), None)
        for member in arm.members if arm else ():
            text = _shown_member(inside, member)
            lines.append(f"{label_lvl}{lvl}  {arm.name if arm else ''}.{member.name} = {text}")
        lines += [f"{label_lvl}{lvl}  {member.name} = {_shown_member(self, member)}" for member in MEMBERS]
        if self.payload:
            lines.append(f"{label_lvl}{lvl}  left over = {len(self.payload)} bytes")
        if dump:
            return "\n".join(lines) + "\n"
        print("\n".join(lines))
        return None


def _shown_member(packet: Any, member: Member) -> str:
    value = packet.getfieldval(member.name)
    # Scapy decodes a varying array; an array that is only conformant stays bytes.
    if member.kind is Kind.PP_WCHARS and member.varying and value is not None:
        value = packet.valueof(member.name)
        value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return member_text(value, member.name, member.kind is Kind.PP_WCHARS)


def write_transfer_buffer(value: Mapping[str, Any]) -> bytes:
    """Encode a value of the adapter protocol. Raises ValueError for an invalid value."""
    return _written(json.dumps(value, sort_keys=True, default=repr))


@lru_cache(maxsize=512)
def _written(text: str) -> bytes:
    # Cached by its text: scapy is slow, and a suite requests the same values repeatedly.
    try:
        return bytes(layer_of(json.loads(text)))
    except (AttributeError, KeyError, TypeError, ValueError, struct.error) as wrong:
        raise ValueError(f"Invalid value of {STRUCTURE}: {str(wrong).partition(chr(10))[0]}") from None


def layer_of(value: Mapping[str, Any]) -> Any:
    """Make the layer of a value of the adapter protocol; members left out are null, 0 or computed."""
    kind = int(value[TRANSFER_TYPE.json])
    arm = BY_CASE.get(kind)
    if arm is None:
        raise ValueError(f"uTransferType {kind} has no arm in the union")
    referents = count(FIRST_REFERENT, 4)
    inside = dict(_values(arm.members, value.get(arm.json) or {}, referents))
    union = NDRUnion(tag=kind, value=ARM_CLASSES[kind](**inside))
    return TransferBufferV1(uTransferType=kind, Union=union, **dict(_values(MEMBERS, value, referents)))


def _values(members: tuple[Member, ...], value: Mapping[str, Any], referents: Iterator[int]) -> Iterator[Any]:
    sizes = sizes_of(members)
    by_name = {member.name: member for member in members}
    for member in members:
        given = value.get(member.json)
        if not member.pointer:
            if given is None and member.name in sizes:
                given = elements(sizes[member.name][0], value)
            yield member.name, given or 0
        elif given is None:
            yield member.name, None
        else:
            yield member.name, _pointer(member, given, value, by_name, referents)


def _pointer(
    member: Member, given: Any, value: Mapping[str, Any], by_name: Mapping[str, Member], referents: Iterator[int]
) -> Any:
    kind, outer = member.kind, next(referents)
    if kind in _POINTED:
        return NDRPointer(referent_id=outer, value=given)
    if kind is Kind.P_UOW:
        return NDRPointer(referent_id=outer, value=Uow(rgb=uuid.UUID(given["rgb"])))
    if kind is Kind.P_QUEUE:
        return NDRPointer(referent_id=outer, value=_queue_format(given, referents))
    inner = next(referents)
    if kind is Kind.PP_GUID:
        target: Any = PlacedGuid(guid=uuid.UUID(given))
    elif kind is Kind.PP_OBJECTID:
        target = _object_identifier(given)
    else:
        target = _array(member, given, value, by_name)
    return NDRPointer(referent_id=outer, value=NDRPointer(referent_id=inner, value=target))


def elements(member: Member, value: Mapping[str, Any]) -> int:
    """Return the number of elements of a value's buffer."""
    given = value.get(member.json)
    return 0 if given is None else len(_raw(member, given)) // BUFFERS[member.kind]


def _raw(member: Member, given: str) -> bytes:
    if member.kind is Kind.PP_BYTES:
        return base64.b64decode(given, validate=True)
    return given.encode("utf-16-le", "surrogatepass")


def _array(member: Member, given: str, value: Mapping[str, Any], by_name: Mapping[str, Member]) -> Any:
    raw, width = _raw(member, given), BUFFERS[member.kind]
    used = len(raw) // width
    given_size = value.get(by_name[member.size].json) if member.size else None
    room = used if given_size is None else given_size
    if not member.varying:
        return NDRConformantString(max_count=room, value=raw.ljust(room * width, b"\0"))
    given_size = value.get(by_name[member.length].json) if member.length else None
    inside: Any = raw if width == 1 else raw.decode("utf-16-le", "replace")
    varying = NDRVaryingArray(offset=0, actual_count=used if given_size is None else given_size, value=inside)
    return NDRConformantArray(max_count=room, value=[varying])


def _object_identifier(given: Mapping[str, Any]) -> Any:
    return ObjectIdentifier(Lineage=uuid.UUID(given["lineage"]), Uniquifier=given["uniquifier"])


def _text(text: str | None, referents: Iterator[int]) -> Any:
    if text is None:
        return None
    length = len(text.encode("utf-16-le", "surrogatepass")) // 2 + 1
    varying = NDRVaryingArray(offset=0, actual_count=length, value=text)
    return NDRPointer(referent_id=next(referents), value=NDRConformantArray(max_count=length, value=[varying]))


def _queue_format(given: Mapping[str, Any], referents: Iterator[int]) -> Any:
    selector = given["m_qft"]
    arm: Any = None
    if selector in QUEUE_ARMS:
        name, shape = QUEUE_ARMS[selector]
        inside = given.get(name)
        if shape == "guid":
            arm = PlacedGuid(guid=uuid.UUID(inside))
        elif shape == "objectid":
            arm = _object_identifier(given[name])
        elif shape == "multicast":
            arm = MulticastIdentifier(**given[name])
        elif shape == "dl":
            domain = _text(given[name]["m_pwz_domain"], referents)
            arm = DistributionListIdentifier(m_DlGuid=uuid.UUID(given[name]["m_dl_guid"]), m_pwzDomain=domain)
        else:
            arm = _text(inside, referents)
    union = NDRUnion(tag=selector, value=b"" if selector not in QUEUE_ARMS else arm)
    return QueueFormat(
        m_qft=selector,
        m_SuffixAndFlags=given.get("m_suffix_and_flags", 0),
        m_reserved=given.get("m_reserved", 0),
        Union=union,
    )
