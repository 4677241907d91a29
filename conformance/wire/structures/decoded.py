"""The result of reading the bytes of a structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.wire.packet import Span, Trouble


@dataclass(frozen=True, slots=True)
class Part:
    """One structure that was read: the whole, or one inside it.

    path: its place, empty for the whole. fields: by key, `TA_ADDRESS.AddressLength`: int, text, bytes, and facts that
    need the raw bytes (`.Terminated`, `.MaxCount`, `.Tag`). `X.Overrun` is the member the bytes ended in, empty when
    they ended in none; `X.Size` its bytes; `X.Extra`, of the whole alone, the number of bytes behind it.
    """

    structure: str
    path: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Decoded:
    """A structure that was read.

    value: in the shape of the adapter protocol, without the members that could not be read. parts: the whole first,
    then the inner ones. spans: (offset, length) in bytes by path, `a_public_keys[0].ul_key_len`, `p_elems.max_count`,
    `tag`. extra: bytes behind it.
    """

    name: str
    value: Any
    parts: tuple[Part, ...]
    spans: Mapping[str, Span]
    trouble: tuple[Trouble, ...]
    extra: int
    data: bytes

    @property
    def whole(self) -> bool:
        """True when everything was read, and nothing is left."""
        return not self.trouble and not self.extra
