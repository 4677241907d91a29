"""Security descriptors as bytes and as parts: MS-DTYP 2.4.2 to 2.4.6, as far as queues have them (MS-MQMQ 2.3.1.25)."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Final

ALLOW, DENY, AUDIT = 0, 1, 2
INHERIT_ONLY, INHERITED = 0x08, 0x10
OWNER, GROUP, DACL, SACL = 1, 2, 4, 8
"""Bits of SECURITY_INFORMATION, MS-MQMQ 2.2.3."""
EVERY_PART: Final = OWNER | GROUP | DACL | SACL
MAX_SUB_AUTHORITIES: Final = 15
MAX_BYTES: Final = 524_288
"""The longest descriptor that a call carries, MS-MQMP 3.1.4.6."""

_HEAD: Final = struct.Struct("<BBHIIII")
_LIST: Final = struct.Struct("<BBHHH")
_ENTRY: Final = struct.Struct("<BBHI")
_DACL_PRESENT, _SACL_PRESENT, _SELF_RELATIVE = 0x0004, 0x0010, 0x8000
_REVISION, _LIST_REVISIONS = 1, (2, 4)
_SID: Final = re.compile(r"S-1-(0x[0-9A-Fa-f]{1,12}|\d{1,15})((?:-\d{1,10}){0,15})")


class DescriptorError(ValueError):
    """The bytes are no self-relative descriptor; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a list. kind: ALLOW, DENY, AUDIT, or the number of another type of access control entries.

    sid: text such as `S-1-1-0`; empty for a type whose layout is another. flags: AceFlags of MS-DTYP 2.4.4.1.
    """

    kind: int
    mask: int
    sid: str
    flags: int = 0


@dataclass(frozen=True, slots=True)
class Descriptor:
    """The parts of a descriptor, None for each that is absent. No DACL allows everything, an empty one nothing."""

    owner: str | None = None
    group: str | None = None
    dacl: tuple[Entry, ...] | None = None
    sacl: tuple[Entry, ...] | None = None

    def part(self, bit: int) -> str | tuple[Entry, ...] | None:
        """Return the part that a bit of SECURITY_INFORMATION selects."""
        return {OWNER: self.owner, GROUP: self.group, DACL: self.dacl, SACL: self.sacl}[bit]

    def only(self, information: int) -> Descriptor:
        """Return the parts that SECURITY_INFORMATION selects."""
        return Descriptor().merged(self, information)

    def merged(self, other: Descriptor, information: int) -> Descriptor:
        """Return this descriptor with the selected parts of another one."""
        return Descriptor(
            other.owner if information & OWNER else self.owner,
            other.group if information & GROUP else self.group,
            other.dacl if information & DACL else self.dacl,
            other.sacl if information & SACL else self.sacl,
        )


def encoded(descriptor: Descriptor, *, backwards: bool = False) -> bytes:
    """Return the self-relative bytes. Raises ValueError for a part that no descriptor can have.

    backwards: the lists are before group and owner in the bytes.
    """
    control, offsets, body = _SELF_RELATIVE, [0, 0, 0, 0], b""
    control |= _SACL_PRESENT if descriptor.sacl is not None else 0
    control |= _DACL_PRESENT if descriptor.dacl is not None else 0
    parts = tuple(enumerate((descriptor.owner, descriptor.group, descriptor.sacl, descriptor.dacl)))
    for at, part in reversed(parts) if backwards else parts:
        if part is not None:
            offsets[at] = _HEAD.size + len(body)
            body += sid_bytes(part) if isinstance(part, str) else _list_bytes(part)
    return _HEAD.pack(_REVISION, 0, control, *offsets) + body


def sid_bytes(text: str) -> bytes:
    """Return the bytes of a SID. Raises ValueError for a text that is none."""
    found = _SID.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:80]!r} is no SID")
    numbers = [int(number) for number in found[2].split("-")[1:]]
    authority = int(found[1], 0)
    if authority >> 48 or any(number >> 32 for number in numbers):
        raise ValueError(f"{text[:80]!r} has a number that is too large for a SID")
    return struct.pack(f"<BB6s{len(numbers)}I", _REVISION, len(numbers), authority.to_bytes(6, "big"), *numbers)


def _list_bytes(entries: tuple[Entry, ...]) -> bytes:
    body = b""
    for entry in entries:
        sid = sid_bytes(entry.sid)
        body += _ENTRY.pack(entry.kind, entry.flags, _ENTRY.size + len(sid), entry.mask) + sid
    size = _LIST.size + len(body)
    if size > 0xFFFF:
        raise ValueError(f"a list of {size:,} bytes is too long")
    return _LIST.pack(_LIST_REVISIONS[0], 0, size, len(entries), 0) + body


def decoded(data: bytes) -> Descriptor:
    """Read a self-relative descriptor. Raises DescriptorError where a part does not fit or has another layout."""
    if not _HEAD.size <= len(data) <= MAX_BYTES:
        raise DescriptorError(f"{len(data):,} bytes are no descriptor")
    revision, _, control, owner, group, sacl, dacl = _HEAD.unpack_from(data)
    if revision != _REVISION or not control & _SELF_RELATIVE:
        raise DescriptorError("it is not a self-relative descriptor of revision 1")
    return Descriptor(
        _sid(data, owner, len(data)) if owner else None,
        _sid(data, group, len(data)) if group else None,
        _entries(data, dacl) if control & _DACL_PRESENT and dacl else None,
        _entries(data, sacl) if control & _SACL_PRESENT and sacl else None,
    )


def _sid(data: bytes, at: int, end: int) -> str:
    """Read a SID that begins at `at` and ends at `end` at the latest."""
    if not _HEAD.size <= at <= end - 8:
        raise DescriptorError(f"no SID fits at byte {at}")
    revision, count = data[at], data[at + 1]
    if revision != _REVISION or count > MAX_SUB_AUTHORITIES or at + 8 + 4 * count > end:
        raise DescriptorError(f"the SID at byte {at} has revision {revision} and {count} sub-authorities")
    authority = int.from_bytes(data[at + 2 : at + 8], "big")
    text = f"0x{authority:012X}" if authority >> 32 else str(authority)
    return "-".join(("S-1", text, *map(str, struct.unpack_from(f"<{count}I", data, at + 8))))


def _entries(data: bytes, at: int) -> tuple[Entry, ...]:
    if not _HEAD.size <= at <= len(data) - _LIST.size:
        raise DescriptorError(f"no list fits at byte {at}")
    revision, _, size, count, _ = _LIST.unpack_from(data, at)
    end = at + size
    if revision not in _LIST_REVISIONS or size < _LIST.size or end > len(data):
        raise DescriptorError(f"the list at byte {at} has revision {revision} and {size} bytes")
    entries, at = [], at + _LIST.size
    for _ in range(count):
        if at + _ENTRY.size > end:
            raise DescriptorError(f"{count} entries do not fit into their list")
        kind, flags, length, mask = _ENTRY.unpack_from(data, at)
        if length < _ENTRY.size or at + length > end:
            raise DescriptorError(f"the entry at byte {at} has {length} bytes")
        plain = kind in (ALLOW, DENY, AUDIT)
        entries.append(Entry(kind, mask, _sid(data, at + _ENTRY.size, at + length) if plain else "", flags))
        at += length
    return tuple(entries)
