"""MSMQQueue: its members (MC-MQAC 3.11.4.1), their preconditions in the order of the text, and what they do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.activex.members import INFINITE, Argument, Check, Event, Member, Slot, left_out, property_slots
from conformance.activex.values import E_INVALIDARG, OLE_E_BLANK, Variant, truth
from conformance.spec.constants import hresults

COCLASS: Final = "MSMQQueue"
INTERFACE: Final = "IMSMQQueue4"
SECTION: Final = "3.11.4.1"
MTS_TRANSACTION: Final = Variant("I4", 1)

BLANK: Final = Check("blank", OLE_E_BLANK)
CLOSED: Final = Check("closed", hresults.MQ_ERROR_INVALID_HANDLE)
MAY_RECEIVE: Final = Check("access-receive", hresults.MQ_ERROR_ACCESS_DENIED)
MAY_PEEK: Final = Check("access-peek", hresults.MQ_ERROR_ACCESS_DENIED)
NO_LOOKUP_IDENTIFIER: Final = Check("lookup-identifier")
TRANSACTION_TYPE: Final = Check("transaction-type")
CURSOR_NAME: Final = Check("cursor-name", E_INVALIDARG)
NO_EVENT: Final = Check("no-event", E_INVALIDARG)
CURSOR_UNREAD: Final = Check("cursor-unread", hresults.MQ_ERROR_ILLEGAL_CURSOR_ACTION)
MESSAGE_GONE: Final = Check("message-gone", hresults.MQ_ERROR_MESSAGE_ALREADY_RECEIVED)

TRANSACTION: Final = left_out("Transaction", MTS_TRANSACTION)
WANT_DESTINATION: Final = left_out("WantDestinationQueue", truth(False))
WANT_BODY: Final = left_out("WantBody", truth(True))
WANT_CONNECTOR: Final = left_out("WantConnectorType", truth(False))
TIMEOUT: Final = left_out("ReceiveTimeout", INFINITE)
LOOKUP_IDENTIFIER: Final = Argument("LookupId", "VARIANT")


def _get(name: str, opnum: int, argument: str, vt: str, *checks: Check, unimplemented: bool = False) -> Member:
    slots = tuple(property_slots(SECTION, vt, get=(opnum, argument)))
    return Member(COCLASS, INTERFACE, name, slots, vt, checks=checks, unimplemented=unimplemented)


def _method(name: str, opnum: int, *arguments: Argument, checks: tuple[Check, ...], event: Event | None) -> Member:
    slots = (Slot("method", opnum, f"{SECTION}.{opnum - 6}", arguments),)
    return Member(COCLASS, INTERFACE, name, slots, checks=checks, event=event)


def _reads() -> Iterator[Member]:
    """Yield the reads in order: those of the first version, those of the others, those by lookup identifier."""
    plain = (
        ("Receive_v1", 13),
        ("Peek_v1", 14),
        ("ReceiveCurrent_v1", 17),
        ("PeekNext_v1", 18),
        ("PeekCurrent_v1", 19),
        ("Receive", 20),
        ("Peek", 21),
        ("ReceiveCurrent", 22),
        ("PeekNext", 23),
        ("PeekCurrent", 24),
    )
    events = {"Receive": "receive", "ReceiveCurrent": "receive", "PeekNext": "peek_next"}
    for name, opnum in plain:
        stem = name.removesuffix("_v1")
        receives, moves = stem.startswith("Receive"), stem.endswith(("Current", "Next"))
        arguments = (*((TRANSACTION,) if receives else ()), WANT_DESTINATION, WANT_BODY, TIMEOUT)
        if stem == name:
            arguments = (*arguments, WANT_CONNECTOR)
        checks = [BLANK, CLOSED, MAY_RECEIVE if receives else MAY_PEEK]
        if receives:
            checks.append(TRANSACTION_TYPE)
        if moves:
            checks.append(CURSOR_UNREAD if stem == "PeekNext" else MESSAGE_GONE)
        event = Event(f"messages.{events.get(stem, 'peek')}", cursor=moves)
        yield _read(name, opnum, *arguments, checks=tuple(checks), event=event)
    places = ("", "Next", "Previous", "First", "Last")
    for opnum, (verb, place) in enumerate(((verb, place) for verb in ("Receive", "Peek") for place in places), 27):
        yield _by_lookup_identifier(f"{verb}{place}ByLookupId", opnum, place in ("", "Next", "Previous"))
    yield _by_lookup_identifier("ReceiveByLookupIdAllowPeek", 39, True)


def _read(name: str, opnum: int, *arguments: Argument, checks: tuple[Check, ...], event: Event) -> Member:
    result = Argument("ppmq" if name == "PeekLastByLookupId" else "ppmsg", "DISPATCH", result=True)
    return _method(name, opnum, *arguments, result, checks=checks, event=event)


def _by_lookup_identifier(name: str, opnum: int, given: bool) -> Member:
    """given: the client tells the identifier, which must not be 0."""
    receives = name.startswith("Receive")
    arguments = (*((TRANSACTION,) if receives else ()), WANT_DESTINATION, WANT_BODY, WANT_CONNECTOR)
    checks = (BLANK, CLOSED, MAY_RECEIVE, TRANSACTION_TYPE) if receives else (BLANK, CLOSED, MAY_PEEK)
    if given:
        arguments, checks = (LOOKUP_IDENTIFIER, *arguments), (NO_LOOKUP_IDENTIFIER, *checks)
    verb = "receive" if receives else "peek"
    return _read(name, opnum, *arguments, checks=checks, event=Event(f"messages.{verb}_by_lookup_id"))


_OTHER_MEMBERS: Final = (
    _get("Access", 7, "plAccess", "I4", BLANK),
    _get("ShareMode", 8, "plShareMode", "I4", BLANK),
    _get("QueueInfo", 9, "ppqinfo", "DISPATCH", BLANK),
    _get("Handle", 10, "plHandle", "I4", BLANK),
    _get("IsOpen", 11, "pisOpen", "I2", BLANK),
    _method("Close", 12, checks=(BLANK,), event=Event("queues.close")),
    _method(
        "EnableNotification",
        15,
        Argument("Event", "DISPATCH"),
        left_out("Cursor"),
        left_out("ReceiveTimeout", INFINITE),
        checks=(CURSOR_NAME, BLANK, CLOSED, NO_EVENT, MAY_PEEK),
        event=Event("messages.peek"),
    ),
    _method("Reset", 16, checks=(BLANK, CLOSED), event=None),
    _get("Properties", 25, "ppcolProperties", "DISPATCH", unimplemented=True),
    _get("Handle2", 26, "pvarHandle", "VARIANT", BLANK),
    _method("Purge", 37, checks=(BLANK, CLOSED, MAY_RECEIVE), event=Event("queues.purge")),
    _get("IsOpen2", 38, "pisOpen", "BOOL", BLANK),
)

MEMBERS: Final[tuple[Member, ...]] = tuple(
    sorted((*_OTHER_MEMBERS, *_reads()), key=lambda member: member.slots[0].opnum)
)
