"""Accepted readings of a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from conformance.model.state import State
from conformance.model.values import value
from conformance.spec.catalogue import catalogue, reading_id

TRANSACTION_ORDER = reading_id("R-MQDMPR-transaction-order")
LOOKUP_ORDER = reading_id("R-MQDMPR-lookup-identifier-priority")
ZERO_TIMEOUT = reading_id("R-MQDMPR-zero-timeout-status")
DELETED_QUEUE = reading_id("R-MQDMPR-deleted-queue-status")
SEND_AFTER_DELETE = reading_id("R-MQDMPR-send-after-delete")
DELETE_WAITING = reading_id("R-MQDMPR-delete-waiting-read")
PEEK_TIMEOUT_STATE = reading_id("R-MQDMPR-peek-timeout-state")
PEEK_TIMEOUT_POSITION = reading_id("R-MQDMPR-peek-timeout-position")
PARKED = reading_id("R-MQDMPR-parked-cursor-after-timeout")
POLL = reading_id("R-MQDMPR-poll-at-end")
CURSOR_LOCKED = reading_id("R-MQDMPR-cursor-locked-message")
READERS_ORDER = reading_id("R-MQDMPR-waiting-readers-order")
CANCEL_PEEK = reading_id("R-MQDMPR-cancel-peek")
CLOSE_BEGUN = reading_id("R-MQDMPR-begun-receive-at-close")
END_TWICE = reading_id("R-MQDMPR-receive-end-twice")
EXPIRY_START = reading_id("R-MQDMPR-expiry-start")
PEEK_NEXT_PLAIN = reading_id("R-MQDMPR-peek-next-without-cursor")
CLOSE_PENDING = reading_id("R-MQDMPR-pending-reads-at-close")
LOOKUP_EDGE = reading_id("R-MQDMPR-lookup-first-last")
LOOKUP_NEIGHBOUR = reading_id("R-MQDMPR-lookup-neighbour-of-removed")
LOOKUP_LOCKED = reading_id("R-MQDMPR-lookup-locked-status")
LOOKUP_REMOVED = reading_id("R-MQDMPR-lookup-removed-status")
PURGE_UNCOMMITTED = reading_id("R-MQDMPR-purge-uncommitted-send")
TRANSACTIONAL_EXPRESS = reading_id("R-MQDMPR-transactional-express")
SHARE_PEEK = reading_id("R-MQDMPR-share-with-peek")
ACKNOWLEDGE_PURGED = reading_id("R-MQDMPR-acknowledge-purged")
ABORT_PURGED = reading_id("R-MQDMPR-abort-purged-reason")
EXCLUSIVE_MOVE = reading_id("R-MQDMPR-exclusive-move")
EXCLUSIVE_SEND = reading_id("R-MQDMPR-exclusive-send")
OPEN_UNKNOWN = reading_id("R-MQDMPR-open-unknown-for-send")
REMOVED_PLACE = reading_id("R-MQDMPR-removed-position")
TARGET_JOURNAL = reading_id("R-MQDMPR-target-journal-time")
SUBQUEUE_JOURNAL = reading_id("R-MQDMPR-subqueue-journal")
DEAD_LETTER_QUEUE = reading_id("R-MQDMPR-dead-letter-queue")
LOCKED_EXPIRY = reading_id("R-MQDMPR-expiry-while-locked")
SEVERAL_PARTIAL = reading_id("R-MQDMPR-multiple-send-partial")
QUOTA_UNCOMMITTED = reading_id("R-MQDMPR-quota-uncommitted")
TOTAL_BYTES = reading_id("R-MQDMPR-total-bytes")

TRANSACTIONAL_PRIORITY = reading_id("R-MQDMPR-transactional-priority")
TRANSACTION_MARKS = reading_id("R-MQDMPR-first-last-in-transaction")
MOVE_CHECKS = reading_id("R-MQDMPR-move-preconditions")
MOVE_STATUS = reading_id("R-MQRR-move-status")
MOVED_PLACE = reading_id("R-MQDMPR-moved-lookup-identifier")
COMMIT_PURGED_MOVE = reading_id("R-MQDMPR-commit-purged-move")
READ_ONLY = reading_id("R-MQDMPR-dtc-read-only")
RESTART_BEGUN = reading_id("R-MQDMPR-restart-two-phase-lock")
SUBQUEUE_CREATION = reading_id("R-MQDMPR-subqueue-creation")
SEND_TO_SUBQUEUE = reading_id("R-MQDMPR-send-to-read-only-queue")
DELETE_LOCKED = reading_id("R-MQDMPR-delete-locked")
DELETE_SATELLITES = reading_id("R-MQDMPR-delete-satellites")
DISPATCH_ORDER = reading_id("R-MQDMPR-dispatch-order")
HOLD_AFTER_RESTART = reading_id("R-MQDMPR-hold-after-restart")
BASE_PRIORITY = reading_id("R-MQMQ-private-base-priority")
PROPERTY_NOT_APPLICABLE = reading_id("R-MQMP-property-not-applicable")
PROPERTY_STATUS = reading_id("R-MQMP-property-status")
RESUME = reading_id("R-MQDMPR-resume-of-queue-not-on-hold")
TIDY = reading_id("R-MQMR-tidy")
COUNT_HELD = reading_id("R-MQMR-held-messages-counted")
FORMAT_NAME = reading_id("R-MQMR-queue-format-name")
JOURNAL_BYTES = reading_id("R-MQMR-journal-bytes-without-journaling")
LAST_ACK = reading_id("R-MQMR-last-ack-of-nothing-pending")
ACK_COUNT = reading_id("R-MQQB-last-ack-count")
UNREAD = reading_id("R-MQQB-messages-not-read")
RESENDS = reading_id("R-MQQB-resend-count")
STEP_ADDRESSES = reading_id("R-MQQB-history-addresses")
STATE_LOCKED = reading_id("R-MQMQ-queue-state-locked")


@value
class Rules:
    """Accepted readings.

    readings: reading id to its accepted alternatives, the default first; an absent reading has its `windows` ones.
    """

    readings: Mapping[str, tuple[str, ...]]

    def accepted(self, state: State, reading: str) -> tuple[str, ...]:
        """Return the accepted alternatives of a reading that this history leaves possible."""
        known = self.known(reading)
        possible = state.assumed.get(reading)
        return known if possible is None else _left(known, possible)

    def known(self, reading: str) -> tuple[str, ...]:
        """Return the accepted alternatives of a reading, whatever the history."""
        return self.readings.get(reading) or catalogue().readings[reading].defaults["windows"]

    def accepts(self, state: State, reading: str, alternative: str) -> bool:
        """Tell whether this history may still assume this alternative."""
        return alternative in self.accepted(state, reading)


@lru_cache(1024)
def _left(known: tuple[str, ...], possible: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in known if name in possible)
