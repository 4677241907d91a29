"""Sharing modes: which handles of one queue exclude one another (MS-MQDMPR 3.1.7.1.5)."""

from __future__ import annotations

from collections.abc import Iterable

READING = frozenset({"receive", "peek", "receive_admin", "peek_admin"})

_EXCLUSIVE = frozenset((access, "deny_receive") for access in (*READING, "move"))
# (access, share) of an open handle -> the (access, share) it excludes. No handle excludes sending: MS-MQMP 3.1.4.17.
_KEEPS_OUT: dict[tuple[str, str], frozenset[tuple[str, str]]] = {
    ("receive", "deny_receive"): _EXCLUSIVE | {("receive", "deny_none")},
    ("receive", "deny_none"): _EXCLUSIVE,
    ("peek", "deny_receive"): frozenset({("receive", "deny_none"), ("receive", "deny_receive")}),
    ("peek_admin", "deny_receive"): frozenset({("receive", "deny_none"), ("receive", "deny_receive")}),
}


def conflicts(already_open: Iterable[tuple[str, str]], access: str, share: str) -> bool:
    """Return true if the open handles exclude a new one of this access and share."""
    wanted = (access, share)
    return any(wanted in _KEEPS_OUT.get(handle, ()) for handle in already_open)
