"""Properties of a message that was sent: what the client put, what Send set, and what nobody has put (3.17.4.1.48)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID

from conformance.activex.cells import flags, requirements
from conformance.activex.choices import Choice, Option, Shape, one
from conformance.activex.expected import Readings
from conformance.activex.members import Member
from conformance.activex.posts import Post, Posts
from conformance.activex.queue_info import accepted
from conformance.activex.queue_store import Names, Store
from conformance.activex.queue_values import date, plain_guid
from conformance.activex.sending import cell
from conformance.activex.statuses import S_OK
from conformance.activex.tables import CLASSES
from conformance.activex.tables_message import NULL_GUID
from conformance.activex.values import Variant, hollow, long, octets, short, text, truth

TIMERS: Final = "R-MQAC-send-timers"
MEMBERS: Final[Mapping[str, Member]] = CLASSES["MSMQMessage"]
SET_BY_SEND: Final = frozenset({"Identifier", "SourceMachineIdentifier", "SentTime", "SenderIdentifier"})
BOUND: Final = SET_BY_SEND | {"ArrivalTime", "LookupIdentifier"}
"""Attributes whose value is the same whenever it is shown again."""
TIMES: Final = ("TimeToReachQueue", "TimeToBeReceived")
UNPUT: Final = frozenset(
    {
        "PrivLevel",
        "AuthLevel",
        "Delivery",
        "Trace",
        "Priority",
        "Journal",
        "AppSpecific",
        "Ack",
        "Label",
        "IsAuthenticated",
        "IsAuthenticated2",
        "ReceivedAuthenticationLevel",
        "SenderVersion",
        "SenderIdType",
        "AuthenticationProviderType",
        "AuthenticationProviderName",
    }
)
"""Members that show of a received message what they show of a new one, if nobody has put anything."""
NULL: Final = frozenset(
    {"SenderCertificate", "Extension", "DestinationSymmetricKey", "Signature", "SoapEnvelope", "CompoundMessage"}
)
"""Members that show NULL of a received message that has come over no HTTP, if nobody has put anything."""
_INFINITE: Final = 0xFFFFFFFF
_SOME_SID: Final = bytes.fromhex("010100000000000512000000")


def shown(
    member: Member, post: Post, posts: Posts, store: Store, readings: Readings, *, received: bool
) -> Iterator[Choice]:
    """Yield what a getter shows of a message. received: the object is the one that a read gave, not the sender's."""
    attribute = member.kept_as or ""
    gives = requirements(member, "get", "gives")
    yield one(requirements(member, "get", "success"))
    if attribute in SET_BY_SEND:
        value = _set(attribute, post, posts, store)
        names = cell(f"sets:{attribute}") if attribute != "SenderIdentifier" or post.attached else ()
        if value is not None:
            yield one((*names, *gives), S_OK, value)
    elif attribute in TIMES:
        yield _times(attribute, post, gives, readings)
    elif attribute == "Class":
        put = post.values.get("Class")
        names = cell("sets:Class") if put is None else ()
        yield one((*names, *gives), S_OK, put or long(0))
    elif received:
        yield from _received(member, post, posts, store, gives)


def _received(member: Member, post: Post, posts: Posts, store: Store, gives: Names) -> Iterator[Choice]:
    attribute = member.kept_as or ""
    put = post.values.get(attribute)
    if attribute == "ArrivalTime":
        yield one(gives, S_OK, date(posts.seen.get((post.number, attribute)), store.now))
    elif attribute == "LookupIdentifier":
        yield one(gives, S_OK, _lookup(post, posts))
    elif attribute == "TransactionalMessageSequenceIdentifier":
        if post.transactional:
            yield one(gives, S_OK, _object_identifier(store, "the sequence identifier of a transaction", ()))
    elif attribute in ("FirstInTransaction", "LastInTransaction"):
        if post.alone:
            value = truth(post.transactional) if member.vt == "BOOL" else short(int(post.transactional))
            case = "gives:true" if post.transactional else "gives:false"
            yield one((*requirements(member, "get", case), *gives), S_OK, value)
    elif member.name == "BodyLength":
        if put is None or put.vt in ("BSTR", "ARRAY"):
            yield one(gives, S_OK, long(_length(put)))
    elif put is not None:
        case = "gives:text" if put.value else "gives:null"
        names = (*gives, *(requirements(member, "get", case) if put.vt == "BSTR" else ()))
        if member.name in posts.right:  # it shows what is there: what is there is wrong
            names = (*requirements(member, "get", "initial"), *names)
        if attribute == "ConnectorTypeIdentifier":
            yield one(names, S_OK, _same_guid(put))
        else:
            yield from _flags(member, put)
            yield one(names, S_OK, put)
    elif member.name in UNPUT and member.initial is not None:
        case = "gives:true" if member.initial.value else "gives:false"
        yield from _flags(member, member.initial)
        yield one((*gives, *requirements(member, "get", case)), S_OK, member.initial)
    elif member.name in NULL and not post.attached:
        yield one(gives, S_OK, Shape(Variant("EMPTY"), hollow, "any form of NULL"))
    elif attribute == "ConnectorTypeIdentifier":
        yield one(gives, S_OK, _same_guid(text(f"{{{NULL_GUID}}}")))
    elif attribute == "CorrelationIdentifier":
        said = "no correlation identifier"
        yield one(gives, S_OK, Shape(octets(bytes(20)), lambda seen: hollow(seen) or not any(seen.value), said))


