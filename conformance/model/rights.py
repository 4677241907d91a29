"""Who may do what: rights, the access check, and the descriptor of a new queue.

MS-MQMQ 2.2.23 and 2.2.24, MS-DTYP 2.5.3.2, MS-MQDMPR 3.1.7.1.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from conformance.model.descriptors import ALLOW, DENY, INHERIT_ONLY, Descriptor, Entry

EVERYBODY, ANONYMOUS = "S-1-1-0", "S-1-5-7"

DELETE_MESSAGE, PEEK_MESSAGE, WRITE_MESSAGE, DELETE_JOURNAL_MESSAGE = 0x1, 0x2, 0x4, 0x8
SET_PROPERTIES, GET_PROPERTIES = 0x10, 0x20
DELETE, GET_PERMISSIONS, CHANGE_PERMISSIONS, TAKE_OWNERSHIP = 0x10000, 0x20000, 0x40000, 0x80000
RECEIVE_MESSAGE: Final = DELETE_MESSAGE | PEEK_MESSAGE
RECEIVE_JOURNAL_MESSAGE: Final = DELETE_JOURNAL_MESSAGE | PEEK_MESSAGE
READ: Final = GET_PROPERTIES | GET_PERMISSIONS
QUEUE_ALL: Final = 0xF003F
DELETE_DEAD_LETTER, PEEK_DEAD_LETTER, CREATE_QUEUE, DELETE_JOURNAL, PEEK_JOURNAL = 0x1, 0x2, 0x4, 0x40, 0x80
MACHINE_ALL: Final = 0xF00F7
IMPLIED: Final = GET_PERMISSIONS | CHANGE_PERMISSIONS
"""Rights of an owner without any entry."""

QUEUE_RIGHTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "delete-message": DELETE_MESSAGE,
        "peek-message": PEEK_MESSAGE,
        "write-message": WRITE_MESSAGE,
        "delete-journal-message": DELETE_JOURNAL_MESSAGE,
        "set-queue-properties": SET_PROPERTIES,
        "get-queue-properties": GET_PROPERTIES,
        "delete-queue": DELETE,
        "get-queue-permissions": GET_PERMISSIONS,
        "change-queue-permissions": CHANGE_PERMISSIONS,
        "take-queue-ownership": TAKE_OWNERSHIP,
        "receive-message": RECEIVE_MESSAGE,
        "receive-journal-message": RECEIVE_JOURNAL_MESSAGE,
        "queue-generic-read": READ | RECEIVE_MESSAGE | RECEIVE_JOURNAL_MESSAGE,
        "queue-generic-write": READ | WRITE_MESSAGE,
        "queue-generic-all": QUEUE_ALL,
    }
)
MACHINE_RIGHTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "delete-deadletter-message": DELETE_DEAD_LETTER,
        "peek-deadletter-message": PEEK_DEAD_LETTER,
        "create-queue": CREATE_QUEUE,
        "set-machine-properties": SET_PROPERTIES,
        "get-machine-properties": GET_PROPERTIES,
        "delete-journal-queue-message": DELETE_JOURNAL,
        "peek-journal-queue-message": PEEK_JOURNAL,
        "delete-machine": DELETE,
        "get-machine-permissions": GET_PERMISSIONS,
        "change-machine-permissions": CHANGE_PERMISSIONS,
        "take-machine-ownership": TAKE_OWNERSHIP,
        "receive-deadletter-message": DELETE_DEAD_LETTER | PEEK_DEAD_LETTER,
        "receive-journal-queue-message": DELETE_JOURNAL | PEEK_JOURNAL,
        "machine-generic-read": READ | DELETE_DEAD_LETTER | PEEK_DEAD_LETTER | DELETE_JOURNAL | PEEK_JOURNAL,
        "machine-generic-write": READ | CREATE_QUEUE,
        "machine-generic-all": MACHINE_ALL,
        "machine-world-rights": READ,
    }
)


@dataclass(frozen=True, slots=True)
class User:
    """Who calls. groups: beside everybody. privileges: `security`, `take_ownership`."""

    sid: str
    groups: frozenset[str] = frozenset()
    domain_user: bool = False
    guest: bool = False
    privileges: frozenset[str] = frozenset()

    @property
    def token(self) -> frozenset[str]:
        """The SIDs that entries are compared with."""
        return self.groups | {self.sid, EVERYBODY}


def allowed(descriptor: Descriptor, token: frozenset[str], wanted: int) -> bool:
    """Tell whether the descriptor lets the owner of the token have all wanted rights (MS-DTYP 2.5.3.2).

    Entries count in the order of their list; those that are for inheritance alone, of other SIDs, or of a type that
    neither allows nor denies are passed over.
    """
    left = wanted
    if descriptor.dacl is None:
        return True
    if descriptor.owner in token:
        left &= ~IMPLIED
    for entry in descriptor.dacl:
        if entry.sid not in token or entry.flags & INHERIT_ONLY:
            continue
        if entry.kind == DENY and entry.mask & left:
            return False
        if entry.kind == ALLOW:
            left &= ~entry.mask
    return not left


def granted(descriptor: Descriptor, token: frozenset[str]) -> int:
    """Return the rights of which each alone would be allowed."""
    return sum(1 << at for at in range(32) if allowed(descriptor, token, 1 << at))


def new_queue(
    creator: User,
    supplied: Descriptor | None = None,
    *,
    domain_users: frozenset[str] = frozenset(),
    guests: frozenset[str] = frozenset(),
    machine: str | None = None,
    srmp: bool = False,
    readings: Mapping[str, str],
) -> Descriptor:
    """Return the descriptor of a queue that is created (MS-MQDMPR 3.1.7.1.3.1). Its group is left out: no step has one.

    domain_users, guests: SIDs that are so. machine: the SID of the computer, if the manager knows it. srmp: messages
    can come over HTTP. readings: an alternative for each of READINGS.
    """
    given = supplied or Descriptor()
    owner = given.owner or creator.sid
    if owner not in domain_users and (given.owner is None or readings[SUPPLIED_OWNER] == "replaced"):
        owner = ANONYMOUS
    if supplied is not None and readings[ORDER] == "replaced":
        return Descriptor(given.owner, None, given.dacl, given.sacl)
    dacl = given.dacl
    if dacl is None:
        stranger = owner not in domain_users
        world, own = (QUEUE_ALL, 0) if stranger or owner in guests else (READ, QUEUE_ALL)
        write = WRITE_MESSAGE if srmp else 0
        rows = ((EVERYBODY, world | write), (ANONYMOUS, write), (machine or "", READ if machine else 0), (owner, own))
        dacl = tuple(Entry(ALLOW, mask, sid) for sid, mask in rows if mask)
    return Descriptor(owner if readings[OWNER_STORED] == "stored" else None, None, dacl, given.sacl)


CHECKED_AT: Final = "R-MQMQ-right-checked-at"
OWNER_STORED: Final = "R-MQDMPR-descriptor-owner"
SUPPLIED_OWNER: Final = "R-MQDMPR-supplied-owner"
ORDER: Final = "R-MQDMPR-descriptor-order"
PARTS: Final = "R-MQMP-security-information"
READINGS: Final = (OWNER_STORED, SUPPLIED_OWNER, ORDER)
"""The readings of a new queue's descriptor."""


def shown(descriptor: Descriptor, information: int, reading: str) -> Descriptor:
    """Return what MS-MQMP 3.1.4.7 copies of a descriptor. reading: `every` part asked for, or the `first` one alone."""
    return descriptor.only(information if reading == "every" else information & -information)
