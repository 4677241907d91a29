"""Stories of security descriptors, and of calls as several users."""

from __future__ import annotations

import base64
import struct
from typing import Any

from embedded_stories import NAME, Teller, of, started_again
from embedded_talk import Talk

from conformance.embedded.security import EVERYONE, USERS, Entry, SecurityDescriptor, listed

PLAIN, MEMBER, MIGHTY, GUEST, STRANGER = USERS
[STAFF] = USERS[MEMBER].groups
QUEUE, MACHINE = {"type": "queue", "format_name": NAME}, {"type": "machine"}
GUID = "db0760c6-b874-5485-9d0b-bf112870b534"
ALL, EVERY_BIT = 0xF003F, 15
ALLOW, DENY, AUDIT = 0, 1, 2
RIGHTS = (*(1 << bit for bit in (0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19)), 0x3, 0xA, 0xC0, 0x20020, 0x2002B, 0x200E3)


def told(descriptor: SecurityDescriptor) -> str:
    """A descriptor as the protocol has it."""
    return base64.b64encode(descriptor.packed()).decode("ascii")


def list_of(*entries: Entry) -> str:
    """A descriptor with a list of its own and nothing else."""
    return told(SecurityDescriptor(dacl=listed(*entries)))


def _tries(tell: Teller, caller: str) -> None:
    """Everything for which a right of the queue is needed, the last two for the worst."""
    user = {"as": caller}
    capitals, journal = NAME.upper(), f"{NAME};JOURNAL"
    for name, access in ((NAME, "send"), (NAME, "peek"), (NAME, "receive"), (journal, "receive"), (capitals, "send")):
        tell("queues.open", format_name=name, access=access, **user)
    tell("queues.get", format_name=NAME, properties=["PROPID_Q_LABEL"], **user)
    tell("queues.set", format_name=NAME, properties={"PROPID_Q_LABEL": "x"}, **user)
    for information in (0, 1, 2, 4, 8, 15):
        tell("security.get", target=QUEUE, information=information, **user)
    tell("security.set", target=QUEUE, information=1, descriptor=told(SecurityDescriptor(owner=caller)), **user)
    tell("security.set", target=QUEUE, information=8, descriptor=told(SecurityDescriptor(sacl=listed())), **user)


def _of_list(*entries: Entry, owner: str | None = None, none: bool = False) -> None:
    """Register the story of a queue with this list, which a member of the staff and another try."""

    @of("security")
    def listed_so(talk: Talk) -> list[Any]:
        tell = Teller(talk)
        for name in ("q", "second"):
            tell("queues.create", path_name=f"HOST\\private$\\{name}", **{"as": MIGHTY})
        given = told(SecurityDescriptor(dacl=b"")) if none else list_of(*entries)
        tell("security.set", target=QUEUE, information=4, descriptor=given)
        if owner is not None:
            tell("security.set", target=QUEUE, information=1, descriptor=told(SecurityDescriptor(owner=owner)))
        _tries(tell, MEMBER)
        _tries(tell, PLAIN)
        tell("queues.delete", format_name=NAME, **{"as": MEMBER})
        return tell.seen


_of_list()
_of_list(none=True)
_of_list(owner=MEMBER)
_of_list(Entry(ALLOW, ALL, EVERYONE))
_of_list(Entry(ALLOW, ALL, STAFF), Entry(DENY, 0x2, STAFF))
_of_list(Entry(DENY, 0x2, STAFF), Entry(ALLOW, ALL, MEMBER))
_of_list(Entry(ALLOW, 0x1, MEMBER), Entry(ALLOW, 0x2, STAFF))
_of_list(Entry(ALLOW, ALL, MEMBER, 0x0B))
_of_list(Entry(ALLOW, ALL, MEMBER, 0x10))


