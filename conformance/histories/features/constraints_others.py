"""Constraints of the features of all other operations."""

from __future__ import annotations

from typing import Final

from conformance.histories.features.constraint import Constraint, no
from conformance.histories.features.constraints_reads import LEFT_OUT_BEGUN

_SEND, _MOVE, _CANCEL = "messages.send", "messages.move", "messages.cancel"
_CREATE, _DELETE, _OPEN = "queues.create", "queues.delete", "queues.open"
_CLOSE, _PURGE, _COUNTS = "queues.close", "queues.purge", "queues.counts"
_ENDINGS = ("transactions.prepare", "transactions.commit", "transactions.abort")
_OUTGOING = ("outgoing.pause", "outgoing.resume", "outgoing.take")
_ADVANCE, _RESTART = "clock.advance", "restart"
_FOUND = "only equal lower overtaking"
_MIXED = "lower overtaking"
_READS = "peek receive several"

_PRIORITY = "all messages of a transaction have priority 0"
_ENDED = "an ended transaction has nothing any more"
_OVER = "a read that is over has nothing any more"
_NOTHING = "there is no message to ask about"
_TWO_SENSES = "both say so"
_SENDS: Final = (
    no(_SEND, "it is opened for send only", handle="receive peek", kind="several elsewhere outgoing outgoing_on_hold"),
    no(
        _SEND,
        "only local queues are deleted",
        handle="deleted recreated",
        kind="several elsewhere outgoing outgoing_on_hold",
    ),
    no(_SEND, "a deleted queue has no message", handle="deleted", place="behind_equal behind_higher between front"),
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
    no(_SEND, "only local queues are deleted", kind="several elsewhere outgoing outgoing_on_hold", since="recreated"),
    no(_SEND, "nothing receives from it here", kind="outgoing outgoing_on_hold", passed="locked"),
    no(_SEND, "such a queue is sent plain messages", kind="outgoing outgoing_on_hold", size="large"),
    no(
        _SEND,
        "such a queue is sent plain messages",
        kind="outgoing outgoing_on_hold",
        wishes="journal acknowledged dead_letter",
    ),
    no(_SEND, "such a queue is sent plain messages", kind="outgoing outgoing_on_hold", lives="zero seconds infinite"),
    no(_SEND, "what a transaction sends to such a queue reaches nobody", kind="plain", passed="sent own_send"),
    no(_SEND, _PRIORITY, kind="transactional", place="behind_higher between"),
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
    no(_DELETE, "what holds a message came through a handle", held="received sent begun moving purged", handles="none"),
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
    no(_OUTGOING, _PRIORITY, content=_MIXED, kinds="transactional"),
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
    no(_RESTART, "only recoverable messages are put in order", messages="none express", order="arrival priority"),
    no(_RESTART, "an open transaction holds it", held="received sent moving", transactions="none committed aborted"),
    no(_RESTART, "messages are moved among a queue and its subqueues", held="moving", subqueues="none"),
    no(_RESTART, "what is in a subqueue is a message", messages="none", subqueues="messages"),
    no(_RESTART, LEFT_OUT_BEGUN, users="none", held="begun"),
)
CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    *(*_SENDS, *_MOVES, *_CURSORS, *_TRANSACTIONS),
    *(*_QUEUES, *_OUTGOING_QUEUES, *_CLOCK),
)
