"""The 22 reads of MSMQQueue (MC-MQAC 3.11.4.1.7 to .30, .33), as a table: what each looks at, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import INFINITE, Cursor, MqError, Position
from conformance.embedded.objects.dispatch import ANY, METHOD, OPTIONAL, Kind, NoAnswer, Signature
from conformance.embedded.objects.transactions import TransactionArguments, Unit
from conformance.embedded.objects.variants import (
    DISP_E_TYPEMISMATCH,
    E_INVALIDARG,
    INTEGERS,
    NOTHING,
    Variant,
    as_flag,
    as_integer,
)
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import (
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_NOT_FOUND,
)

if TYPE_CHECKING:
    from conformance.embedded.objects.queue import QueueObject

Json = Any
HEAD, CURRENT, NEXT = "head", "current", "next"
_NOTHING_CAME = (MQ_ERROR_IO_TIMEOUT, MQ_ERROR_MESSAGE_NOT_FOUND)


@dataclass(frozen=True, slots=True)
class Read:
    """A read. removes: it takes the message. at: the head, or the cursor (current, next); empty for a lookup.

    seek: of a lookup, the direction. wants_connector: it has the argument WantConnectorType.
    """

    name: str
    removes: bool
    at: str = ""
    seek: str = ""
    wants_connector: bool = True
    shown_to_peeks: bool = False

    @property
    def by_identifier(self) -> bool:
        """True if it has the argument LookupId."""
        return self.seek in ("current", "next", "previous")

    def arguments(self) -> dict[str, Kind]:
        """Return the arguments, in their order."""
        given: dict[str, Kind] = {"LookupId": ANY} if self.by_identifier else {}
        if self.removes:
            given["Transaction"] = OPTIONAL
        given |= {"WantDestinationQueue": OPTIONAL, "WantBody": OPTIONAL}
        if self.at:
            given["ReceiveTimeout"] = OPTIONAL
        if self.wants_connector:
            given["WantConnectorType"] = OPTIONAL
        return given


def _reads() -> tuple[Read, ...]:
    found = []
    for suffix, connector in (("_v1", False), ("", True)):
        for name, removes, at in (
            ("Receive", True, HEAD), ("ReceiveCurrent", True, CURRENT),
            ("Peek", False, HEAD), ("PeekNext", False, NEXT), ("PeekCurrent", False, CURRENT),
        ):  # fmt: skip
            found.append(Read(name + suffix, removes, at, wants_connector=connector))
    for verb, removes in (("Receive", True), ("Peek", False)):
        found.append(Read(f"{verb}ByLookupId", removes, seek="current"))
        for seek in ("Next", "Previous", "First", "Last"):
            found.append(Read(f"{verb}{seek}ByLookupId", removes, seek=seek.lower()))
    found.append(Read("ReceiveByLookupIdAllowPeek", True, seek="current", shown_to_peeks=True))
    return tuple(found)


READS = _reads()
SIGNATURES = tuple(Signature(read.name, METHOD, read.arguments(), "", read, waits=True) for read in READS)


@dataclass(slots=True)
class Asked:
    """The arguments of a read, by name; those that the read does not have are left out."""

    given: Mapping[str, Variant]
    body: bool = field(default=True)
    destination: bool = field(default=False)
    connector: bool = field(default=False)
    timeout_ms: int = field(default=INFINITE)
    lookup: int = field(default=0)

    def named(self, name: str) -> Variant:
        """Return an argument, left out if it is not there."""
        return self.given.get(name, Variant("ERROR", 0x80020004))


def milliseconds(given: Variant) -> int:
    """Return a time-out. Raises MqError for what is no number; a negative one is that of its bits."""
    if given.vt not in INTEGERS:
        raise MqError(DISP_E_TYPEMISMATCH)
    return as_integer(given, 64) & INFINITE


class Perform:
    """One read in progress: its checks in the order of the text, then the event of the queue manager."""

    def __init__(self, queue: QueueObject, read: Read, asked: Asked, caller: Caller | None) -> None:
        """queue: the object it is called on. caller: whom it may answer later."""
        self.queue = queue
        self.manager = queue.manager
        self.read = read
        self.asked = asked
        self.caller = caller
        self.transactions: TransactionArguments = self.manager.parts.transaction_arguments(self.manager)

    def perform(self) -> Variant | None:
        """Check, then read. Raises NoAnswer if it answers through its caller, MqError for a failure."""
        for check in self.checks():
            check()
        self.understand()
        unit = self.unit() if self.read.removes else Unit(self.manager, None)
        try:
            self.start(unit)
        except MqError as failure:
            unit.failed()
            if self.read.at == "" or failure.status in _NOTHING_CAME:
                return self.not_found(failure)
            raise
        raise NoAnswer

    def checks(self) -> tuple[Any, ...]:
        """Return the checks, in the order in which they are made."""
        found: list[Any] = [self.check_lookup] if self.read.by_identifier else []
        found += [self.queue.check_initialized, self.queue.check_open, self.check_access]
        if self.read.at == NEXT:
            found.append(self.queue.check_cursor_read)
        return tuple(found)

    def check_lookup(self) -> None:
        """Refuse a lookup identifier of 0, or one that is none."""
        self.asked.lookup = self.lookup(self.asked.named("LookupId"))
        if self.asked.lookup == 0:
            raise MqError(E_INVALIDARG)

    def lookup(self, given: Variant) -> int:
        """Return a lookup identifier, given as the text that a message has or as a number."""
        if given.vt == "BSTR" and isinstance(given.value, str):
            digits = given.value.strip()
            if not (digits.isascii() and digits.isdigit() and int(digits) < 1 << 64):
                raise MqError(E_INVALIDARG)
            return int(digits)
        if given.vt in INTEGERS:
            return int(given.value) & 0xFFFFFFFFFFFFFFFF
        raise MqError(E_INVALIDARG)

    def check_access(self) -> None:
        """Refuse a queue that was opened for something else."""
        receiving = ("receive", "receive_admin")
        self.queue.check_access(receiving if self.read.removes else ("peek", "peek_admin", *receiving))

    def understand(self) -> None:
        """Read the flags and the time-out. Raises MqError for a value of another type."""
        asked = self.asked
        asked.body = self.wanted("WantBody", True)
        asked.destination = self.wanted("WantDestinationQueue", False)
        asked.connector = self.wanted("WantConnectorType", not self.read.wants_connector)
        asked.timeout_ms = self.timeout()

    def wanted(self, name: str, default: bool) -> bool:
        """Return a flag, its default if it is left out."""
        given = self.asked.named(name)
        return default if given.left_out else as_flag(given)

    def timeout(self) -> int:
        """Return the time-out in milliseconds, INFINITE if it is left out."""
        given = self.asked.named("ReceiveTimeout")
        return INFINITE if given.left_out else milliseconds(given)

    def unit(self) -> Unit:
        """Return the unit of work that the argument Transaction means."""
        return self.transactions.unit(self.asked.named("Transaction"))

    def start(self, unit: Unit) -> None:
        """Raise the event. Its answer comes now or later."""
        reading, queue = self.manager.reading, self.queue
        caller = self.through(unit)
        if self.read.seek:
            self.look_up(caller, unit)
        elif self.read.removes:
            reading.receive(caller, queue.opened, self.cursor(), self.asked.timeout_ms, unit.transaction)
        elif self.read.at == NEXT:
            reading.peek_next(caller, queue.opened, self.cursor(), self.asked.timeout_ms)
        else:
            reading.peek(caller, queue.opened, self.cursor(), self.asked.timeout_ms)

    def look_up(self, caller: Caller, unit: Unit) -> None:
        """Read Message By Lookup Identifier."""
        self.manager.reading.by_lookup_id(
            caller, self.queue.opened, self.asked.lookup, self.read.seek,
            destructive=self.read.removes, transaction=unit.transaction,
        )  # fmt: skip

    def cursor(self) -> Cursor | None:
        """Return the cursor that it reads at, None for the head."""
        return None if self.read.at == HEAD else self.queue.cursor()

    def through(self, unit: Unit) -> Caller:
        """Return a caller that makes an object of the message before it passes the answer on."""
        caller = self.caller
        if caller is None:
            raise MqError(E_INVALIDARG)
        answer = caller.answer

        def passed_on(result: dict[str, Json]) -> None:
            if result["status"] == 0:
                position: Position | None = getattr(result["message"], "position", None)
                unit.succeeded()
                self.show(position, unit)
                answer(self.manager.objects.value_result(self.message(result, position)))
                return
            unit.failed()
            if result["status"] in _NOTHING_CAME:
                answer(self.timed_out(result["status"]))
            else:
                answer(result)

        return Caller(caller.session, caller.tag[1], passed_on, caller.pending)

    def show(self, position: Position | None, unit: Unit) -> None:
        """Let peeks see a message that was received in a transaction, for the method that allows it."""
        if self.read.shown_to_peeks and position is not None and unit.transaction is not None:
            position.queue.shown.append(position)

    def message(self, result: dict[str, Json], position: Position | None) -> Variant:
        """Return the object of a message, with what is wanted of it."""
        received = self.manager.parts.message_object(self.manager)
        carried = position.message.carried if position is not None else None
        received.receive(result["message"], (carried or {}).get("object") or {}, self.queue, self.asked)
        return Variant("DISPATCH", received)

    def timed_out(self, status: int) -> dict[str, Json]:
        """Return the answer of a read whose time is over: no message."""
        return self.manager.objects.value_result(NOTHING)

    def not_found(self, failure: MqError) -> Variant | None:
        """Answer a read that found nothing: a lookup fails, whatever the reason."""
        if self.read.seek:
            raise MqError(self.nothing_found())
        return NOTHING

    def nothing_found(self) -> int:
        """Return the status of a lookup that finds nothing."""
        return MQ_ERROR_MESSAGE_NOT_FOUND
