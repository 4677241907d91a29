"""Scapy packets of the structures in NDR, made from the same tables with scapy's own NDR machinery.

`parameter("QUEUE_FORMAT")(data)` reads one as a parameter of a call. scapy implements alignment, the deferral of
referents and the counts itself, which makes it a second opinion on `reading` and `writing`. Importing this module
imports scapy. CALPWSTR and CAPROPVARIANT, and a PROPVARIANT that holds one, are left to `reading`: scapy has no array
of pointers to text, and no packet that contains itself with arrays of unions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from scapy.fields import StrFixedLenField
from scapy.layers import dcerpc

from conformance.wire.structures.tables import STRUCTURES, structure
from conformance.wire.structures.words import (
    Array,
    Choice,
    Guid,
    Inner,
    Number,
    Pointer,
    Text,
    Truth,
    Word,
    alignment,
)

LEFT_OUT = frozenset({"CALPWSTR", "CAPROPVARIANT"})
NAMES = tuple(name for name, table in STRUCTURES.items() if table.ndr and name not in LEFT_OUT)
"""The structures that have a scapy packet."""

_NUMBERS: dict[tuple[int, bool], Any] = {
    (1, False): dcerpc.NDRByteField,
    (1, True): dcerpc.NDRSignedByteField,
    (2, False): dcerpc.NDRShortField,
    (2, True): dcerpc.NDRSignedShortField,
    (4, False): dcerpc.NDRIntField,
    (4, True): dcerpc.NDRSignedIntField,
    (8, False): dcerpc.NDRLongField,
    (8, True): dcerpc.NDRSignedLongField,
}


class GUID(dcerpc.NDRPacket):  # type: ignore[misc]
    """MS-DTYP 2.3.4.2."""

    ALIGNMENT = (4, 4)
    fields_desc: ClassVar[list[Any]] = [
        dcerpc.NDRIntField("Data1", 0),
        dcerpc.NDRShortField("Data2", 0),
        dcerpc.NDRShortField("Data3", 0),
        StrFixedLenField("Data4", b"\0" * 8, length=8),
    ]


@cache
def layer(name: str) -> Any:
    """Return the scapy packet class of a structure in NDR. Raises KeyError for a structure without one."""
    if name not in STRUCTURES or name in LEFT_OUT:
        raise KeyError(name)
    table = structure(name)
    align = max(alignment(each.word, structure) for each in table.members)
    fields = [_field(each.spec, each.word) for each in table.members]
    return type(dcerpc.NDRPacket)(
        name, (dcerpc.NDRPacket,), {"ALIGNMENT": (align, max(align, 8)), "fields_desc": fields, "__doc__": table.source}
    )


@cache
def parameter(name: str) -> Any:
    """Return a packet class of one field, `value`: the structure behind a reference pointer. Raises KeyError."""
    held = layer(name)
    fields = [dcerpc.NDRPacketField("value", held(), held)]
    return type(dcerpc.NDRPacket)(f"{name}_PARAMETER", (dcerpc.NDRPacket,), {"fields_desc": fields})


def _field(name: str, word: Word) -> Any:
    match word:
        case Number():
            return _NUMBERS[word.width, word.signed](name, 0)
        case Truth():
            return dcerpc.NDRShortField(name, 0)
        case Guid():
            return dcerpc.NDRPacketField(name, GUID(), GUID)
        case Inner():
            return dcerpc.NDRPacketField(name, layer(word.of)(), layer(word.of))
        case Pointer():
            return dcerpc.NDRFullEmbPointerField(_field(name, word.to))
        case Text():
            return dcerpc.NDRConfVarStrNullFieldUtf16(name, "")
        case Array():
            return _array(name, word)
        case Choice():
            return _union(name, word)
    raise KeyError(name)


def _array(name: str, word: Array) -> Any:
    counts = {"c_elems": "cElems", "cb_size": "cbSize"}
    size = counts[word.by]

    def size_is(packet: Any) -> int:
        return int(getattr(packet, size))

    if word.of == Number(1):
        return dcerpc.NDRConfStrLenField(name, "", size_is=size_is)
    if isinstance(word.of, Guid):
        return dcerpc.NDRConfPacketListField(name, [], GUID, size_is=size_is)
    return dcerpc.NDRConfFieldListField(name, [], _field("", word.of), size_is=size_is)


def _union(name: str, word: Choice) -> Any:
    """Make the union, selected by the member when it is written, by its tag when it is read."""
    arms = []
    for tag, arm in word.arms.items():
        if arm.word is not None and not (isinstance(arm.word, Inner) and arm.word.of in LEFT_OUT):
            arms.append((_field(name, arm.word), (_selected(word.by, tag), _tagged(tag))))
    formats = {1: ("B", "B"), 2: ("H", "I")}
    none = StrFixedLenField(name, "", length=0)
    return dcerpc.NDRUnionField(arms, none, align=(word.tag, 8), switch_fmt=formats[word.tag])


def _selected(by: str, tag: int) -> Callable[[Any], bool]:
    return lambda packet: bool(getattr(packet, by, None) == tag)


def _tagged(tag: int) -> Callable[[Any, Any], bool]:
    return lambda _, value: bool(value.tag == tag)
