"""Rights: security descriptors of queues and of the manager, and what a caller may do (MS-MQMQ 2.2.3, 2.2.23, 2.2.24).

The layout of descriptors and the check are those of MS-DTYP 2.4.2 to 2.4.6 and 2.5.3.2.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.entities import MqError, Queue
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR,
    MQ_ERROR_ILLEGAL_USER,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_PRIVILEGE_NOT_HELD,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
EVERYONE, ANONYMOUS = "S-1-1-0", "S-1-5-7"
_DOMAIN = "S-1-5-21-1107-2214-3321"
SELF, MACHINE = f"{_DOMAIN}-1000", f"{_DOMAIN}-1500"
_GUEST = "-501"  # DOMAIN_USER_RID_GUEST, the last part of the identifier of a domain's guest

# Rights of a queue (2.2.24).
DELETE_MESSAGE, PEEK_MESSAGE, WRITE_MESSAGE, DELETE_JOURNAL_MESSAGE = 0x1, 0x2, 0x4, 0x8
SET_PROPERTIES, GET_PROPERTIES = 0x10, 0x20
DELETE_QUEUE, GET_PERMISSIONS, CHANGE_PERMISSIONS, TAKE_OWNERSHIP = 0x10000, 0x20000, 0x40000, 0x80000
RECEIVE, RECEIVE_JOURNAL = DELETE_MESSAGE | PEEK_MESSAGE, DELETE_JOURNAL_MESSAGE | PEEK_MESSAGE
ALL = 0x000F003F
# Rights of the manager (2.2.23) that no right of a queue equals.
CREATE_QUEUE, PEEK_DEADLETTER, RECEIVE_DEADLETTER = 0x4, 0x2, 0x3
PEEK_JOURNAL, RECEIVE_JOURNALS = 0x80, 0xC0
MACHINE_WRITE, MACHINE_ALL = 0x00020024, 0x000F00F7
OWNER, GROUP, DACL, SACL = 1, 2, 4, 8  # SECURITY_INFORMATION (2.2.3)

_ALLOW, _DENY, _INHERIT_ONLY = 0, 1, 0x08
_DACL_PRESENT, _SACL_PRESENT, _SELF_RELATIVE = 0x0004, 0x0010, 0x8000
_HEAD = struct.Struct("<BBHIIII")
_ACL = struct.Struct("<BBHHH")
_ENTRY = struct.Struct("<BBHI")


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who calls. privileges: words of the protocol."""

    sid: str
    groups: frozenset[str] = frozenset()
    domain_user: bool = True
    privileges: frozenset[str] = frozenset()

    @property
    def guest(self) -> bool:
        """Return true for the guest of a domain."""
        return self.sid.startswith("S-1-5-21-") and self.sid.endswith(_GUEST)

    def to_json(self) -> dict[str, Json]:
        """Return the user as `hello` declares it."""
        said: dict[str, Json] = {"sid": self.sid, "domain_user": self.domain_user, "guest": self.guest}
        return {**said, "groups": sorted(self.groups), "privileges": sorted(self.privileges)}


