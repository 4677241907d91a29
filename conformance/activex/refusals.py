"""Layer map: which status a member answers where the queue manager's event has failed, and what that stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.activex.events import argument
from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.members import Member
from conformance.activex.statuses import S_OK, failed
from conformance.activex.values import Variant
from conformance.model.expected import Fails
from conformance.spec.catalogue import catalogue, reading_id
from conformance.spec.constants import hresults

NOT_FOUND_VALUE: Final = reading_id("R-MQAC-message-not-found-value")
READ_TIMEOUT: Final = reading_id("R-MQAC-read-timeout")
LOOKUP_STATUS: Final = reading_id("R-MQAC-lookup-status")
NO_CONTEXT: Final = reading_id("R-MQAC-transaction-without-context")
SINGLE: Final = reading_id("R-MQAC-single-message")
LOOKUP_TYPE: Final = reading_id("R-MQAC-lookup-identifier-type")
ENDED_TRANSACTION: Final = reading_id("R-MQAC-ended-transaction")
AS_PRINTED: Final = 0xC00E0008

_UNREAD: Final = "illegal-cursor-action"
_GONE: Final = ("message-already-received", "already-received")
_NOTHING: Final = ("no-wait", "message-not-found", "io-timeout")


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a member tells a failure. columns: of its cells. null: S_OK and no object tells it too.

    codes: the HRESULTs, each with the readings it follows; none if any failure will do.
    """

    columns: tuple[str, ...]
    codes: tuple[tuple[int, tuple[tuple[str, str], ...]], ...] = ()
    null: bool = False

    def holds(self, seen: Seen, readings: Readings) -> tuple[bool, tuple[tuple[str, str], ...]]:
        """Tell whether an answer tells this failure, and the readings that it follows."""
        if seen.waits or seen.gives:
            return False, ()
        if self.null:
            known = accepted(readings, READ_TIMEOUT)
            if seen.status == S_OK:
                return "null" in known, ((READ_TIMEOUT, "null"),) if len(known) > 1 else ()
            if "error" not in known:
                return False, ()
            assumed = ((READ_TIMEOUT, "error"),) if len(known) > 1 else ()
        else:
            assumed = ()
        if not self.codes:
            return failed(seen.status), assumed
        for code, follows in self.codes:
            if code == seen.status and all(which in accepted(readings, reading) for reading, which in follows):
                return True, (*assumed, *(one for one in follows if len(accepted(readings, one[0])) > 1))
        return False, assumed

    def default(self, readings: Readings) -> int:
        """Return the status of the first accepted alternative."""
        if self.null and accepted(readings, READ_TIMEOUT)[0] == "null":
            return S_OK
        for code, follows in self.codes:
            if all(which in accepted(readings, reading) for reading, which in follows):
                return code
        return hresults.MQ_ERROR

    def expected(self, readings: Readings) -> dict[str, object]:
        """Return the demanded status as data."""
        status = self.default(readings)
        if self.null and status == S_OK:
            return {"status": S_OK, "value": None}
        return {"status": status if self.codes else "a failing HRESULT"}


def accepted(readings: Readings, reading: str) -> tuple[str, ...]:
    """Return the accepted alternatives of a reading, the default first."""
    return readings.get(reading) or catalogue().readings[reading].defaults["windows"]


def excused(member: Member, call: Invoke, seen: Seen, readings: Readings) -> bool:
    """Tell whether an accepted reading lets a member answer so, whatever its event would: nothing has happened then."""
    value = argument(member, call, "Transaction")
    takes = any(one.name == "Transaction" for slot in member.slots for one in slot.arguments)
    if failed(seen.status):
        of_caller = takes and (value is None or value in (Variant("I4", 1), Variant("I4", 2)))
        if value == Variant("I4", 3) and "none" in accepted(readings, SINGLE):
            return True
        identifier = argument(member, call, "LookupId")
        as_text = identifier is not None and identifier.vt == "BSTR"
        if of_caller and "fails" in accepted(readings, NO_CONTEXT):
            return True
        return as_text and "number-only" in accepted(readings, LOOKUP_TYPE)
    return False


def renewed(member: Member, call: Invoke, seen: Seen, readings: Readings) -> bool:
    """Tell whether a transaction that has ended is taken for a new one, where this is accepted."""
    value = argument(member, call, "Transaction")
    given = value is not None and value.vt == "DISPATCH"
    return given and not failed(seen.status) and "new" in accepted(readings, ENDED_TRANSACTION)


NOT_FOUND: Final = (
    (hresults.MQ_ERROR_MESSAGE_NOT_FOUND, ((NOT_FOUND_VALUE, "by-name"),)),
    (AS_PRINTED, ((NOT_FOUND_VALUE, "as-printed"),)),
)
NO_MESSAGE: Final = Refusal(("not-found",), NOT_FOUND, null=True)
EXPIRED: Final = Refusal(("expired",), ((hresults.MQ_ERROR_IO_TIMEOUT, ()),), null=True)


def of_read(fails: Fails) -> Refusal:
    """Return how a read tells a failure of its event. Empty columns: the section of the member does not speak of it."""
    word = fails.must.rpartition(".")[2]
    if word == _UNREAD:
        return Refusal(("check:cursor-unread",), ((hresults.MQ_ERROR_ILLEGAL_CURSOR_ACTION, ()),))
    if word in _GONE:
        strict = all(code is not None for _, code in fails.by_reading)
        codes = ((hresults.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, ()),) if strict else ()
        return Refusal(("check:message-gone",), codes)
    if word == "transaction-ends":
        return Refusal(("transaction:object", "locks"))
    return NO_MESSAGE if word in _NOTHING else Refusal(())


def of_lookup(fails: Fails) -> Refusal:
    """Return how a read by lookup identifier tells a failure of its event."""
    if not fails.must.startswith("MQDMPR-3.1.7.3.3"):
        return of_read(fails)
    own = fails.codes or tuple(code for _, code in fails.by_reading if code is not None)
    found = hresults.MQ_ERROR_MESSAGE_NOT_FOUND
    events = tuple((code, ((LOOKUP_STATUS, "as-event"),)) for code in own if code != found)
    named = tuple((code, (*follows, (LOOKUP_STATUS, "not-found"))) for code, follows in NOT_FOUND)
    by_name = ((found, ()),) if found in own else ()
    return Refusal(("not-found",), (*by_name, *named, *events))
