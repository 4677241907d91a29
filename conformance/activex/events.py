"""Events: the calls of a queue manager's user that a member of an object stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from conformance.activex.expected import Held, Invoke
from conformance.activex.members import Member
from conformance.activex.tables import CLASSES
from conformance.activex.values import LEFT_OUT, Variant
from conformance.model import Call
from conformance.model.calls import INFINITE
from conformance.model.journals import journal_of
from conformance.model.values import replace, value

ACCESS: Final = {1: "receive", 2: "send", 0x20: "peek"}
"""MQACCESS to the model's access. MQ_ADMIN_ACCESS opens an outgoing queue, which the plans have none of."""
SHARE: Final = {0: "deny_none", 1: "deny_receive"}
DELIVERY: Final = {0: "express", 1: "recoverable"}
NO_TRANSACTION, SINGLE_MESSAGE = 0, 3
DEAD_LETTER: Final = 1
"""The flag of MQMSGJOURNAL for the dead-letter queue."""
OBJECT: Final = frozenset({"DISPATCH", "UNKNOWN"})
_PLACES: Final = {"": "current", "Next": "next", "Previous": "previous", "First": "first", "Last": "last"}


@value
class Link:
    """The things behind an object at the queue manager, by names of the model.

    queue: of MSMQQueueInfo and MSMQQueue. access, cursor, share: of an open MSMQQueue. info: the MSMQQueueInfo that
    has opened it. transaction: of MSMQTransaction. message, read: of a received MSMQMessage, the message that was sent,
    and the call that gave it.
    """

    queue: str = ""
    access: str = ""
    cursor: str = ""
    transaction: str | None = None
    message: str = ""
    read: Invoke | None = None
    share: str = ""
    info: str = ""


@value
class Known:
    """The objects of a client as the calls so far have made them.

    held, links: by the client's name of an object. lookups: messages whose lookup identifier is known, by name.
    sent: the values that a message had when it was sent, by the model's name for it. right: members that have shown
    rightly what a client had put.
    """

    held: Mapping[str, Held] = field(default_factory=dict)
    links: Mapping[str, Link] = field(default_factory=dict)
    sent: Mapping[str, Mapping[str, Variant]] = field(default_factory=dict)
    right: frozenset[str] = frozenset()

    def link(self, name: str) -> Link:
        """Return what stands behind an object; an empty link if nothing does."""
        return self.links.get(name, Link())

    def linked(self, name: str, link: Link) -> Known:
        """Return this with another link behind an object."""
        return replace(self, links={**self.links, name: link})


class Untold(Exception):
    """Nothing is known of what a call does at the queue manager."""


@value
class Events:
    """The calls that a member stands for. main: the one whose answer the member passes on; the others succeed."""

    main: Call
    before: tuple[Call, ...] = ()
    after: tuple[Call, ...] = ()
    failed: tuple[Call, ...] = ()


def argument(member: Member, call: Invoke, name: str) -> Variant | None:
    """Return an argument of a call: None if the client leaves it out, or the member has no argument of this name."""
    slot = member.slot("method")
    named = [one.name for one in slot.arguments if not one.result] if slot is not None else []
    if name not in named or named.index(name) >= len(call.arguments):
        return None
    value = call.arguments[named.index(name)]
    return None if value == Variant("ERROR", LEFT_OUT) else value


def timeout_ms(member: Member, call: Invoke) -> int:
    """Return the time that a read waits, in milliseconds. A read by lookup identifier does not wait."""
    if member.event is None or member.event.call.endswith("lookup_id"):
        return 0
    value = argument(member, call, "ReceiveTimeout")
    return INFINITE if value is None else int(value.value) & INFINITE


def asks_for(member: Member, call: Invoke, name: str) -> bool:
    """Tell whether a read asks for a property of the message. A member without the argument does not ask."""
    slot = member.slot("method")
    default = next((one.default for one in (slot.arguments if slot else ()) if one.name == name), None)
    value = argument(member, call, name) or default
    return value is not None and bool(value.value)


def events(known: Known, name: str, call: Invoke, gives: str | None) -> Events:
    """Return the calls that a method stands for. Raises Untold where the objects do not tell."""
    held = known.held[name]
    member = CLASSES[held.coclass][call.member]
    if member.event is None and member.name != "Reset":
        raise Untold
    if held.coclass == "MSMQQueueInfo":
        return _of_queue_info(known, name, member, call, gives)
    if held.coclass == "MSMQQueue":
        return _of_queue(known, name, member, call, gives)
    if held.coclass == "MSMQTransactionDispenser":
        return Events(Call("transactions.begin", name=_named(gives)))
    if held.coclass == "MSMQTransaction":
        transaction = known.link(name).transaction
        rows = member.slots[0].arguments
        if transaction is None or any(argument(member, call, row.name) not in (None, row.default) for row in rows):
            raise Untold  # an end that is asked for in another way is refused, and changes nothing
        return Events(Call(member.event.call if member.event else "", transaction=transaction))
    return _of_message(known, name, member, call)


def queue_named(held: Held) -> str:
    """Return the model's name of the queue that an MSMQQueueInfo names. Raises Untold if it is not known here."""
    value = held.values.get("PathName") or held.values.get("QueueFormatName")
    name = str(value.value) if value is not None else ""
    if name.startswith("$system"):
        return name.replace("$system", "SYSTEM")
    if not name.startswith("$"):
        raise Untold
    if name.endswith(";JOURNAL"):
        return journal_of(name.removesuffix(";JOURNAL").replace("$direct", "$path"))
    return name.replace("$direct", "$path")


