"""MS-MQMQ 2.2.12 to 2.2.16: PROPVARIANT, BLOB and the counted arrays, in NDR."""

from __future__ import annotations

from conformance.wire.structures.words import (
    Arm,
    Array,
    Choice,
    Guid,
    Inner,
    Member,
    Number,
    Pointer,
    Structure,
    Text,
    Truth,
    Word,
)

VECTOR = 0x1000
ELEMENTS: dict[str, Word] = {
    "CAUB": Number(1),
    "CAUI": Number(2),
    "CAL": Number(4, signed=True),
    "CAUL": Number(4),
    "CAUH": Number(8, decimal=True),
    "CACLSID": Guid(),
    "CALPWSTR": Pointer(Text()),
    "CAPROPVARIANT": Inner("PROPVARIANT"),
}
"""The element of each counted array (2.2.16)."""

_VECTORS = {
    17: ("caub", "CAUB"),
    18: ("caui", "CAUI"),
    3: ("cal", "CAL"),
    19: ("caul", "CAUL"),
    21: ("cauh", "CAUH"),
    72: ("cauuid", "CACLSID"),
    31: ("calpwstr", "CALPWSTR"),
    12: ("capropvar", "CAPROPVARIANT"),
}

UNION: dict[int, Arm] = {
    0: Arm("", ""),
    1: Arm("", ""),
    16: Arm("value", "cVal", Number(1, signed=True)),
    17: Arm("value", "bVal", Number(1)),
    2: Arm("value", "iVal", Number(2, signed=True)),
    18: Arm("value", "uiVal", Number(2)),
    3: Arm("value", "lVal", Number(4, signed=True)),
    19: Arm("value", "ulVal", Number(4)),
    20: Arm("value", "hVal", Number(8, signed=True, decimal=True)),
    21: Arm("value", "uhVal", Number(8, decimal=True)),
    11: Arm("value", "boolVal", Truth()),
    72: Arm("value", "puuid", Pointer(Guid())),
    65: Arm("value", "blob", Inner("BLOB"), only="p_blob_data"),
    31: Arm("value", "pwszVal", Pointer(Text())),
    **{VECTOR | vt: Arm("value", member, Inner(name), only="p_elems") for vt, (member, name) in _VECTORS.items()},
}
"""The members of _varUnion by vt (2.2.13.1)."""

STRUCTURES = (
    Structure(
        "BLOB",
        "MS-MQMQ 2.2.15",
        (
            Member("cb_size", "cbSize", Number(4), computed="p_blob_data"),
            Member("p_blob_data", "pBlobData", Pointer(Array(Number(1), "cb_size"))),
        ),
        ndr=True,
    ),
    *(
        Structure(
            name,
            f"MS-MQMQ 2.2.16.{number}",
            (
                Member("c_elems", "cElems", Number(4), computed="p_elems"),
                Member("p_elems", "pElems", Pointer(Array(word, "c_elems"))),
            ),
            ndr=True,
        )
        for number, (name, word) in enumerate(ELEMENTS.items(), start=1)
    ),
    Structure(
        "PROPVARIANT",
        "MS-MQMQ 2.2.13",
        (
            Member("vt", "vt", Number(2)),
            Member("w_reserved1", "wReserved1", Number(1), computed="0", hidden=True),
            Member("w_reserved2", "wReserved2", Number(1), computed="0", hidden=True),
            Member("w_reserved3", "wReserved3", Number(4), computed="0", hidden=True),
            Member("", "_varUnion", Choice("vt", 2, UNION)),
        ),
        ndr=True,
    ),
)
