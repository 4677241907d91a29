"""Send of MSMQMessage: its preconditions in the order of the text, and whether what it sends arrives (3.17.4.1.48)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

from conformance.activex.cells import requirements
from conformance.activex.choices import ANY_FAILURE, ANY_STATUS, Choice, Option, Shape, one, refused
from conformance.activex.expected import Held, Invoke, Seen
from conformance.activex.message_queues import Kept, Messages
from conformance.activex.posts import CONNECTED, Post, Posts
from conformance.activex.queue_store import Names, Store
from conformance.activex.statuses import E_INVALIDARG, S_OK
from conformance.activex.tables import CLASSES
from conformance.activex.tables_message import NULL_GUID
from conformance.activex.transactions import IMPLEMENTATION, TRANSACTION, Transactions
from conformance.activex.transactions import cell as transaction_cell
from conformance.activex.values import MISSING, Variant
from conformance.spec.constants import hresults

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


def wanted(
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