def _named(gives: str | None) -> str:
    if gives is None:
        raise Untold
    return gives


def _of_queue_info(known: Known, name: str, member: Member, call: Invoke, gives: str | None) -> Events:
    held = known.held[name]
    queue = queue_named(held)
    if member.name == "Create":
        transactional = argument(member, call, "IsTransactional")
        journal = held.values.get("Journaling")
        return Events(
            Call(
                "queues.create",
                queue=queue,
                transactional=transactional is not None and bool(transactional.value),
                journaling=journal is not None and bool(journal.value),
            )
        )
    if member.name == "Delete":
        return Events(Call("queues.delete", queue=queue))
    if member.name != "Open":
        raise Untold
    access, share = ACCESS.get(int(call.arguments[0].value)), SHARE.get(int(call.arguments[1].value))
    if access is None or share is None:
        raise Untold
    handle = _named(gives)
    reads = (Call("cursors.open", name=f"{handle}.0", handle=handle),) if access != "send" else ()
    return Events(Call("queues.open", name=handle, queue=queue, access=access, share=share), after=reads)


def _of_queue(known: Known, name: str, member: Member, call: Invoke, gives: str | None) -> Events:
    link = known.link(name)
    if not link.access or member.name == "EnableNotification":
        raise Untold
    if member.name == "Reset":
        if not link.cursor:
            raise Untold
        return Events(
            Call("cursors.open", name=_next(link.cursor), handle=name),
            before=(Call("cursors.close", cursor=link.cursor),),
        )
    assert member.event is not None
    if not member.event.call.startswith("messages."):
        return Events(Call(member.event.call, handle=name))
    before, after, failed, transaction = _around(known, member, call, gives)
    if member.event.call.endswith("lookup_id"):
        verb = "Receive" if member.name.startswith("Receive") else "Peek"
        place = _PLACES[member.name.removeprefix(verb).partition("ByLookupId")[0]]
        read = Call(member.event.call, handle=name, message=_looked_up(member, call), action=place)
        return Events(replace_transaction(read, transaction), before, after, failed)
    cursor = link.cursor if member.event.cursor else None
    waits = timeout_ms(member, call)
    read = Call(member.event.call, name=gives, handle=name, cursor=cursor, timeout_ms=waits)
    return Events(replace_transaction(read, transaction), before, after, failed)


def replace_transaction(call: Call, transaction: str | None) -> Call:
    """Return the call as part of a transaction."""
    return call if transaction is None else Call.from_json({**call.to_json(), "transaction": transaction})


def _next(cursor: str) -> str:
    name, _, number = cursor.rpartition(".")
    return f"{name}.{int(number) + 1}"


def _looked_up(member: Member, call: Invoke) -> str | None:
    """Return the message whose lookup identifier is given: plans write `$lookup NAME`."""
    value = argument(member, call, "LookupId")
    if value is None:
        return None
    if not isinstance(value.value, str) or not value.value.startswith("$lookup "):
        raise Untold
    return value.value.removeprefix("$lookup ")


def _around(
    known: Known, member: Member, call: Invoke, gives: str | None
) -> tuple[tuple[Call, ...], tuple[Call, ...], tuple[Call, ...], str | None]:
    """Return the calls before, after success and after failure, and the transaction that the event is part of.

    A transaction of the caller (MTS, XA) is none, since the harness has none (R-MQAC-transaction-without-context).
    """
    value = argument(member, call, "Transaction") if _has_transaction(member) else None
    if value is None or (value.vt == "I4" and value.value in (0, 1, 2)):
        return (), (), (), None
    if value.vt == "I4" and value.value == SINGLE_MESSAGE:
        own = f"{gives or member.name}.single"
        begin, commit = Call("transactions.begin", name=own), Call("transactions.commit", transaction=own)
        return (begin,), (commit,), (Call("transactions.abort", transaction=own),), own
    transaction = known.link(str(value.value)).transaction if value.vt in OBJECT else None
    if transaction is None:
        raise Untold
    return (), (), (), transaction


def _has_transaction(member: Member) -> bool:
    return any(one.name == "Transaction" for slot in member.slots for one in slot.arguments)


def message_name(known: Known, name: str) -> str:
    """Return the model's name of the next message that an object sends: that of the object, if it is its first."""
    count = sum(sent.partition("#")[0] == name for sent in known.sent)
    return name if not count else f"{name}#{count}"


def _of_message(known: Known, name: str, member: Member, call: Invoke) -> Events:
    if member.name != "Send":
        raise Untold
    target = argument(member, call, "DestinationQueue")
    if target is None or target.vt not in OBJECT or not known.link(str(target.value)).access:
        raise Untold
    values = known.held[name].values
    message = message_name(known, name)
    before, after, failed, transaction = _around(known, member, call, message)
    priority, delivery = values.get("Priority"), values.get("DeliveryGuarantee")
    journal = int(values["Journaling"].value) if "Journaling" in values else 0
    sent = Call(
        "messages.send",
        message=message,
        handle=str(target.value),
        priority=None if priority is None else int(priority.value),
        delivery=None if delivery is None else DELIVERY[int(delivery.value)],
        dead_letter=bool(journal & DEAD_LETTER),
        live_s=_life_s(values),
    )
    return Events(replace_transaction(sent, transaction), before, after, failed)


def _life_s(values: Mapping[str, Variant]) -> int | None:
    """Return a message's time in seconds. It is known if both times are alike: what one does to the other is open."""
    reach, receive = (values.get(name) for name in ("TimeToReachQueue", "TimeToBeReceived"))
    return int(receive.value) if receive is not None and receive == reach and receive.value > 0 else None
