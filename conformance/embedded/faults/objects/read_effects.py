"""Faults of what each read of MSMQQueue does (MC-MQAC 3.11.4.1): what it finds, removes, locks, copies and shows."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.objects.read_checks import ForOne, register
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.queue_reads import NEXT, READS, Perform, Read
from conformance.embedded.objects.transaction_argument import SINGLE_MESSAGE, Unit
from conformance.embedded.objects.variants import Variant
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
)

_LIST = "suitable-message-message-position-list"
LOCKS = {
    "Receive_v1": "message-position-state-suitable-message-locked",
    "ReceivePreviousByLookupId": "property-state-suitable-message",
    "ReceiveLastByLookupId": "property-state-suitable-message",
}
"""Receives that say otherwise than `state-suitable-message-property` that they lock a message."""
OTHER_WAY = {
    "ReceiveNextByLookupId": "previous", "ReceivePreviousByLookupId": "next", "PeekByLookupId": "next",
    "PeekNextByLookupId": "previous", "PeekPreviousByLookupId": "next", "PeekFirstByLookupId": "last",
    "PeekLastByLookupId": "first", "ReceiveByLookupIdAllowPeek": "next",
}  # fmt: skip
"""Lookups, and where the fault of each looks."""
COPIES = tuple(read.name for read in READS if read.removes and not read.shown_to_peeks)


def _alone(self: ForOne) -> Unit:
    left_out = self.asked.named("Transaction").left_out
    return self.transactions.numbered(SINGLE_MESSAGE) if self.deviates and left_out else Perform.unit(self)


def _any_transaction(self: ForOne) -> Unit:
    try:
        return Perform.unit(self)
    except MqError:
        if self.deviates:
            return Unit(self.manager, None)
        raise


def _outside(self: ForOne) -> Unit:
    found = Perform.unit(self)
    if not self.deviates or found.transaction is None:
        return found
    return Unit(self.manager, self.manager.transactions.begin(), own=True)


def _peeks(self: ForOne, unit: Unit) -> None:
    if not self.deviates:
        Perform.start(self, unit)
        return
    reading, opened = self.manager.reading, self.queue.opened
    if self.read.seek:
        reading.by_lookup_id(
            self.through(unit), opened, self.asked.lookup, self.read.seek, destructive=False, transaction=None
        )
    else:
        reading.peek(self.through(unit), opened, self.cursor(), self.asked.timeout_ms)


def _without_journal(self: ForOne, unit: Unit) -> None:
    queue = self.queue.opened.queue
    if not self.deviates or queue is None:
        Perform.start(self, unit)
        return
    kept, queue.properties = queue.properties, {**queue.properties, "PROPID_Q_JOURNAL": 0}
    try:
        Perform.start(self, unit)
    finally:
        queue.properties = kept


def _gone_code(self: ForOne, unit: Unit) -> None:
    try:
        Perform.start(self, unit)
    except MqError as failure:
        if self.deviates and failure.status == MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            raise MqError(E_INVALIDARG) from None
        raise


def _cursor_code(self: ForOne) -> tuple[Any, ...]:
    def check() -> None:
        try:
            self.queue.check_cursor_read()
        except MqError:
            raise MqError(E_INVALIDARG) from None

    found = tuple(Perform.checks(self))
    return (*found[:-1], check) if self.deviates else found


def _cursor_first(self: ForOne) -> tuple[Any, ...]:
    def check() -> None:
        if self.queue.own_cursor is None:
            raise MqError(MQ_ERROR_ILLEGAL_CURSOR_ACTION)

    found = tuple(Perform.checks(self))
    return (*found[:2], check, *found[2:]) if self.deviates else found


def _turned(flag: str) -> Any:
    def wanted(self: ForOne, name: str, default: bool) -> bool:
        found = bool(Perform.wanted(self, name, default))
        return not found if self.deviates and name == flag and not self.asked.named(name).left_out else found

    return wanted


def _by_default(flag: str) -> Any:
    def wanted(self: ForOne, name: str, default: bool) -> bool:
        return bool(Perform.wanted(self, name, True if self.deviates and name == flag else default))

    return wanted


def _other_way(self: ForOne, caller: Any, unit: Unit) -> None:
    if not self.deviates:
        Perform.look_up(self, caller, unit)
        return
    self.manager.reading.by_lookup_id(
        caller, self.queue.opened, self.asked.lookup, OTHER_WAY[self.read.name], destructive=self.read.removes,
        transaction=unit.transaction,
    )  # fmt: skip


def _wrong_code(self: ForOne) -> int:
    return MQ_ERROR_IO_TIMEOUT if self.deviates else Perform.nothing_found(self)


def _none_instead(self: ForOne, result: dict[str, Any], position: Any) -> Variant:
    return Variant("DISPATCH", None) if self.deviates else Perform.message(self, result, position)


def _of_receives(each: Read) -> None:
    register(
        __name__, each, "is-alone-by-default", "without Transaction it has a transaction to itself.",
        ("transaction-default",), unit=_alone,
    )  # fmt: skip
    register(
        __name__, each, "takes-any-transaction", "what is no transaction is taken for none.", ("return-error",),
        unit=_any_transaction,
    )  # fmt: skip
    register(
        __name__, each, "leaves-its-transaction", "a message received in a transaction is gone at once.",
        ("define-transaction-identifier", LOCKS.get(each.name, "state-suitable-message-property")), unit=_outside,
    )  # fmt: skip
    if each.name in COPIES:
        register(
            __name__, each, "keeps-the-message", "the message stays in its queue.", (f"remove-{_LIST}",), start=_peeks
        )
        register(
            __name__, each, "copies-nothing", "the journal of the queue does not get the message.", (f"copy-{_LIST}",),
            start=_without_journal,
        )  # fmt: skip


def _of_cursors(each: Read) -> None:
    if each.at == NEXT:
        register(
            __name__, each, "refuses-the-cursor-with-another-code", "an unread cursor is refused with E_INVALIDARG.",
            ("return-mq-error-illegal-cursor-action",), checks=_cursor_code,
        )  # fmt: skip
        register(
            __name__, each, "looks-at-the-cursor-before-access",
            "a queue opened for sending has no cursor that was read.",
            ("return-mq-error-access-denied", "equal-ref-queue-access-type"), checks=_cursor_first,
        )  # fmt: skip
    else:
        register(
            __name__, each, "misses-its-message-with-another-code",
            "a message that somebody else received is answered with E_INVALIDARG.",
            ("return-mq-error-message-already",), start=_gone_code,
        )  # fmt: skip


def _of_lookups(each: Read) -> None:
    if each.name in OTHER_WAY:
        register(
            __name__, each, f"seeks-{OTHER_WAY[each.name]}", f"it looks for the {OTHER_WAY[each.name]} message.",
            (f"define-{_LIST}",), look_up=_other_way,
        )  # fmt: skip
    register(
        __name__, each, "finds-nothing-with-another-code", "what is not there is answered as a time-out.",
        ("return-mq-error-message-not-found",), nothing_found=_wrong_code,
    )  # fmt: skip


for _each in READS:
    register(
        __name__, _each, "turns-want-destination-queue", "WantDestinationQueue means its opposite.",
        ("want-destination-queue-true", "want-destination-queue-false"), wanted=_turned("WantDestinationQueue"),
    )  # fmt: skip
    register(
        __name__, _each, "hands-nothing-out", "it succeeds without a message.", ("ppmsg-set",), message=_none_instead
    )
    if _each.wants_connector:
        register(
            __name__, _each, "turns-want-connector-type", "WantConnectorType means its opposite.",
            ("want-connector-type-true", "want-connector-type-false"), wanted=_turned("WantConnectorType"),
        )  # fmt: skip
    if not (_each.at and _each.wants_connector):
        register(
            __name__, _each, "turns-want-body", "WantBody means its opposite.", ("want-body-true", "want-body-false"),
            wanted=_turned("WantBody"),
        )  # fmt: skip
        register(
            __name__, _each, "shows-the-destination-unasked", "without WantDestinationQueue there is a destination.",
            ("want-destination-queue-default",), wanted=_by_default("WantDestinationQueue"),
        )  # fmt: skip
    if _each.seek:
        register(
            __name__, _each, "shows-the-connector-unasked", "without WantConnectorType there is a connector type.",
            ("want-connector-type-default",), wanted=_by_default("WantConnectorType"),
        )  # fmt: skip
        _of_lookups(_each)
    if _each.removes:
        _of_receives(_each)
    if _each.at not in ("", "head"):
        _of_cursors(_each)
