"""Faults of security descriptors and rights (MS-MQMQ 2.2.3, 2.2.23, 2.2.24, MS-MQDMPR 3.1.7.1.3.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.security import (
    ALL,
    ANONYMOUS,
    CHANGE_PERMISSIONS,
    DACL,
    EVERYONE,
    GET_PERMISSIONS,
    MACHINE,
    OWNER,
    SACL,
    WRITE_MESSAGE,
    Entry,
    Security,
    entries_of,
    listed,
)
from conformance.embedded.store import Store
from conformance.spec.constants.hresults import MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL

_NEW: Final = "MQDMPR-3.1.7.1.3.1."
_QUEUE_RIGHTS: Final = {
    "delete-message": 0x1,
    "peek-message": 0x2,
    "write-message": 0x4,
    "delete-journal-message": 0x8,
    "set-queue-properties": 0x10,
    "get-queue-properties": 0x20,
    "delete-queue": 0x10000,
    "get-queue-permissions": 0x20000,
    "change-queue-permissions": 0x40000,
    "take-queue-ownership": 0x80000,
}
_MACHINE_RIGHTS: Final = {
    "delete-deadletter-message": 0x1,
    "peek-deadletter-message": 0x2,
    "create-queue": 0x4,
    "set-machine-properties": 0x10,
    "get-machine-properties": 0x20,
    "delete-journal-queue-message": 0x40,
    "peek-journal-queue-message": 0x80,
    "get-machine-permissions": 0x20000,
    "change-machine-permissions": 0x40000,
    "take-machine-ownership": 0x80000,
}


def _queue_without(bit):
    def need_of_queue(plain, self, queue, right):
        plain(queue, right & ~bit)

    return need_of_queue


def _machine_without(bit):
    def need_of_machine(plain, self, right):
        plain(right & ~bit)

    return need_of_machine


for _name, _bit in _QUEUE_RIGHTS.items():
    fault(
        f"{_name}-needs-no-right", Security.need_of_queue, f"MQMQ-2.2.24.mqsec-{_name}",
        says=f"The right MQSEC_{_name.upper().replace('-', '_')} is not looked at.",
    )(_queue_without(_bit))  # fmt: skip
for _name, _bit in _MACHINE_RIGHTS.items():
    fault(
        f"{_name}-needs-no-right", Security.need_of_machine, f"MQMQ-2.2.23.mqsec-{_name}",
        says=f"The right MQSEC_{_name.upper().replace('-', '_')} is not looked at.",
    )(_machine_without(_bit))  # fmt: skip


# The check.

_CHECK: Final = ("MQAC-3.10.4.1.26.access-check-invoking-algorithm", "MQAC-3.10.4.1.27.access-check-invoking-algorithm")
_RIGHTS: Final = "MQMQ-2.2.24.declaration"
_WRONG_RIGHT: Final[dict[str, Any]] = {
    "first_seen_as": (
        "MQMQ-2.2.24.mqsec-peek-message",
        "MQMQ-2.2.24.mqsec-write-message",
        "MQMQ-2.2.24.mqsec-receive-message",
        "MQMQ-2.2.23.mqsec-peek-deadletter-message",
    ),
    "because": "No entry has the rules of the check: it shows as a right that is wrongly given or refused.",
}


def _seen(descriptor, entries):
    """Return a descriptor with another list; what has none stays so."""
    return replace(descriptor, dacl=listed(*entries)) if descriptor.dacl else descriptor


@fault("denials-are-passed-over", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def denials_are_passed_over(plain, self, descriptor, user, wanted):
    """An entry that denies a right changes nothing."""
    entries = entries_of(descriptor.dacl) if descriptor.dacl else ()
    return plain(_seen(descriptor, [one for one in entries if one.kind != 1]), user, wanted)


@fault("denials-come-first", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def denials_come_first(plain, self, descriptor, user, wanted):
    """An entry that denies counts before those in front of it that allow."""
    entries = entries_of(descriptor.dacl) if descriptor.dacl else ()
    return plain(_seen(descriptor, sorted(entries, key=lambda one: one.kind != 1)), user, wanted)


@fault("first-entry-decides", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def first_entry_decides(plain, self, descriptor, user, wanted):
    """Only the first entry of a caller counts, so that rights of several entries do not add up."""
    token = {user.sid, EVERYONE, *user.groups}
    entries = entries_of(descriptor.dacl) if descriptor.dacl else ()
    first = next((one for one in entries if one.sid in token), None)
    return plain(_seen(descriptor, [] if first is None else [first]), user, wanted)


@fault("groups-have-no-rights", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def groups_have_no_rights(plain, self, descriptor, user, wanted):
    """An entry for a group of the caller changes nothing."""
    return plain(descriptor, replace(user, groups=frozenset()), wanted)


@fault("groups-deny-nothing", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def groups_deny_nothing(plain, self, descriptor, user, wanted):
    """An entry that denies a right to a group of the caller changes nothing."""
    entries = entries_of(descriptor.dacl) if descriptor.dacl else ()
    return plain(
        _seen(descriptor, [one for one in entries if one.kind != 1 or one.sid not in user.groups]), user, wanted
    )


@fault("everybody-is-nobody", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def everybody_is_nobody(plain, self, descriptor, user, wanted):
    """An entry for everybody (S-1-1-0) gives rights to nobody."""
    entries = entries_of(descriptor.dacl) if descriptor.dacl else ()
    return plain(_seen(descriptor, [one for one in entries if one.sid != EVERYONE]), user, wanted)


@fault("entries-to-inherit-count", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def entries_to_inherit_count(plain, self, descriptor, user, wanted):
    """An entry that is there only to be inherited gives rights to the queue itself."""
    entries = entries_of(descriptor.dacl) if descriptor.dacl else ()
    return plain(_seen(descriptor, [replace(one, flags=0) for one in entries]), user, wanted)


@fault("inherited-entries-do-not-count", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def inherited_entries_do_not_count(plain, self, descriptor, user, wanted):
    """An entry that was inherited changes nothing."""
    entries = entries_of(descriptor.dacl) if descriptor.dacl else ()
    return plain(_seen(descriptor, [one for one in entries if not one.flags & 0x10]), user, wanted)


@fault("empty-list-allows-everything", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def empty_list_allows_everything(plain, self, descriptor, user, wanted):
    """A list without entries lets everybody do everything."""
    empty = bool(descriptor.dacl) and not any(True for _ in entries_of(descriptor.dacl))
    return empty or plain(descriptor, user, wanted)


@fault("no-list-allows-nothing", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def no_list_allows_nothing(plain, self, descriptor, user, wanted):
    """A descriptor without a list lets nobody do anything."""
    return bool(descriptor.dacl) and plain(descriptor, user, wanted)


@fault("owner-implies-nothing", Security.allows, *_CHECK, "MQMQ-2.2.24.mqsec-get-queue-permissions")
def owner_implies_nothing(plain, self, descriptor, user, wanted):
    """The owner of a queue cannot read or change its permissions without an entry for it."""
    return plain(replace(descriptor, owner=None), user, wanted)


@fault("owner-implies-everything", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def owner_implies_everything(plain, self, descriptor, user, wanted):
    """The owner of a queue may do everything with it."""
    return descriptor.owner == user.sid or plain(descriptor, user, wanted)


@fault("any-right-is-enough", Security.allows, *_CHECK, _RIGHTS, **_WRONG_RIGHT)
def any_right_is_enough(plain, self, descriptor, user, wanted):
    """A call that needs several rights needs one of them alone."""
    bits = [1 << at for at in range(32) if wanted >> at & 1]
    return any(plain(descriptor, user, bit) for bit in bits) or not bits


@fault("rights-of-another-queue", Security.of_queue, "MQDMPR-3.1.1.2.security", _RIGHTS, **_WRONG_RIGHT)
def rights_of_another_queue(plain, self, queue):
    """The descriptor of the queue that was made first is that of all."""
    return plain(next((one for one in self.manager.queues.private() if "descriptor" in one.properties), queue))


# Descriptors got and set.


@fault(
    "get-shows-every-part", Security.shown, "MQMQ-2.2.3.owner-security-information",
    "MQMQ-2.2.3.dacl-security-information",
)  # fmt: skip
def get_shows_every_part(plain, self, descriptor, information):
    """A descriptor is shown with its owner and list, whatever was asked for."""
    return plain(descriptor, information | OWNER | DACL)


@fault("get-shows-no-sacl", Security.shown, "MQMQ-2.2.3.sacl-security-information")
def get_shows_no_sacl(plain, self, descriptor, information):
    """The system list of a descriptor is not shown."""
    return plain(descriptor, information & ~SACL)


@fault(
    "set-replaces-every-part", Security.changed, "MQMQ-2.2.3.owner-security-information",
    "MQMQ-2.2.3.dacl-security-information",
)  # fmt: skip
def set_replaces_every_part(plain, self, found, given, information):
    """A set of one part of a descriptor replaces all of them."""
    return given


@fault("set-of-owner-is-ignored", Security.changed, "MQMQ-2.2.3.owner-security-information")
def set_of_owner_is_ignored(plain, self, found, given, information):
    """A set of the owner changes nothing."""
    return plain(found, given, information & ~OWNER)


@fault("set-of-group-sets-the-owner", Security.changed, "MQMQ-2.2.3.group-security-information")
def set_of_group_sets_the_owner(plain, self, found, given, information):
    """A set of the group sets the owner."""
    return replace(found, owner=given.group) if information == 2 else plain(found, given, information)


@fault("set-adds-entries", Security.changed, "MQMQ-2.2.3.dacl-security-information")
def set_adds_entries(plain, self, found, given, information):
    """A set of the list adds its entries to those that are there."""
    after = plain(found, given, information)
    if not information & DACL or not found.dacl or not given.dacl:
        return after
    return replace(after, dacl=listed(*entries_of(found.dacl), *entries_of(given.dacl)))


@fault("sacl-needs-no-privilege", Security.need_privilege, "MQMQ-2.4.mq-error-privilege-not-held")
def sacl_needs_no_privilege(plain, self, privilege):
    """Everybody may read and set the system list."""


@fault("small-buffer-is-enough", Security.get, "MQMP-3.1.4.7.too-small")
def small_buffer_is_enough(plain, self, target, information, room):
    """A descriptor is given out although the caller has not room enough for it."""
    return plain(target, information, None)


@fault("length-needed-is-that-of-the-room", Security.get, "MQMP-3.1.4.7.length-needed")
def length_needed_is_that_of_the_room(plain, self, target, information, room):
    """A refusal for lack of room tells the room that the caller has, not what it needs."""
    try:
        return plain(target, information, room)
    except MqError as failure:
        if failure.status == MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL:
            raise MqError(failure.status, {"length_needed": room}) from None
        raise


@fault(
    "descriptors-end-with-the-process", Store.put_queue, "MQDMPR-3.1.1.2.private-attributes-persistent",
    "MQDMPR-3.1.1.2.security",
)  # fmt: skip
def descriptors_end_with_the_process(plain, self, row):
    """After a restart, a queue has the descriptor that the user who may do everything would have given it."""
    plain(replace(row, properties={name: one for name, one in row.properties.items() if name != "descriptor"}))


# Descriptors of new queues.


def _new(name, says, *breaks):
    """Register a fault of what a new queue has."""
    return fault(name, Security.default, *(_NEW + each for each in breaks), says=says)


@_new(
    "supplied-owner-is-ignored", "The owner in a descriptor that was supplied is ignored.",
    "supplied-owner", "supplied-parts",
)  # fmt: skip
def supplied_owner_is_ignored(plain, self, creator, supplied):
    return plain(creator, None if supplied is None else replace(supplied, owner=None))


@_new(
    "supplied-list-is-ignored", "The list in a descriptor that was supplied is ignored.", "supplied-dacl",
    "supplied-parts",
)  # fmt: skip
def supplied_list_is_ignored(plain, self, creator, supplied):
    return plain(creator, None if supplied is None else replace(supplied, dacl=None))


@_new(
    "supplied-system-list-is-ignored", "The system list that was supplied is ignored.", "supplied-sacl",
    "supplied-parts",
)  # fmt: skip
def supplied_system_list_is_ignored(plain, self, creator, supplied):
    return plain(creator, None if supplied is None else replace(supplied, sacl=None))


@_new("supplied-list-gets-the-default-too", "A list that was supplied gets the default entries too.", "supplied-dacl")
def supplied_list_gets_the_default_too(plain, self, creator, supplied):
    made = plain(creator, supplied)
    if supplied is None or not supplied.dacl:
        return made
    owner = made.owner or creator.sid
    return replace(made, dacl=listed(*entries_of(supplied.dacl), *self.default_entries(owner, creator)))


@_new("new-queue-belongs-to-the-manager", "The owner of a queue is the machine's account.", "caller-owner")
def new_queue_belongs_to_the_manager(plain, self, creator, supplied):
    made = plain(creator, supplied)
    return made if supplied is not None and supplied.owner else replace(made, owner=MACHINE)


@_new("stranger-owns-its-queue", "A creator who is no domain user owns its queue.", "anonymous-owner")
def stranger_owns_its_queue(plain, self, creator, supplied):
    made = plain(creator, supplied)
    return replace(made, owner=creator.sid) if made.owner == ANONYMOUS else made


def _entries(name, says, *breaks):
    """Register a fault of the entries of a default list."""
    return fault(name, Security.default_entries, *(_NEW + each for each in breaks), says=says)


@_entries("guests-are-domain-users", "A guest's queue is for its owner.", "world-all")
def guests_are_domain_users(plain, self, owner, user):
    return plain(owner, replace(user, sid=f"{user.sid}-1") if user.guest else user)


@_entries("world-may-do-everything", "Everybody may do everything with a new queue.", "world-properties", "world-entry")
def world_may_do_everything(plain, self, owner, user):
    return (replace(one, mask=ALL) if one.sid == EVERYONE else one for one in plain(owner, user))


@_entries("world-sees-no-permissions", "Everybody may read properties alone.", "world-properties", "world-entry")
def world_sees_no_permissions(plain, self, owner, user):
    for one in plain(owner, user):
        yield replace(one, mask=one.mask & ~GET_PERMISSIONS) if one.sid == EVERYONE and one.mask != ALL else one


@_entries("owner-cannot-take-ownership", "An owner has not all rights.", "owner-all", "owner-entry")
def owner_cannot_take_ownership(plain, self, owner, user):
    return (replace(one, mask=one.mask & 0xFFFF) if one.sid == owner else one for one in plain(owner, user))


@_entries("owner-has-no-entry", "A new queue has no entry for its owner.", "owner-entry", "owner-all")
def owner_has_no_entry(plain, self, owner, user):
    return (one for one in plain(owner, user) if one.sid != owner or owner == ANONYMOUS)


@_entries("machine-has-no-entry", "A new queue has no entry for the machine.", "machine-entry", "machine-properties")
def machine_has_no_entry(plain, self, owner, user):
    return (one for one in plain(owner, user) if one.sid != MACHINE)


@_entries(
    "machine-may-change-permissions", "The machine may change permissions.", "machine-properties",
    "machine-entry",
)  # fmt: skip
def machine_may_change_permissions(plain, self, owner, user):
    for one in plain(owner, user):
        yield replace(one, mask=GET_PERMISSIONS | CHANGE_PERMISSIONS) if one.sid == MACHINE else one


@_entries("strangers-get-an-entry", "A creator who is no domain user gets all rights.", "owner-all")
def strangers_get_an_entry(plain, self, owner, user):
    yield from plain(owner, user)
    if not user.domain_user:
        yield Entry(0, ALL, user.sid)


# Messages over HTTP.

_OBJECT: Final = "MQAC-3.10.4.1.26.1."
_WRITE, _ANONYMOUS = f"{_NEW}srmp-write", f"{_NEW}anonymous-entry"
_OBJECT_WRITE, _OBJECT_ENTRY = (
    f"{_OBJECT}messages-msmq-soap-srmp",
    f"{_OBJECT}nonzero-anonymous-access-access-allowed-ace",
)


_ONE_MASK: Final[dict[str, Any]] = {
    "first_seen_as": (f"{_NEW}world-properties",),
    "because": "The entry for everybody has one mask, in which the right is missing.",
}


@fault("http-gives-no-right", Security.over_http, _WRITE, _OBJECT_WRITE)
def http_gives_no_right(plain, self):
    """Nobody gets a right on a new queue because messages can come over HTTP."""
    return 0


@fault("anonymous-writes-without-an-entry", Security.default_entries, _ANONYMOUS, _OBJECT_ENTRY)
def anonymous_writes_without_an_entry(plain, self, owner, user):
    """A new queue has no entry for the anonymous logon."""
    return (one for one in plain(owner, user) if one.sid != ANONYMOUS)


@fault("world-may-not-write-over-http", Security.default_entries, _WRITE, _OBJECT_WRITE, **_ONE_MASK)
def world_may_not_write_over_http(plain, self, owner, user):
    """The right to send over HTTP is the anonymous logon's alone."""
    for one in plain(owner, user):
        yield replace(one, mask=one.mask & ~WRITE_MESSAGE) if one.sid == EVERYONE and one.mask != ALL else one