@of("security")
def each_right_alone(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    tell("queues.create", path_name="HOST\\private$\\q")
    machine = [f"MACHINE={GUID};{name}" for name in ("DEADLETTER", "JOURNAL")]
    for right in RIGHTS:
        tell("security.set", target=QUEUE, information=4, descriptor=list_of(Entry(ALLOW, right, PLAIN)))
        tell("security.set", target=MACHINE, information=4, descriptor=list_of(Entry(ALLOW, right, PLAIN)))
        _tries(tell, PLAIN)
        user = {"as": PLAIN}
        for name in machine:
            for access in ("peek", "receive"):
                tell("queues.open", format_name=name, access=access, **user)
        tell("management.get", target=MACHINE, properties=[1], **user)
        tell("management.act", target=MACHINE, action="TIDY", **user)
        tell("security.get", target=MACHINE, information=4, **user)
        owned = told(SecurityDescriptor(owner=PLAIN))
        tell("security.set", target=MACHINE, information=1, descriptor=owned, **user)
        tell("security.set", target=MACHINE, information=4, descriptor=list_of(), **user)
        tell("queues.create", path_name=f"HOST\\private$\\q{right}", **user)
        tell("security.set", target=QUEUE, information=4, descriptor=list_of(), **user)
        tell("security.set", target=QUEUE, information=4, descriptor=list_of(Entry(ALLOW, right, PLAIN)))
        tell("queues.delete", format_name=NAME, **user)
        tell("queues.create", path_name="HOST\\private$\\q")
    return tell.seen


def _shows(tell: Teller, name: str) -> None:
    tell("security.get", target={"type": "queue", "format_name": f"DIRECT=OS:HOST\\private$\\{name}"}, information=7)


@of("security")
def new_queues(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    lists = listed(Entry(ALLOW, 1, PLAIN)), listed(Entry(AUDIT, 2, PLAIN))
    supplied = (
        None,
        SecurityDescriptor(owner=MEMBER),
        SecurityDescriptor(owner=STRANGER),
        SecurityDescriptor(dacl=lists[0]),
        SecurityDescriptor(sacl=lists[1]),
        SecurityDescriptor(MEMBER, STAFF, *lists),
    )
    for number, given in enumerate(supplied):
        for at, caller in enumerate((PLAIN, GUEST, STRANGER)):
            properties = {} if given is None else {"PROPID_Q_SECURITY": told(given)}
            name = f"q{number}{at}"
            tell("queues.create", path_name=f"HOST\\private$\\{name}", properties=properties, **{"as": caller})
            _shows(tell, name)
            target = {"type": "queue", "format_name": f"DIRECT=OS:HOST\\private$\\{name}"}
            tell("security.get", target=target, information=8)
    return tell.seen


@of("security")
def taken_away(talk: Talk) -> list[Any]:
    """What callers do with handles that they opened before the rights of their queue were taken away."""
    tell = Teller(talk)
    tell("queues.create", path_name="HOST\\private$\\q", **{"as": PLAIN})
    send, receive = talk.open(NAME, "send"), talk.open(NAME)
    into, out = talk.open(f"{NAME};sub", "move"), talk.open(NAME, "move")
    lookup = tell.send(send, "moved").get("lookup_identifier")
    tell("security.set", target=QUEUE, information=4, descriptor=list_of())
    user = {"as": PLAIN}
    tell("messages.send", queue=send, message={}, **user)
    tell("messages.move", queue=out, lookup_identifier=lookup, destination=into, **user)
    for method in ("peek", "receive", "receive_begin"):
        tell(f"messages.{method}", queue=receive, timeout_ms=0, **user)
    tell("messages.receive_by_lookup_id", queue=receive, lookup_identifier=lookup, action="current", **user)
    tell("queues.purge", queue=receive, **user)
    tell.counts()
    return tell.seen


@of("security")
def parts(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    tell("queues.create", path_name="HOST\\private$\\q")
    given = SecurityDescriptor(MEMBER, STAFF, listed(Entry(ALLOW, 1, PLAIN)), listed(Entry(AUDIT, 2, PLAIN)))
    for information in (1, 2, 4, 8):
        tell("security.set", target=QUEUE, information=information, descriptor=told(given))
        for asked in (1, 2, 4, 8, 15):
            tell("security.get", target=QUEUE, information=asked)
    tell("security.get", target=QUEUE, information=EVERY_BIT, length=10)
    again = started_again(talk, True)
    later = Teller(again)
    try:
        later("security.get", target=QUEUE, information=EVERY_BIT)
        return [*tell.seen, *later.seen]
    finally:
        again.driver.close()


CAPITALS = {"type": "queue", "format_name": "DIRECT=OS:HOST\\PRIVATE$\\Q"}


@of("security")
def names(talk: Talk) -> list[Any]:
    """A queue named by its number, by capitals and by a dot; who may not create, and who comes too late."""
    tell = Teller(talk)
    denied = list_of(Entry(DENY, 0xF00F7, STAFF), Entry(ALLOW, 0xF00F7, EVERYONE))
    tell("security.set", target=MACHINE, information=4, descriptor=denied)
    for caller in (MEMBER, PLAIN, MIGHTY):
        tell("queues.create", path_name=".\\private$\\q", **{"as": caller})
        tell("queues.open", format_name=f"MACHINE={GUID};DEADLETTER", access="peek", **{"as": caller})
        tell("security.get", target=QUEUE, information=7)
    targets = [{"type": "queue", "format_name": f"PRIVATE={GUID}\\{at:08x}"} for at in range(1, 9)]
    entries = listed(Entry(ALLOW, 1, PLAIN))
    owner = SecurityDescriptor(MEMBER).packed()[20:]
    behind = struct.pack("<BBHIIII", 1, 0, 0x8004, 20 + len(entries), 0, 0, 20) + entries + owner
    for target in (CAPITALS, *targets):
        for given in (told(SecurityDescriptor(owner=GUEST)), base64.b64encode(behind).decode("ascii")):
            tell("security.set", target=target, information=5, descriptor=given)
            tell("security.get", target=QUEUE, information=7)
        tell("security.get", target=target, information=7, **{"as": PLAIN})
    again = started_again(talk, True)
    later = Teller(again)
    try:
        later("security.get", target=QUEUE, information=7)
        return [*tell.seen, *later.seen]
    finally:
        again.driver.close()


FAR, HTTP, MULTICAST = (
    "DIRECT=TCP:192.0.2.7\\private$\\q", "DIRECT=HTTP://192.0.2.7/msmq/q", "MULTICAST=234.1.1.1:800",
)  # fmt: skip


@of("management")
def hardened(talk: Talk) -> list[Any]:
    """Outgoing queues before hardened security, under it, one start later, and behind it."""
    seen: list[Any] = []
    for set_to in (None, True, None, False, None):
        if set_to is not None:
            talk("harden", hardened=set_to)
        if seen:
            talk = started_again(talk, False)
        tell = Teller(talk)
        new = [f"{name}{len(seen)}" for name in (FAR, HTTP, MULTICAST)]
        for name in (FAR, HTTP, MULTICAST, *new):
            looked = {"type": "queue", "format_name": name}
            if name in new or not seen:
                tell.send(talk.open(name, "send"), "m", delivery="recoverable")
            tell("management.get", target=looked, properties=[11])
            tell("management.connection", format_name=name, step="established", addresses=["192.0.2.7"])
            tell("management.get", target=looked, properties=[11])
            tell("management.transfer", format_name=name)
            tell("outgoing.take", format_name=name)
        seen.append(tell.seen)
    talk.driver.close()
    return seen
