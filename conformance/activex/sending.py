"""Sending by objects: the messages that a plan has sent, their properties, and the acknowledgments they ask for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from conformance.activex.expected import Held, Invoke, Readings, Seen
from conformance.activex.members import Member, flags, requirements
from conformance.activex.message_queues import Kept, Messages
from conformance.activex.queue_info import accepted
from conformance.activex.queue_store import Names, Store, date, plain_guid
from conformance.activex.step import ANY_FAILURE, ANY_STATUS, Choice, Option, Shape, one, refused
from conformance.activex.tables import CLASSES
from conformance.activex.tables_message import NULL_GUID
from conformance.activex.transactions import IMPLEMENTATION, TRANSACTION, Transactions
from conformance.activex.transactions import cell as transaction_cell
from conformance.activex.values import E_INVALIDARG, MISSING, S_OK, Variant, hollow, long, octets, short, text, truth
from conformance.spec.constants import hresults

CONNECTED: Final = frozenset({"Class", "SenderIdentifier", "SymmetricKey", "Signature", "AuthenticationProviderName"})
"""Attributes that a client may only put together with a connector type."""


@dataclass(frozen=True, slots=True)
class Post:
    """A message as it was sent. sender: the client's message object. values: what was put, by attribute. queues: the
    queues it names. attached: the security context was attached before. transaction: of the send, until it ends.
    alone: no other message can be part of that. shows: requirements that its arrival shows. report: the class of an
    acknowledgment, about: the number of the message that it acknowledges.
    """

    sender: str
    number: int
    values: Mapping[str, Variant]
    queues: Mapping[str, Kept]
    transactional: bool = False
    attached: bool = False
    transaction: str | None = None
    alone: bool = True
    shows: Names = ()
    report: int | None = None
    about: int | None = None


@dataclass(frozen=True, slots=True)
class Posts:
    """The messages of a plan. boxes: queue to its messages. opened: queue object to its queue and access. put: message
    object to the attributes that were put. sent, received: message object to the message that it is. absent: queue to
    the requirements that it shows when no message is found. seen: what was shown of a message, by number and attribute.
    right: getters that have shown rightly what a client had put. begun: message objects of which a Send has come to the
    steps that set properties, with whether one of these Sends has succeeded.
    """

    boxes: Mapping[str, tuple[Post, ...]] = field(default_factory=dict)
    opened: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    put: Mapping[str, frozenset[str]] = field(default_factory=dict)
    attached: frozenset[str] = frozenset()
    sent: Mapping[str, Post] = field(default_factory=dict)
    received: Mapping[str, Post] = field(default_factory=dict)
    absent: Mapping[str, Names] = field(default_factory=dict)
    seen: Mapping[tuple[int, str], Variant] = field(default_factory=dict)
    count: int = 0
    right: frozenset[str] = frozenset()
    begun: Mapping[str, bool] = field(default_factory=dict)

    def first(self, key: str) -> Post | None:
        """Return the message that a receive from a queue finds."""
        return next((post for post in self.boxes.get(key, ()) if post.transaction is None), None)

    def with_put(self, name: str, attribute: str) -> Posts:
        """Return this after a put."""
        return replace(self, put={**self.put, name: self.put.get(name, frozenset()) | {attribute}})

    def with_sent(self, key: str, post: Post) -> Posts:
        """Return this after a message was sent to a queue."""
        boxes = {**self.boxes, key: (*self.boxes.get(key, ()), post)}
        absent = {**self.absent, key: post.shows} if post.transaction is not None else self.absent
        return replace(self, boxes=boxes, sent={**self.sent, post.sender: post}, count=self.count + 1, absent=absent)

    def with_received(self, key: str, name: str | None, *, stays: bool = False) -> Posts:
        """Return this after the first message of a queue was received as this object, or peeked at: it stays."""
        post = self.first(key)
        if post is None:
            return self
        left = tuple(one for one in self.boxes[key] if stays or one is not post)
        boxes = {**self.boxes, key: left}
        received = self.received if name is None else {**self.received, name: post}
        return replace(self, boxes=boxes, received=received)

    def forgotten(self, key: str) -> Posts:
        """Return this without a queue that lost messages of which nobody tells which: nothing is judged of it then."""
        boxes = {name: posts for name, posts in self.boxes.items() if name != key}
        return replace(self, boxes=boxes, opened={name: one for name, one in self.opened.items() if one[0] != key})

    def with_report(self, key: str, post: Post, report: int, shows: Names) -> Posts:
        """Return this with an acknowledgment of a message in its administration queue."""
        acknowledgment = Post("", self.count, {}, {}, shows=shows, report=report, about=post.number)
        boxes = {**self.boxes, key: (*self.boxes.get(key, ()), acknowledgment)}
        return replace(self, boxes=boxes, count=self.count + 1)

    def without_report(self, key: str, shows: Names) -> Posts:
        """Return this after an administration queue got nothing."""
        return replace(self, absent={**self.absent, key: shows})

    def ended(self, transaction: str, *, commits: bool, shows: Names) -> Posts:
        """Return this after a transaction ended: its messages are there, or gone. shows: requirements of that."""
        boxes: dict[str, tuple[Post, ...]] = {}
        absent = dict(self.absent)
        for key, posts in self.boxes.items():
            kept = []
            for post in posts:
                if post.transaction != transaction:
                    kept.append(post)
                elif commits:
                    kept.append(replace(post, transaction=None, shows=(*shows, *post.shows)))
                else:
                    absent[key] = (*shows, *post.shows)
            boxes[key] = tuple(kept)
        return replace(self, boxes=boxes, absent=absent)


ARRIVAL, RECEIVE = 1, 2
REPORTS: Final = {ARRIVAL: 0x0002, RECEIVE: 0x4000}
"""Flag of MQMSGACKNOWLEDGEMENT to the class of the message that it asks for."""


def reported(posts: Posts, post: Post, store: Store, flag: int) -> Posts:
    """Return the messages after one has arrived, or was received. flag: of the acknowledgment that this causes."""
    asked = post.values.get("AcknowledgementsRequested", long(0)).value
    kept = post.queues.get("AdministrationQueueFormatName")
    if kept is None or post.transactional or post.report is not None:
        return posts
    target = store.target(kept.info)
    if store.queue(target) is None:
        return posts
    names = _asks(asked)
    if asked & flag:
        return posts.with_report(target.key, post, REPORTS[flag], names)
    return posts if posts.first(target.key) is not None else posts.without_report(target.key, names)


def _asks(value: int) -> Names:
    return requirements(CLASSES["MSMQMessage"]["Ack"], "put", f"asks:{value}")


def acknowledgment_demands(member: Member, post: Post, posts: Posts) -> Iterator[Choice]:
    """Yield what a getter shows of an acknowledgment."""
    names = requirements(member, "get", "gives", f"gives:{post.report}")
    if member.kept_as == "Class":
        yield one(names, S_OK, long(post.report or 0))
    elif member.kept_as == "CorrelationIdentifier":
        known = posts.seen.get((post.about or 0, "Identifier"))
        said = "the identifier of the message"
        sample = known or octets(bytes(19) + b"x")
        yield one(names, S_OK, Shape(sample, lambda seen: _is_identifier(seen) and known in (None, seen), said))


def _is_identifier(value: Variant) -> bool:
    return isinstance(value.value, bytes) and len(value.value) == 20 and any(value.value)


MESSAGE: Final = "MSMQMessage"
PEEK: Final = "Peek"
READS: Final = ("Receive", PEEK)
AGAIN: Final = "R-MQAC-send-again"
DEFAULT: Final = "R-MQAC-send-default-transaction"
NUMBER_TYPES: Final = "R-MQAC-send-transaction-type"
CONTEXT: Final = "R-MQAC-transaction-without-context"
TO_CLOSED: Final = "R-MQAC-send-to-closed"
_SEND_ACCESS: Final = 2
_NONE, _SINGLE = 0, 3
_CALLERS: Final = frozenset({1, 2})
_NUMBERED: Final = frozenset({"I2", "EMPTY", "NULL"})
"""Types of a Transaction argument, beside VT_I4, that a client may take for a number or for none."""


def cell(*columns: str) -> Names:
    """Return the requirements of some columns of Send."""
    return requirements(CLASSES[MESSAGE]["Send"], "method", *columns)


def send_demands(
    name: str,
    posts: Posts,
    store: Store,
    held: Mapping[str, Held],
    transactions: Transactions,
    call: Invoke,
) -> Iterator[Choice]:
    """Yield what the text demands of the answer to a Send."""
    why = refusal(name, posts, held, transactions, call)
    if why is not None:
        column, status = why
        fails = refused(cell(column), status)
        converts = why[0] == "check:transaction-type" and call.arguments[1].vt in _NUMBERED
        yield from (_or_taken(choice, call.arguments[1].vt) for choice in fails) if converts else fails
        return
    target = posts.opened.get(str(call.arguments[0].value))
    if target is None:
        return
    queue = store.queues.get(target[0])
    how = call.arguments[1] if len(call.arguments) > 1 else MISSING
    if queue is None or (how.vt in ("DISPATCH", "UNKNOWN") and _transaction(transactions, how) is None):
        return
    names = (*cell("success"), *_of_transaction(how))
    if queue.transactional != _is_transactional(how):
        return
    assumed: tuple[tuple[str, str], ...] = ()
    others: list[Option] = []
    if how == MISSING:
        assumed = ((DEFAULT, "mts"),)
        others.append(Option(cell("check:transaction-type"), ANY_FAILURE, None, ((DEFAULT, "fails"),)))
    if how == MISSING or how.value in _CALLERS:
        assumed = (*assumed, (CONTEXT, "none"))
        others.append(Option((), ANY_FAILURE, None, ((CONTEXT, "fails"),)))
    if name in posts.begun and not _is_connected(held[name]):
        if posts.begun[name]:  # one that failed may have left the properties as they were
            assumed = (*assumed, (AGAIN, "client-puts"))
        code = hresults.MQ_ERROR_MISSING_CONNECTOR_TYPE
        others.append(Option(cell("check:connector"), code, None, ((AGAIN, "every-set"),)))
    usage = ((hresults.MQ_ERROR_TRANSACTION_USAGE, cell("enlists")),)
    yield (Option(names, S_OK, None, assumed, usage), *others)


def _or_taken(refusal: Choice, vt: str) -> Choice:
    """Return a refusal beside the answer of who converts the argument. The first step of Send lets NULL through."""
    if vt == "NULL":
        return (*refusal, Option((), S_OK))
    first = tuple(replace(option, readings=((NUMBER_TYPES, "refused"),)) for option in refusal)
    return (*first, Option((), S_OK, readings=((NUMBER_TYPES, "converted"),)))


def _of_transaction(how: Variant) -> Names:
    if how == MISSING:
        return ()
    return cell("transaction:object" if how.vt == "DISPATCH" else "transaction:number")


def _is_transactional(how: Variant) -> bool:
    return how.vt == "DISPATCH" or (how.vt in ("I4", "I2") and how.value == _SINGLE)


def _transaction(transactions: Transactions, how: Variant) -> str | None:
    of = transactions.stands_for.get(str(how.value))
    return None if of is None or of in transactions.ended else of


def refusal(
    name: str, posts: Posts, held: Mapping[str, Held], transactions: Transactions, call: Invoke
) -> tuple[str, int] | None:
    """Return the column and status of the first precondition that a Send does not meet."""
    target = call.arguments[0]
    put = posts.put.get(name, frozenset())
    if target.value is None:
        return "check:destination", E_INVALIDARG
    if put & CONNECTED and not _is_connected(held[name]):
        return "check:connector", hresults.MQ_ERROR_MISSING_CONNECTOR_TYPE
    provider = held[name].values.get("AuthenticationProviderName")
    if provider is not None and provider.value is None:
        return "check:provider", hresults.MQ_ERROR_INSUFFICIENT_PROPERTIES
    how = call.arguments[1] if len(call.arguments) > 1 else MISSING
    if how.vt not in ("DISPATCH", "UNKNOWN", "I4") and how != MISSING:
        return "check:transaction-type", ANY_FAILURE
    if how.vt in ("DISPATCH", "UNKNOWN") and how.value in held and held[str(how.value)].coclass != TRANSACTION:
        return "check:transaction-type", ANY_FAILURE
    opened = posts.opened.get(str(target.value))
    queue = held.get(str(target.value))
    if queue is None or queue.coclass != "MSMQQueue":
        return None
    may_send = queue.state == "Opened" and (opened is None or opened[1] == _SEND_ACCESS)
    return None if may_send else ("check:enqueue", ANY_FAILURE)


def _is_connected(message: Held) -> bool:
    connector = message.values.get("ConnectorTypeIdentifier")
    return connector is not None and NULL_GUID not in str(connector.value)


def after(
    name: str,
    posts: Posts,
    held: Mapping[str, Held],
    messages: Messages,
    transactions: Transactions,
    call: Invoke,
    seen: Seen,
    own: Kept | None,
) -> Posts:
    """Return the messages after an answered Send. own: the queue that the message was sent to."""
    target = posts.opened.get(str(call.arguments[0].value))
    why = refusal(name, posts, held, transactions, call)
    if seen.status == S_OK or why is None or why[0] == "check:enqueue":
        posts = replace(posts, begun={**posts.begun, name: posts.begun.get(name, False) or seen.status == S_OK})
    if target is None:
        return posts
    if seen.status != S_OK:
        names = cell(why[0]) if why is not None else ()
        return replace(posts, absent={**posts.absent, target[0]: names})
    how = call.arguments[1] if len(call.arguments) > 1 else MISSING
    of = _transaction(transactions, how) if how.vt == "DISPATCH" else None
    queues = {attribute: kept for (message, attribute), kept in messages.items() if message == name}
    if own is not None:
        queues["DestinationQueueFormatName"] = own
    shows = (*cell("arrives"), *(cell("enlists") if of is not None else ()))
    post = Post(
        name,
        posts.count,
        dict(held[name].values),
        queues,
        _is_transactional(how),
        name in posts.attached,
        of,
        how.vt != "DISPATCH",
        shows,
    )
    return posts.with_sent(target[0], post)


def ended(posts: Posts, transactions: Transactions, name: str, member: str) -> Posts:
    """Return the messages after the transaction of an object was committed or aborted by it."""
    of = transactions.stands_for.get(name)
    if of is None:
        return posts
    commits = member == "Commit"
    column = "commits" if commits else "aborts"
    shows = (*transaction_cell(TRANSACTION, member, column), *transaction_cell(IMPLEMENTATION, member, column))
    return posts.ended(of, commits=commits, shows=shows)


def receiving(name: str, posts: Posts, call: Invoke, known: Collection[str]) -> Iterator[Choice]:
    """Yield what the text demands of a read from the head of a queue that does not wait."""
    target = posts.opened.get(name)
    if target is None or call.member not in READS or target[1] == _SEND_ACCESS:
        return
    post, objects = posts.first(target[0]), tuple(known)
    if post is None:
        value = Shape(Variant("DISPATCH"), lambda seen: not seen.value, "no message")
        yield one(posts.absent.get(target[0], ()), ANY_STATUS, value)
        return

    def holds(seen: Variant) -> bool:
        return seen.vt in ("DISPATCH", "UNKNOWN") and bool(seen.value) and seen.value not in objects

    yield one(post.shows, S_OK, Shape(Variant("DISPATCH", "new"), holds, "the message"))


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


def sent_shown(
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