_STAFF = f"{_DOMAIN}-2001"
USERS: Final = {
    user.sid: user
    for user in (
        User(f"{_DOMAIN}-1001"),
        User(f"{_DOMAIN}-1002", frozenset({_STAFF})),
        User(f"{_DOMAIN}-1003", frozenset({_STAFF}), privileges=frozenset({"security", "take_ownership"})),
        User(f"{_DOMAIN}{_GUEST}"),
        User("S-1-5-21-4428-5535-6642-1001", domain_user=False),
    )
}


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an access control list. kind: its type, 0 allows and 1 denies."""

    kind: int
    mask: int
    sid: str
    flags: int = 0


@dataclass(frozen=True, slots=True)
class SecurityDescriptor:
    """A descriptor. dacl, sacl: the bytes of the list; empty where the list is NULL, None where it is absent."""

    owner: str | None = None
    group: str | None = None
    dacl: bytes | None = None
    sacl: bytes | None = None

    def only(self, information: int) -> SecurityDescriptor:
        """Return the parts asked for."""
        return SecurityDescriptor(
            self.owner if information & OWNER else None,
            self.group if information & GROUP else None,
            self.dacl if information & DACL else None,
            self.sacl if information & SACL else None,
        )

    def merged(self, other: SecurityDescriptor, information: int) -> SecurityDescriptor:
        """Return the descriptor with these parts of another."""
        parts = zip(("owner", "group", "dacl", "sacl"), (OWNER, GROUP, DACL, SACL), strict=True)
        return replace(self, **{name: getattr(other, name) for name, bit in parts if information & bit})

    def packed(self) -> bytes:
        """Return it in self-relative form."""
        parts = [sid_bytes(self.owner), sid_bytes(self.group), self.sacl or b"", self.dacl or b""]
        control = _SELF_RELATIVE | (_SACL_PRESENT if self.sacl is not None else 0)
        control |= _DACL_PRESENT if self.dacl is not None else 0
        offsets, at = [], _HEAD.size
        for part in parts:
            offsets.append(at if part else 0)
            at += len(part)
        return _HEAD.pack(1, 0, control, *offsets) + b"".join(parts)


def listed(*entries: Entry) -> bytes:
    """Return the bytes of an access control list."""
    made = b""
    for one in entries:
        sid = sid_bytes(one.sid)
        made += _ENTRY.pack(one.kind, one.flags, _ENTRY.size + len(sid), one.mask) + sid
    return _ACL.pack(2, 0, _ACL.size + len(made), len(entries), 0) + made


def sid_bytes(text: str | None) -> bytes:
    """Return the bytes of a SID (MS-DTYP 2.4.2.2), none for None."""
    if text is None:
        return b""
    authority, *below = map(int, text.split("-")[2:])
    return bytes([1, len(below)]) + authority.to_bytes(6, "big") + struct.pack(f"<{len(below)}I", *below)


def _illegal() -> MqError:
    return MqError(MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR)


def sid_text(data: bytes, at: int = 0) -> str:
    """Return the SID at an offset as text. Raises MqError for bytes that are none."""
    if at + 8 > len(data) or data[at] != 1 or data[at + 1] > 15 or at + 8 + 4 * data[at + 1] > len(data):
        raise _illegal()
    below = struct.unpack_from(f"<{data[at + 1]}I", data, at + 8)
    return "-".join(map(str, ("S", 1, int.from_bytes(data[at + 2 : at + 8], "big"), *below)))


def _list_at(data: bytes, at: int) -> bytes:
    if not at:
        return b""
    if at + _ACL.size > len(data):
        raise _illegal()
    size = _ACL.unpack_from(data, at)[2]
    found = data[at : at + size]
    if len(found) != size or size < _ACL.size or found[0] not in (2, 4):
        raise _illegal()
    for _ in entries_of(found):
        pass
    return found


def entries_of(acl: bytes) -> Iterator[Entry]:
    """Yield the entries that allow or deny. Raises MqError for a list that is not well formed."""
    at = _ACL.size
    for _ in range(_ACL.unpack_from(acl)[3]):
        if at + _ENTRY.size > len(acl):
            raise _illegal()
        kind, flags, size, mask = _ENTRY.unpack_from(acl, at)
        if size < _ENTRY.size or at + size > len(acl):
            raise _illegal()
        if kind <= 2:
            yield Entry(kind, mask, sid_text(acl[: at + size], at + _ENTRY.size), flags)
        at += size


def unpacked(text: Json) -> SecurityDescriptor:
    """Return the descriptor of base64. Raises MqError for bytes that are none."""
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError, TypeError):
        raise _illegal() from None
    if len(data) < _HEAD.size:
        raise _illegal()
    revision, _, control, owner, group, sacl, dacl = _HEAD.unpack_from(data)
    if revision != 1 or not control & _SELF_RELATIVE:
        raise _illegal()
    return SecurityDescriptor(
        sid_text(data, owner) if owner else None,
        sid_text(data, group) if group else None,
        _list_at(data, dacl) if control & _DACL_PRESENT else None,
        _list_at(data, sacl) if control & _SACL_PRESENT else None,
    )


class Security:
    """Who calls, what the descriptors of this manager let him do, and whether its security is hardened."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self.caller: User | None = None  # None for the user who may do everything
        self.machine: str | None = MACHINE  # the computer's account in a default descriptor, None for one unread
        self.hardened = self.hardens()  # HardenedSecurity (MS-MQDMPR 3.1.1.1)
        self.srmp = manager.names.version >= 4  # earlier ones give no right for messages over HTTP (note <20> there)

    def declared(self) -> dict[str, Json]:
        """Return what `hello` says of callers."""
        callers = [user.to_json() for user in USERS.values()]
        keys = self.manager.encryption.own_keys()
        return {"self": SELF, "machine": MACHINE, "callers": callers, "srmp": self.srmp, "encryption_keys": keys}

    # Hardened security.

    def harden(self, hardened: bool) -> None:
        """Harden the security of every later process, or not."""
        self.manager.store.set_counter("hardened", int(hardened))

    def hardens(self) -> bool:
        """Return true if the security of a process that starts is hardened."""
        return self.manager.store.counter("hardened", 0) == 1

    def started(self) -> None:
        """Lock outgoing queues for hardened security, or unlock those of the last process (MS-MQDMPR 3.1.3)."""
        store = self.manager.store
        was_hardened = store.counter("was_hardened", 0) == 1
        for queue in self.manager.queues.all():
            if queue.kind == "outgoing":
                self.manager.outgoing.started(queue, was_hardened=was_hardened)
        if was_hardened != self.hardened:
            store.set_counter("was_hardened", int(self.hardened))

    # Who calls.

    def called_by(self, sid: Json) -> None:
        """Note who makes the present call. sid: None for the user who may do everything. Raises MqError."""
        self.caller = None
        if sid is not None and sid != SELF:
            self.caller = USERS.get(sid)
            if self.caller is None:
                raise MqError(MQ_ERROR_ILLEGAL_USER)

    # Descriptors.

    def of_queue(self, queue: Queue) -> SecurityDescriptor:
        """Return the descriptor of a queue; a subqueue and a journal have that of their queue."""
        owner = queue.parent or queue
        said = owner.properties.get("descriptor")
        return self.default(User(SELF), None) if said is None else unpacked(said)

    def of_machine(self) -> SecurityDescriptor:
        """Return the descriptor of the manager. Its first one is not in the documents: all may create queues."""
        said = self.manager.store.text("descriptor")
        if said is not None:
            return unpacked(said)
        return SecurityDescriptor(
            SELF, None, listed(Entry(_ALLOW, MACHINE_WRITE, EVERYONE), Entry(_ALLOW, MACHINE_ALL, SELF))
        )

    def of_new_queue(self, given: Json) -> str | None:
        """Return the descriptor of a queue that the caller creates, in base64. given: what it has asked for.

        None for one that nobody in particular creates, whose descriptor is made when somebody asks for it. A manager
        with a directory makes it at once, as the computer's account may be another later.
        """
        if self.caller is None and given is None and not self.manager.integration.integrated:
            return None
        supplied = None if given is None else unpacked(given)
        integration = self.manager.integration
        self.machine = integration.machine_sid() if integration.integrated else MACHINE
        made = self.default(self.caller or User(SELF), supplied)
        self.machine = MACHINE
        return base64.b64encode(made.packed()).decode("ascii")

    def default(self, creator: User, supplied: SecurityDescriptor | None) -> SecurityDescriptor:
        """Create Default Queue Security Descriptor (MS-MQDMPR 3.1.7.1.3.1)."""
        supplied = supplied or SecurityDescriptor()
        owner = supplied.owner or creator.sid
        user = creator if owner == creator.sid else self.user(owner)
        if not user.domain_user:
            owner = ANONYMOUS
        dacl = supplied.dacl if supplied.dacl is not None else listed(*self.default_entries(owner, user))
        return SecurityDescriptor(owner, None, dacl, supplied.sacl)

    def default_entries(self, owner: str, user: User) -> Iterator[Entry]:
        """Yield the entries of a queue whose creator gave no list."""
        free = user.guest or not user.domain_user
        anonymous = self.over_http()
        yield Entry(_ALLOW, anonymous | (ALL if free else GET_PROPERTIES | GET_PERMISSIONS), EVERYONE)
        if anonymous:
            yield Entry(_ALLOW, anonymous, ANONYMOUS)
        if self.machine is not None:
            yield Entry(_ALLOW, GET_PROPERTIES | GET_PERMISSIONS, self.machine)
        if not free:
            yield Entry(_ALLOW, ALL, owner)

    def over_http(self) -> int:
        """Return the right that everybody has on a new queue to which messages can come over HTTP."""
        return WRITE_MESSAGE if self.srmp else 0

    @property
    def caller_sid(self) -> str:
        """The SID of whoever makes the present call."""
        return SELF if self.caller is None else self.caller.sid

    def knows(self, sid: str) -> bool:
        """Return true if there is a user of this SID, here or in the directory."""
        return sid == SELF or sid in USERS or self.manager.directory.has_user(sid)

    def user(self, sid: str) -> User:
        """Return the user of an identifier; one of no domain if nobody is known by it."""
        return User(SELF) if sid == SELF else USERS.get(sid, User(sid, domain_user=False))

    # What a caller may do.

    def allows(self, descriptor: SecurityDescriptor, user: User, wanted: int) -> bool:
        """Return true if the descriptor grants every right wanted (MS-DTYP 2.5.3.2)."""
        token = {user.sid, EVERYONE, *user.groups}
        if not descriptor.dacl:  # absent or NULL
            return True
        if descriptor.owner in token:
            wanted &= ~(GET_PERMISSIONS | CHANGE_PERMISSIONS)
        for entry in entries_of(descriptor.dacl):
            if not wanted:
                break
            if entry.sid not in token or entry.flags & _INHERIT_ONLY:
                continue
            if entry.kind == _DENY and entry.mask & wanted:
                return False
            if entry.kind == _ALLOW:
                wanted &= ~entry.mask
        return not wanted

    def need(self, descriptor: SecurityDescriptor, right: int) -> None:
        """Raise MqError if the caller has not this right."""
        if self.caller is not None and not self.allows(descriptor, self.caller, right):
            raise MqError(MQ_ERROR_ACCESS_DENIED)

    def need_of_queue(self, queue: Queue, right: int) -> None:
        """Raise MqError if the caller has not this right on a queue."""
        if self.caller is not None:
            self.need(self.of_queue(queue), right)

    def need_of_machine(self, right: int) -> None:
        """Raise MqError if the caller has not this right on the manager."""
        if self.caller is not None:
            self.need(self.of_machine(), right)

    def need_to_open(self, queue: Queue, access: str) -> None:
        """Raise MqError if the caller may not open a local queue so."""
        if queue.kind == "outgoing" or self.caller is None:
            return
        reads = access not in ("peek", "peek_admin", "move")
        if queue.kind == "system":
            journal = queue.id == "system;journal"
            peek, receive = (PEEK_JOURNAL, RECEIVE_JOURNALS) if journal else (PEEK_DEADLETTER, RECEIVE_DEADLETTER)
            self.need_of_machine(receive if reads else peek)
        elif access == "send":
            self.need_of_queue(queue, WRITE_MESSAGE)
        elif queue.kind == "journal":
            self.need_of_queue(queue, RECEIVE_JOURNAL if reads else PEEK_MESSAGE)
        else:
            self.need_of_queue(queue, RECEIVE if reads else PEEK_MESSAGE)

    # Getting and setting descriptors.

    def get(self, target: dict[str, Json], information: int, room: int | None) -> dict[str, Json]:
        """R_QMGetObjectSecurityInternal (MS-MQMP 3.1.4.7). room: bytes that the caller has; None for any number."""
        self._check(information)
        queue = self._queue(target)
        if information & (OWNER | GROUP | DACL):
            self._need(queue, GET_PERMISSIONS)
        if information & SACL:
            self.need_privilege("security")
        parts = self.shown(self._of(queue), information).packed()
        if room is not None and len(parts) > room:
            raise MqError(MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL, {"length_needed": len(parts)})
        return {"descriptor": base64.b64encode(parts).decode("ascii"), "length_needed": len(parts)}

    def set(self, target: dict[str, Json], information: int, descriptor: Json) -> None:
        """R_QMSetObjectSecurityInternal (MS-MQMP 3.1.4.6)."""
        self._check(information)
        queue = self._queue(target)
        given = unpacked(descriptor)
        if information & DACL:
            self._need(queue, CHANGE_PERMISSIONS)
        if information & (OWNER | GROUP) and not self._has_privilege("take_ownership"):
            self._need(queue, TAKE_OWNERSHIP)
        if information & SACL:
            self.need_privilege("security")
        self.keep(queue, self.changed(self._of(queue), given, information))

    def shown(self, descriptor: SecurityDescriptor, information: int) -> SecurityDescriptor:
        """Return the parts of a descriptor that were asked for."""
        return descriptor.only(information)

    def changed(self, found: SecurityDescriptor, given: SecurityDescriptor, information: int) -> SecurityDescriptor:
        """Return a descriptor after a set of parts."""
        return found.merged(given, information)

    def keep(self, queue: Queue | None, descriptor: SecurityDescriptor) -> None:
        """Store a descriptor. queue: None for that of the manager."""
        text = base64.b64encode(descriptor.packed()).decode("ascii")
        if queue is None:
            self.manager.store.set_text("descriptor", text)
        else:
            self.manager.integration.write_queue(queue, {"descriptor": text})
            self.manager.queues.change(queue, {"descriptor": text})

    def forget(self) -> None:
        """Give the manager its first descriptor again, and no hardened security."""
        store = self.manager.store
        store.set_text("descriptor", None)
        self.hardened = False
        for name in ("hardened", "was_hardened"):
            if store.counter(name, 0):
                store.set_counter(name, 0)

    def _need(self, queue: Queue | None, right: int) -> None:
        if queue is None:
            self.need_of_machine(right)
        else:
            self.need_of_queue(queue, right)

    def _of(self, queue: Queue | None) -> SecurityDescriptor:
        return self.of_machine() if queue is None else self.of_queue(queue)

    def _queue(self, target: dict[str, Json]) -> Queue | None:
        if target["type"] == "machine":
            return None
        name = target.get("format_name")
        if not isinstance(name, str):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        queue = self.manager.queues.find_local(name)
        if queue is None or queue.kind not in ("private", "public"):
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        return queue

    @staticmethod
    def _check(information: int) -> None:
        if information & ~(OWNER | GROUP | DACL | SACL):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)

    def _has_privilege(self, privilege: str) -> bool:
        return self.caller is None or privilege in self.caller.privileges

    def need_privilege(self, privilege: str) -> None:
        """Raise MqError if the caller has not this privilege."""
        if not self._has_privilege(privilege):
            raise MqError(MQ_ERROR_PRIVILEGE_NOT_HELD)
