"""Situations that do not count: those that no call can meet, and those that a refusal decides alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from conformance.histories.features.feature import Cases, Constraint, no

_SEEKS = ("messages.receive", "messages.peek", "messages.peek_next")
_SEND, _ADVANCE, _RESTART = "messages.send", "clock.advance", "restart"
_LOSSES = ("queues.delete", "queues.purge")
_ASKERS = (*_LOSSES, "messages.receive_end")
_RECEIVES = ("messages.receive", "messages.receive_end")
_JOURNALERS = (*_RECEIVES, "transactions.commit")
_BOTH = "both say so"
_SINGLE = "positive_arrival positive_receive negative_arrival negative_receive"
_ASKED = f"{_SINGLE} positives negatives both_signs"
_BEYOND = "here_alone sends_elsewhere receives_elsewhere"
_ENDINGS = ("transactions.prepare", "transactions.commit", "transactions.abort")

CONTENT_CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    no(_SEEKS, "copies have no family", kind="journal dead_letter", related="*"),
    no(_SEND, "such a queue is sent plain messages", kind="outgoing outgoing_on_hold", acks=_ASKED),
    no(_SEND, _BOTH, wishes="acknowledged", acks="none"),
    no(_SEND, _BOTH, wishes="none dead_letter", acks=_ASKED),
    no(_ADVANCE, "a wait of days is over", by="days", deadline="before just_before"),
    no(_ENDINGS, "only a moved message has two queues", moves="none", waiting="bystander"),
    no(
        _LOSSES,
        "there is no message to ask about",
        content="nothing",
        copies="acknowledged_twice",
    ),
    no(_LOSSES, "there is no message to ask about", content="nothing", asked="*"),
    no(_ASKERS, _BOTH, copies="none dead_letter expires", asked=_ASKED),
    no(_ASKERS, _BOTH, copies="acknowledged", asked="none positives negatives"),
    no(_ASKERS, _BOTH, copies="acknowledged_twice", asked=f"none {_SINGLE}"),
    no(_ADVANCE, "no message is going to expire", expiry="none", asked="*"),
    no(_ADVANCE, _BOTH, wanted="none dead_letter", asked=_ASKED),
    no(_ADVANCE, _BOTH, wanted="acknowledged", asked="none positives negatives"),
    no(_ADVANCE, _BOTH, wanted="acknowledged_twice", asked=f"none {_SINGLE}"),
    no(_JOURNALERS, _BOTH, copies="journal journal_full", journaling="off switched_off"),
    no(
        _JOURNALERS,
        _BOTH,
        copies="none acknowledged acknowledged_twice dead_letter expires",
        journaling="on switched_on",
    ),
    no("messages.receive", "no message of it is found", choice="nothing", journaling="*"),
    no("transactions.commit", "there is no message to ask about", receives="none", journaling="*"),
    no("transactions.abort", "an ended transaction has nothing any more", state="committed aborted", quota="*"),
    no("transactions.commit", "an ended transaction has nothing any more", state="committed aborted", journaling="*"),
    no(_RECEIVES, "copies leave none behind", kind="journal dead_letter", journaling="*"),
    no(_RECEIVES, "a subqueue has no journal", kind="subqueue", journaling="on switched_on switched_off"),
    no(_RESTART, "what is kept asks for it", messages="none express", asked=_ASKED),
    no(_ASKERS, "copies ask for nothing", kind="journal dead_letter", asked="*"),
    no("messages.receive", "no message of it is found", cursor="parked", journaling="*"),
    no("messages.receive", "a deleted queue has no message", handle="deleted", journaling="*"),
    no(
        "messages.receive_end",
        "no feature tells the quota of journals and subqueues: left out",
        kind="subqueue journal dead_letter",
        quota="below",
    ),
    no(_LOSSES, "a transaction holds it", held="none", transaction=_BEYOND),
    no(_LOSSES, "a transaction holds it", held="received sent moving", transaction="none"),
)

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
READ_CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    # Handles and their cursors.
    no(
        (*SEEKS, *BY_LOOKUP),
        "no handle lasts through a restart, and nothing that survived one is in a queue created since",
        handle="recreated",
        arrival="survived",
    ),
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
    no("queues.purge", "no transaction takes from such a queue", kind="journal dead_letter", transaction=_BEYOND),
    no("queues.delete", "no transaction takes from such a queue", kind="plain", transaction=_BEYOND),
    no("queues.delete", _PRIORITY, content=_MIXED, transaction=_BEYOND),
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

_MOVE, _CANCEL = "messages.move", "messages.cancel"
_CREATE, _DELETE, _OPEN = "queues.create", "queues.delete", "queues.open"
_CLOSE, _PURGE, _COUNTS = "queues.close", "queues.purge", "queues.counts"
_OUTGOING = ("outgoing.pause", "outgoing.resume", "outgoing.take")
_READS = "peek receive several"

_MOVE_PRIORITY = "all messages of a transaction have priority 0"
_ENDED = "an ended transaction has nothing any more"
_OVER = "a read that is over has nothing any more"
_TWO_SENSES = "both say so"
_SENDS: Final = (
    no(
        _SEND,
        "it is opened for send only",
        handle="receive peek",
        kind="several elsewhere outgoing outgoing_on_hold",
    ),
    no(
        _SEND,
        "only local queues are deleted",
        handle="deleted recreated",
        kind="several elsewhere outgoing outgoing_on_hold",
    ),
    no(
        _SEND,
        "a deleted queue has no message",
        handle="deleted",
        place="behind_equal behind_higher between front",
    ),
    no(_SEND, "a deleted queue has no message", handle="deleted", passed="locked sent own_send"),
    no(_SEND, "a deleted queue has no reader", handle="deleted", waiting=_READS),
    no(_SEND, "a deleted queue has no reader", handle="deleted", cursors="waiting"),
    no(_SEND, "the queue of the handle was deleted", handle="deleted recreated", since="nothing restarted"),
    no(_SEND, "the feature is about one queue that can be reached", kind="several elsewhere", place="*"),
    no(_SEND, "the feature is about one queue that can be reached", kind="several elsewhere", passed="*"),
    *(
        no(_SEND, "nobody reads it here", kind="several elsewhere outgoing outgoing_on_hold", **{name: "*"})
        for name in ("waiting", "cursors", "quota")
    ),
    no(
        _SEND,
        "only local queues are deleted",
        kind="several elsewhere outgoing outgoing_on_hold",
        since="recreated",
    ),
    no(_SEND, "nothing receives from it here", kind="outgoing outgoing_on_hold", passed="locked"),
    no(_SEND, "such a queue is sent plain messages", kind="outgoing outgoing_on_hold", size="large"),
    no(
        _SEND,
        "such a queue is sent plain messages",
        kind="outgoing outgoing_on_hold",
        wishes="journal acknowledged dead_letter",
    ),
    no(
        _SEND,
        "such a queue is sent plain messages",
        kind="outgoing outgoing_on_hold",
        lives="zero seconds infinite",
    ),
    no(_SEND, "what a transaction sends to such a queue reaches nobody", kind="plain", passed="sent own_send"),
    no(_SEND, _MOVE_PRIORITY, kind="transactional", place="behind_higher between"),
    no(_SEND, "nothing has a lower priority", transaction="fresh working ended", place="between front"),
    no(_SEND, "nothing has a lower priority", priority="lowest", place="between front"),
    no(_SEND, "only a transaction that has sent has sends", transaction="none fresh ended", passed="own_send"),
    no(_SEND, "a transaction has priority 0", place="front between", passed="own_send"),
    no(_SEND, _TWO_SENSES, waiting="none", cursors="waiting"),
    no(_SEND, "a message takes room", quota="empty", place="behind_higher between front"),
    no(_SEND, "a message takes room", quota="empty", passed="sent own_send"),
)
_MOVES: Final = (
    no(_MOVE, "only an available message is asked how it came", message="removed received purged moving", arrival="*"),
    no(_MOVE, "what is in a subqueue was moved there", way="to_main", before="never"),
    no(_MOVE, "messages are moved among a queue and its subqueues", way="unrelated", before="back_again"),
    no(_MOVE, "in a subqueue a message was moved", way="to_main between_subqueues", arrival="sent"),
    no(_MOVE, "a subqueue is not opened for send", way="between_subqueues", destination="send"),
)
_CURSORS: Final = (
    no("cursors.open", "the cursors of a closed handle are closed", handle="closed", others="same_handle"),
    no("cursors.close", "the cursor has a message", cursor="available", content="nothing"),
    no("cursors.close", "the cursors of a closed handle are closed", cursor="closed_with_handle", others="same_handle"),
    no("cursors.close", "no read waits on a closed handle", cursor="closed_with_handle", waiting="same_handle"),
    no("cursors.close", "a deleted queue has no message", cursor="available locked", queue="deleted"),
    no("cursors.close", "no read waits on a deleted queue", cursor="waits_to_peek waits_to_receive", queue="deleted"),
    no("cursors.close", "no read waits on a deleted queue", waiting="same_handle", queue="deleted"),
    no("cursors.close", "dead-letter queues are not deleted", kind="dead_letter", queue="deleted"),
    *(no(_CANCEL, _OVER, read="over", **{name: "*"}) for name in ("by", "limit", "passed", "kind")),
    no(_CANCEL, _OVER, read="over", beside="before_it behind_it other_handle"),
    no(_CANCEL, "such a read has no transaction", read="receive_begin peek peek_next", by="transaction"),
    no(_CANCEL, "such a read has a cursor", read="peek_next", by="handle"),
    no(_CANCEL, "what a transaction sends to such a queue reaches nobody", kind="plain", passed="sent"),
    no(
        _CANCEL,
        "the text does not settle whether such a queue is read in a transaction: left out",
        kind="plain journal dead_letter",
        by="transaction",
    ),
)
_TRANSACTIONS: Final = (
    *(
        no(_ENDINGS, _ENDED, state="committed aborted", **{name: "*"})
        for name in (
            "sends",
            "receives",
            "moves",
            "disturbed",
            "waiting",
            "others",
            "overtaken",
            "place",
            "cursors",
            "copies",
        )
    ),
    no(_ENDINGS, _NOTHING, sends="none", overtaken="*"),
    no(_ENDINGS, _NOTHING, receives="none", place="*"),
    no(_ENDINGS, _NOTHING, sends="none", receives="none", copies="*"),
    no(_ENDINGS, "whoever sent it holds something here", others="none elsewhere", overtaken="by_uncommitted"),
    no("transactions.begin", "only an open transaction holds a message", open="none", holding="some"),
)
_QUEUES: Final = (
    *(
        no(_CREATE, "no queue has had this name", name="new", **{name: given})
        for name, given in (("was", "*"), ("had", "*"), ("handles", "*"), ("subqueues", "empty messages gone"))
    ),
    no(_CREATE, "a deleted queue has no message", name="deleted", had="messages"),
    no(_CREATE, "its subqueues are deleted with a queue", name="deleted", subqueues="empty messages"),
    no(_CREATE, "it is there itself", name="exists", others="none"),
    no(_CREATE, "it is there itself", had="messages", others="none"),
    no(_CREATE, "it is there itself", subqueues="empty messages", others="none"),
    no(_CREATE, "what is in a subqueue came through the queue", had="nothing", subqueues="messages"),
    no(_DELETE, _NOTHING, content="nothing", copies="acknowledged dead_letter expires"),
    no(_DELETE, "what holds a message came through a handle", held="received begun moving purged", handles="none"),
    no(_DELETE, "only an open handle has cursors", handles="none closed", cursors="unused on_message parked"),
    no(_DELETE, "reads wait on open handles", handles="none closed", waiting=_READS),
    no(_DELETE, "messages are moved among a queue and its subqueues", held="moving", subqueues="none"),
    no(_DELETE, "the handle that tells so is still known", handles="none", deleted_before="yes"),
    no(_DELETE, LEFT_OUT_BEGUN, held="begun", handles="closed"),
    no(_OPEN, "a queue of another computer is only sent to", kind="remote", access="receive peek move"),
    no(
        _OPEN,
        "the feature is about local queues with a name of their own",
        kind="remote several dead_letter",
        queue="*",
    ),
    no(_OPEN, "there is no queue to have it", kind="journal subqueue", queue="deleted never"),
    no(_OPEN, "there is no queue to have it", kind="new_subqueue", queue="never"),
    no(_OPEN, "what never was had no kind: it counts as plain", kind="transactional", queue="never"),
    no(_OPEN, "opening an unknown queue for send is judged by the tests of names", queue="never", access="send"),
    no(
        _OPEN,
        "nobody has a queue open that is not there",
        queue="deleted never",
        users="other receive peek receive_exclusive peek_exclusive",
    ),
    no(_OPEN, "nobody had it open", queue="never", released="shared exclusive"),
    no(_OPEN, "a queue that is not there has no message", queue="deleted", content=_FOUND),
    no(_OPEN, "a queue that is not there has no message", queue="never", content="*"),
    no(_OPEN, "a queue that is not there has no message", kind="new_subqueue", content=_FOUND),
    no(_OPEN, "the feature is about one queue", kind="several", content="*"),
    no(
        _OPEN,
        "nobody has a queue open that is not there",
        kind="new_subqueue",
        users="other receive peek receive_exclusive peek_exclusive",
    ),
    no(
        _OPEN,
        "it is opened for send only",
        kind="several remote",
        users="receive peek receive_exclusive peek_exclusive",
    ),
    no(
        _OPEN,
        "no section says what an exclusive handle on a queue of another computer is: left out",
        kind="remote",
        share="deny_receive",
    ),
    no(_OPEN, "it is never opened exclusively", kind="several remote", released="exclusive"),
    no(_OPEN, "it is opened for reading only", kind="journal dead_letter", users="other"),
    no(_CLOSE, "a handle for send is shared", handle="send", share="deny_receive"),
    no(_CLOSE, "such a handle has no cursors", handle="send closed", cursors="unread on_message several waiting"),
    no(_CLOSE, "no read by it moves a cursor", handle="move", cursors="on_message waiting"),
    no(_CLOSE, "no read waits on a deleted queue", handle="deleted recreated", cursors="waiting"),
    no(_CLOSE, "no read waits on such a handle", handle="send move closed deleted recreated", waits=_READS),
    no(_CLOSE, "a handle for peek does not receive", handle="peek", waits="receive"),
    no(_CLOSE, _TWO_SENSES, cursors="waiting", waits="none"),
    no(_CLOSE, "a read waits on a handle for reading", beside="same_queue", users="none sender"),
    no(_CLOSE, "no read waits on a deleted queue", handle="deleted", beside="same_queue"),
    no(_CLOSE, "nothing opens it for send or move", kind="journal dead_letter", users="sender"),
    no(_CLOSE, LEFT_OUT_BEGUN, users="none sender", held="begun"),
    no(_PURGE, _NOTHING, content="nothing", arrival="*"),
    no(_PURGE, _NOTHING, content="nothing", copies="acknowledged dead_letter expires"),
    no(_PURGE, "only a main queue has subqueues", kind="subqueue journal dead_letter", subqueues="empty messages"),
    no(_COUNTS, "a subqueue has no journal", kind="subqueue", journal="empty messages"),
    no(_COUNTS, "what is in the journal was received", removed="none", journal="messages"),
    no(_COUNTS, _NOTHING, content="nothing", sizes="one several"),
    no(_COUNTS, "an available message has a size", content=_FOUND, sizes="none"),
    no(_COUNTS, "one message has one size", content="only", sizes="several"),
    no("queues.set", _TWO_SENSES, problem="none", wrong="alone first behind"),
    no("queues.set", _TWO_SENSES, problem="unknown not_applicable type value", wrong="nowhere"),
    no("queues.set", _TWO_SENSES, many="one", wrong="first behind"),
    no("queues.set", _TWO_SENSES, many="several", wrong="alone"),
    no(
        "queues.set",
        "an unknown property has no other problem",
        kind="unknown",
        problem="none not_applicable type value",
    ),
    no("queues.set", "an unknown property stands first", kind="unknown", wrong="nowhere behind"),
    no("queues.get", "the first name is one of no property", kind="unknown", unknown="none"),
    no("queues.get", "the first name is one of a property", kind="choice number text identifier", unknown="only"),
    no("queues.get", "one name stands beside no other", many="one", unknown="beside_known"),
)
_OUTGOING_QUEUES: Final = (
    no(_OUTGOING, "it was never on hold", state="inactive", since="*"),
    no(_OUTGOING, _NOTHING, content="nothing", since="before after both"),
    no(_OUTGOING, _NOTHING, content="nothing", kinds="plain transactional both"),
    no(_OUTGOING, "one message has come at one time", content="only", since="neither both"),
    no(_OUTGOING, "one message is of one kind", content="only", kinds="none both"),
    no(_OUTGOING, "there are messages", content="equal lower overtaking", since="neither"),
    no(_OUTGOING, "there are messages", content="equal lower overtaking", kinds="none"),
    no(_OUTGOING, _MOVE_PRIORITY, content=_MIXED, kinds="transactional"),
    no(_OUTGOING, _NOTHING, since="neither", kinds="plain transactional both"),
    no(_OUTGOING, "there are messages", since="before after both", kinds="none"),
)
_CLOCK: Final = (
    *(
        no(_ADVANCE, "no message is going to expire", expiry="none", **{name: "*"})
        for name in ("expiring", "wanted", "transactional", "beside")
    ),
    no(_ADVANCE, "no wait is limited", deadline="none infinite", read="*"),
    no(_ADVANCE, "no wait is limited", deadline="none infinite", with_="*"),
    no(_ADVANCE, _TWO_SENSES, deadline="none infinite before just_before", ends="one several"),
    no(_ADVANCE, _TWO_SENSES, deadline="at past", ends="none"),
    no(_ADVANCE, _TWO_SENSES, deadline="none", left="one several"),
    no(_ADVANCE, _TWO_SENSES, deadline="infinite before just_before", left="none"),
    no(_ADVANCE, "such a read has no transaction", read="receive_begin peek peek_next", with_="transaction"),
    no(_ADVANCE, "such a read has a cursor", read="peek_next", with_="handle"),
    no(_ADVANCE, "a transaction holds transactional messages", expiring="received sent", transactional="no"),
    no(
        _RESTART,
        "only recoverable messages are put in order",
        messages="none express",
        order="arrival priority",
    ),
    no(
        _RESTART,
        "an open transaction holds it",
        held="received sent moving",
        transactions="none committed aborted",
    ),
    no(_RESTART, "messages are moved among a queue and its subqueues", held="moving", subqueues="none"),
    no(_RESTART, "what is in a subqueue is a message", messages="none", subqueues="messages"),
    no(_RESTART, LEFT_OUT_BEGUN, users="none", held="begun"),
)
OPERATION_CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    *(*_SENDS, *_MOVES, *_CURSORS, *_TRANSACTIONS),
    *(*_QUEUES, *_OUTGOING_QUEUES, *_CLOCK),
)

CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    *READ_CONSTRAINTS,
    *OPERATION_CONSTRAINTS,
    *CONTENT_CONSTRAINTS,
)
_UNUSABLE = ("closed", "deleted", "recreated")


def _cases(**cases: tuple[str, ...]) -> Cases:
    return {name: frozenset(values) for name, values in cases.items()}


_UNUSABLE_HANDLES = _cases(handle=("peek", "send", "move", *_UNUSABLE), cursor=("closed",), transaction=("ended",))
_PEEKS = _cases(handle=("send", "move", *_UNUSABLE), cursor=("closed",))
_ENDS = _cases(state=("committed", "aborted"))
REFUSALS: Final[Mapping[str, Cases]] = {
    "messages.receive": _UNUSABLE_HANDLES,
    "messages.receive_begin": _UNUSABLE_HANDLES,
    "messages.receive_by_lookup_id": _UNUSABLE_HANDLES,
    "messages.peek": _PEEKS,
    "messages.peek_next": _PEEKS,
    "messages.peek_by_lookup_id": _PEEKS,
    "messages.receive_end": _cases(read=("ended_kept", "ended_gone", "queue_deleted", "queue_recreated")),
    "transactions.commit": _ENDS,
    "transactions.abort": _ENDS,
    "queues.close": _cases(handle=("closed",)),
    "queues.purge": _cases(handle=("peek", "send", "closed")),
}
"""By method, the cases in which a call is refused before it looks at anything else. Pairs with them count, which tell
whether the call is refused whatever else holds and does nothing all the same; a third condition decides nothing."""
REFUSED: Final = "the call is refused whatever the third condition is: its pairs count"


@cache
def _of(method: str) -> tuple[Constraint, ...]:
    return tuple(one for one in CONSTRAINTS if method in one.methods)


def excluded(method: str, values: Iterable[tuple[str, str]]) -> str | None:
    """Return why a situation does not count; None for one that counts.

    values: two or three features of the method, each with one of its values.
    """
    given = dict(values)
    for one in _of(method):
        if one.excludes(given):
            return one.reason
    refusals = REFUSALS.get(method)
    if len(given) > 2 and refusals is not None:
        for name, value in given.items():
            if value in refusals.get(name, ()):
                return REFUSED
    return None