def _flags(member: Member, value: Variant) -> Iterator[Choice]:
    """Yield a choice for each flag of which a getter's value is made."""
    for flag, names in flags(member, "get").items():

        def holds(seen: Variant, flag: int = flag) -> bool:
            return isinstance(seen.value, int) and not (seen.value ^ value.value) & flag

        yield one(names, S_OK, Shape(value, holds, f"{value.value}, as far as the flag {flag} goes"))


def _same_guid(value: Variant) -> Shape:
    wanted = plain_guid(value)
    return Shape(value, lambda seen: plain_guid(seen) == wanted, "the same GUID")


def _length(body: Variant | None) -> int:
    """Return how many bytes a body of bytes or text has."""
    if body is None or body.value is None:
        return 0
    if isinstance(body.value, bytes):
        return len(body.value)
    return len(str(body.value).encode("utf-16-le"))


def _set(attribute: str, post: Post, posts: Posts, store: Store) -> Variant | Shape | None:
    first = posts.seen.get((post.number, attribute))
    if attribute == "SourceMachineIdentifier":
        return Shape(text(store.manager), lambda seen: plain_guid(seen) == store.manager.casefold(), store.manager)
    if attribute == "SentTime":
        return date(first, store.now)
    if attribute == "SenderIdentifier":
        put = post.values.get(attribute)
        if put is not None or post.values.get("SenderIdentifierType", long(1)) != long(1):
            return put
        sample = first or octets(_SOME_SID)
        return Shape(
            sample,
            lambda seen: isinstance(seen.value, bytes) and len(seen.value) >= 8 and first in (None, seen),
            "the SID of the caller",
        )
    others = tuple(value for (number, what), value in posts.seen.items() if what == attribute and number != post.number)
    if first is not None:
        return first
    return _object_identifier(store, "an identifier that no other message has", others, post.number)


def _object_identifier(store: Store, said: str, others: tuple[Variant, ...], number: int = 0) -> Shape:
    lineage = UUID(store.manager).bytes_le

    def holds(seen: Variant) -> bool:
        return (
            isinstance(seen.value, bytes)
            and len(seen.value) == 20
            and seen.value.startswith(lineage)
            and seen not in others
        )

    return Shape(octets(lineage + (number + 1).to_bytes(4, "little")), holds, said)


def _lookup(post: Post, posts: Posts) -> Shape:
    others = {
        value for (number, what), value in posts.seen.items() if what == "LookupIdentifier" and number != post.number
    }

    def holds(seen: Variant) -> bool:
        digits = seen.vt == "BSTR" and re.fullmatch("[1-9][0-9]*", seen.value or "") is not None
        return digits and seen not in others

    return Shape(text(str(2**56 + post.number)), holds, "a number in a text")


def _times(attribute: str, post: Post, gives: Names, readings: Readings) -> Choice:
    reach, receive = ((post.values.get(one) or long(_INFINITE)).value & _INFINITE for one in TIMES)
    pairs = {"reach-shortened": (min(reach, receive), receive), "receive-lengthened": (reach, max(reach, receive))}
    names = cell("sets:TimeToBeReceived") if reach > receive else ()
    words = accepted(readings, TIMERS, *pairs)
    at = TIMES.index(attribute)
    return tuple(Option((*names, *gives), S_OK, long(pairs[word][at]), ((TIMERS, word),)) for word in words)
