"""Constraints of the features of reads: receive, peek, peek-next, by lookup identifier, in two phases."""

from __future__ import annotations

from typing import Final

from conformance.histories.features.constraint import Constraint, no

RECEIVE, PEEK, NEXT = "messages.receive", "messages.peek", "messages.peek_next"
BEGIN, END = "messages.receive_begin", "messages.receive_end"
BY_LOOKUP = ("messages.receive_by_lookup_id", "messages.peek_by_lookup_id")
SEEKS = (RECEIVE, PEEK, NEXT, BEGIN)
BY_HANDLE = (*SEEKS, *BY_LOOKUP, "queues.close", "queues.purge", "cursors.open")
_WITH_KINDS = (*BY_HANDLE, END, "cursors.close", "messages.cancel", "queues.delete", "queues.open", "queues.counts")
_FOUND = "only equal lower overtaking"
_MIXED = "lower overtaking"
_HELD = "received sent begun purged moving"
_BY_TRANSACTION = "received sent moving"
_OPEN_CURSORS = "unused available removed locked behind parked"

_SURVIVED = "a purge leaves nothing that survived, and a restart no purged message"
_SEEN = "no cursor and no wait lasts through a restart, and what stands at the message or behind it has seen it since"
_MOVABLE = (*SEEKS, *BY_LOOKUP, "queues.purge")
LEFT_OUT_NAMES = "no section orders the lookup identifiers of copies: left out"
LEFT_OUT_MOVE = "the text does not settle whether a handle for moving has cursors, which cannot read: left out"
LEFT_OUT_BEGUN = "no section says what becomes of a receive that has begun by a closed handle: left out"
_PRIORITY = "all messages of a transactional queue have priority 0"
_NOTHING = "there is no message to ask about"
_DELETED = "a deleted queue has no message"
CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    # Handles and their cursors.
    no(SEEKS, "a handle for send has no cursor", handle="send", cursor=f"{_OPEN_CURSORS} closed"),
    no(SEEKS, "no read by it moves a cursor", handle="move", cursor="available removed locked behind parked"),
    no(SEEKS, "the cursors of a closed handle are closed", handle="closed", cursor=_OPEN_CURSORS),
    no(SEEKS, _DELETED, handle="deleted recreated", cursor="available locked"),
    no(SEEKS, "the call has no cursor that has moved", cursor="none unused closed", before="*"),
    no(SEEKS, "the call has no cursor that has moved", handle="send move closed", before="*"),
    no(SEEKS, _DELETED, handle="deleted", before="older jumped"),
    no(BY_HANDLE, _DELETED, handle="deleted", choice=_FOUND),
    no(BY_HANDLE, _DELETED, handle="deleted", content=_FOUND),
    no(BY_HANDLE, _DELETED, handle="deleted", arrival="*"),
    no(BY_HANDLE, _DELETED, handle="deleted", copies="*"),
    no(BY_HANDLE, _DELETED, handle="deleted", passed=_HELD),
    no(BY_HANDLE, _DELETED, handle="deleted", held=_HELD),
    no(BY_HANDLE, _DELETED, handle="deleted", named="available received begun purged moving"),
    no(BY_HANDLE, _DELETED, handle="deleted", found="near beyond"),
    no(BY_HANDLE, _DELETED, handle="deleted", place="*"),
    no(BY_HANDLE, _DELETED, handle="deleted", priority="*"),
    no(BY_LOOKUP, _DELETED, handle="deleted", cursors="there"),
    no(SEEKS, _DELETED, handle="deleted", others="cursor_there"),
    no(
        SEEKS,
        "a cursor counts as another one while its handle has a queue",
        handle="deleted",
        others="cursor_elsewhere",
    ),
    no(BY_HANDLE, "no read waits on a deleted queue", handle="deleted", waiting="peek receive several"),
    no(BY_HANDLE, "dead-letter queues are not deleted", handle="deleted recreated", kind="dead_letter"),
    no(BY_HANDLE, "nothing opens it for send or move", handle="send move", kind="journal dead_letter"),
    no(BY_HANDLE, "nothing opens a subqueue for send", handle="send", kind="subqueue"),
    no(NEXT, "no section says what a cursor on a handle for send is", handle="send"),
    no((NEXT, "cursors.open"), LEFT_OUT_MOVE, handle="move"),
    no(SEEKS, LEFT_OUT_MOVE, handle="move", cursor=f"{_OPEN_CURSORS} closed"),
    no("queues.close", LEFT_OUT_MOVE, handle="move", cursors="unread on_message several waiting"),
    # Kinds of queues.
    no(_WITH_KINDS, _PRIORITY, kind="transactional", choice=_MIXED),
    no(_WITH_KINDS, _PRIORITY, kind="transactional", content=_MIXED),
    no(_WITH_KINDS, _PRIORITY, kind="transactional", before="jumped"),
    no(_WITH_KINDS, _PRIORITY, kind="transactional", priority="other"),
    no(
        _WITH_KINDS,
        "no transaction takes from such a queue",
        kind="plain journal dead_letter",
        passed="received moving",
    ),
    no(_WITH_KINDS, "no transaction takes from such a queue", kind="plain journal dead_letter", held="received moving"),
    no(
        _WITH_KINDS, "no transaction takes from such a queue", kind="plain journal dead_letter", named="received moving"
    ),
    no(_WITH_KINDS, "no transaction sends to such a queue", kind="subqueue journal dead_letter", passed="sent"),
    no(_WITH_KINDS, "no transaction sends to such a queue", kind="subqueue journal dead_letter", held="sent"),
    no(_WITH_KINDS, "nothing is moved there or from there", kind="journal dead_letter", arrival="moved"),
    no(_WITH_KINDS, "there are no copies of copies", kind="journal dead_letter", copies="*"),
    no(_WITH_KINDS, "a subqueue has no journal", kind="subqueue", copies="journal journal_full"),
    no(_WITH_KINDS, _PRIORITY, choice=_MIXED, passed=_BY_TRANSACTION),
    no(("queues.purge", "queues.close"), _PRIORITY, content=_MIXED, held="received moving"),
    no("queues.purge", _PRIORITY, content=_MIXED, held="sent", handle="receive peek"),
    no("queues.delete", _PRIORITY, content=_MIXED, held=_BY_TRANSACTION),
    no(_MOVABLE, "what is in a subqueue was moved there", kind="subqueue", arrival="sent"),
    no(
        SEEKS,
        "what a transaction sends to such a queue reaches nobody",
        kind="plain",
        passed="sent",
    ),
    no("queues.delete", "what a transaction sends to such a queue reaches nobody", kind="plain", held="sent"),
    # Copies have no names.
    *(
        no(BY_LOOKUP, LEFT_OUT_NAMES, kind="journal dead_letter", **{name: given})
        for name, given in (
            ("action", "current next previous"),
            ("named", "available removed received begun purged moving"),
            ("priority", "*"),
            ("place", "between"),
        )
    ),
    no(_WITH_KINDS, _PRIORITY, before="jumped", passed=_BY_TRANSACTION),
    no(BY_LOOKUP, _PRIORITY, named="received moving", priority="other"),
    # What is found.
    no(NEXT, "the message of the cursor stands before the next one", cursor="available", before="nothing"),
    no(BEGIN, "it is a begun receive that holds it", passed="begun", begun="none"),
    no(SEEKS, _SURVIVED, passed="purged", arrival="survived"),
    no(SEEKS, "what is sent after a restart stands behind what survived it", passed="sent", arrival="survived"),
    no(BY_LOOKUP, _SURVIVED, named="purged", arrival="survived"),
    no("queues.purge", _SURVIVED, held="purged", arrival="survived"),
    no((RECEIVE, PEEK, BEGIN), _SEEN, cursor="available", arrival="survived"),
    no(SEEKS, _SEEN, others="cursor_there", arrival="survived"),
    no((*BY_LOOKUP, "messages.move", "queues.purge"), _SEEN, cursors="there parked", arrival="survived"),
    no((*SEEKS, *BY_LOOKUP, "queues.purge"), _SEEN, waiting="peek receive several", arrival="survived"),
    no(BY_LOOKUP, "the first one has nothing before it, the last one nothing behind it", named="none", place="between"),
    no((*SEEKS, "queues.purge"), _NOTHING, choice="nothing", arrival="*"),
    no(SEEKS, _NOTHING, choice="nothing", copies="*"),
    no(SEEKS, _NOTHING, choice="nothing", others="cursor_there"),
    no(SEEKS, "a cursor behind the last message finds nothing", cursor="parked", choice=_FOUND),
    no(SEEKS, "a cursor behind the last message finds nothing", cursor="parked", arrival="*"),
    no(SEEKS, "a cursor behind the last message finds nothing", cursor="parked", copies="*"),
    no(SEEKS, "a cursor behind the last message finds nothing", cursor="parked", others="cursor_there"),
    no(SEEKS, "nothing arrives behind the last place", cursor="parked", before="jumped"),
    no((RECEIVE, PEEK, BEGIN), "the cursor has a message", cursor="available", choice="nothing"),
    no(SEEKS, "no read sees the message of the cursor", cursor="locked", passed="nothing"),
    no(SEEKS, "something holds the message of the cursor", cursor="locked", passed="removed"),
    no(SEEKS, "a message seen behind a cursor is older than it or has overtaken it", cursor="unused", before="*"),
    # By lookup identifier.
    no(BY_LOOKUP, "a neighbour needs a message to start from", action="current next previous", named="none"),
    no(BY_LOOKUP, "no message is named", named="none", priority="*"),
    no(BY_LOOKUP, "nothing is passed over", action="current", found="beyond"),
    no(BY_LOOKUP, "it is the message itself", action="current", priority="other"),
    no(BY_LOOKUP, _NOTHING, found="nothing", place="*"),
    no(BY_LOOKUP, _NOTHING, found="nothing", priority="*"),
    no(BY_LOOKUP, _NOTHING, found="nothing", arrival="*"),
    no(BY_LOOKUP, _NOTHING, found="nothing", copies="*"),
    no(BY_LOOKUP, _NOTHING, found="nothing", cursors="there"),
    no(BY_LOOKUP, "the first one has nothing before it", action="first", place="between end"),
    no(BY_LOOKUP, "the last one has nothing behind it", action="last", place="front between"),
    *(
        no(
            BY_LOOKUP,
            "no read sees the message itself",
            action="current",
            named="removed received begun purged moving",
            **{name: given},
        )
        for name, given in (
            ("found", "near"),
            ("place", "*"),
            ("priority", "*"),
            ("arrival", "*"),
            ("copies", "*"),
            ("cursors", "there"),
        )
    ),
    no(BY_LOOKUP, "the message itself is found", action="current", named="available", found="nothing"),
    no(BY_LOOKUP, "an available message stands before it", action="next", named="available", place="alone front"),
    no(BY_LOOKUP, "an available message stands behind it", action="previous", named="available", place="alone end"),
    no(BY_LOOKUP, "the message named is there to be found", action="first last", named="available", found="nothing"),
    # Receives in two phases.
    no(END, _DELETED, read="queue_deleted", place="front between end"),
    no(END, "no read waits on a deleted queue", read="queue_deleted", waiting="peek receive several"),
    no(END, "dead-letter queues are not deleted", read="queue_deleted queue_recreated", kind="dead_letter"),
)
