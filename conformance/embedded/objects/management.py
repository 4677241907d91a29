"""MSMQManagement and its faces for queues and outgoing queues (MC-MQAC 3.3 to 3.5), and MSMQCollection (3.15)."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from conformance.embedded.entities import MqError
from conformance.embedded.objects.variants import (
    ANY,
    DISP_E_UNKNOWNNAME,
    EMPTY,
    GET,
    METHOD,
    OPTIONAL,
    RPC_S_SERVER_UNAVAILABLE,
    ComObject,
    Signature,
    Variant,
    as_text,
    flag,
    long,
    member,
    text,
)
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_PARAMETER, MQ_ERROR_UNINITIALIZED_OBJECT
from conformance.spec.constants.properties import PROPERTIES

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
UNKNOWN = 2
ANSWERS: Final = {"YES": 0, "NO": 1, "UNKNOWN": UNKNOWN}
TYPES: Final = {"PUBLIC": 0, "PRIVATE": 1, "MACHINE": 2, "CONNECTOR": 3, "MULTICAST": 4}
STATES: Final = {
    "LOCAL CONNECTION": 0, "DISCONNECTED": 1, "WAITING": 2, "NEED VALIDATION": 3, "ONHOLD": 4, "INACTIVE": 5,
    "CONNECTED": 6, "DISCONNECTING": 7, "LOCKED": 8,
}  # fmt: skip
RECEIVED: Final = {
    "QueueFormatName": "BSTR", "SenderId": "BSTR", "SeqID": "UI8", "SeqNo": "I4", "LastAccessTime": "I4",
    "RejectCount": "I4",
}  # fmt: skip
"""Names and types of an IncomingTransactionalTransferInfo (2.2.4.1)."""
SENT: Final = {
    "EodLastAck": "", "EodLastAckTime": "I4", "EodLastAckCount": "UI4", "EodFirstNonAck": "", "EodLastNonAck": "",
    "EodNextSeq": "", "EodNoReadCount": "UI4", "EodNoAckCount": "UI4", "EodResendTime": "I4",
    "EodResendInterval": "UI4", "EodResendCount": "UI4",
}  # fmt: skip
"""Names and types of an OutgoingTransferInfo (2.2.4.2), in the order in which they are asked for; a place has none."""
_GIVEN = frozenset({"ERROR", "EMPTY", "NULL"})
BASE, QUEUES, OUTGOING = "IMSMQManagement", "IMSMQQueueManagement", "IMSMQOutgoingQueueManagement"


@dataclass(frozen=True, slots=True)
class Info:
    """A getter of one management property. asks: its name behind PROPID_MGMT_QUEUE_. tell: makes its answer."""

    name: str
    asks: str
    tell: Callable[[Any], Variant]


def _words(table: Mapping[str, int], otherwise: int) -> Callable[[Any], Variant]:
    return lambda value: long(table.get(str(value), otherwise))


def _bytes(value: Any) -> Variant:
    return Variant("UI8", int(value or 0))


def _texts(value: Any) -> Variant:
    return Variant("ARRAY", [text(each) for each in value or ()], "BSTR")


INFOS: Final = (
    Info("MessageCount", "MESSAGE_COUNT", lambda value: long(int(value or 0))),
    Info("ForeignStatus", "FOREIGN", _words(ANSWERS, UNKNOWN)),
    Info("QueueType", "TYPE", _words(TYPES, 0)),
    Info("IsLocal", "LOCATION", lambda value: flag(value == "LOCAL")),
    Info("TransactionalStatus", "XACT", _words(ANSWERS, UNKNOWN)),
    Info("BytesInQueue", "BYTES_IN_QUEUE", _bytes),
    Info("JournalMessageCount", "JOURNAL_MESSAGE_COUNT", lambda value: long(int(value or 0))),
    Info("BytesInJournal", "BYTES_IN_JOURNAL", _bytes),
    Info("State", "STATE", _words(STATES, STATES["ONHOLD"])),
    Info("NextHops", "NEXTHOPS", _texts),
)

_OF = {
    QUEUES: frozenset({"journalmessagecount", "bytesinjournal", "eodgetreceiveinfo"}),
    OUTGOING: frozenset({"state", "nexthops", "eodgetsendinfo", "resume", "pause", "eodresend"}),
}


class ManagementObject(ComObject):
    """The state of a queue. computer, format_name: what it is of. outgoing: whether the queue is an outgoing one.

    FACE: the face of a class that has one alone; None if the queue decides.
    """

    CLASS = "MSMQManagement"
    INTERFACES: ClassVar[tuple[str, ...]] = (BASE,)
    FACE: ClassVar[str | None] = None
    NOT_IMPLEMENTED: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self, manager: Manager) -> None:
        """Make an object that is not initialized (3.3.3)."""
        super().__init__(manager)
        self.computer: str | None = None
        self.format_name: str | None = None
        self.is_initialized = self.outgoing = False

    @classmethod
    def rows(cls) -> tuple[Signature, ...]:
        """Return the getters of management properties."""
        return tuple(Signature(info.name, GET, {}, "", info) for info in INFOS)

    def interfaces(self) -> tuple[str, ...]:
        """Return what it can be asked for: one of the two faces (3.3.1)."""
        return (BASE, self.face())

    def face(self) -> str:
        """Return the face that it has: the one of its class, or that of its queue."""
        return self.FACE or (OUTGOING if self.outgoing else QUEUES)

    def row(self, signature: Signature, values: list[Any]) -> Variant | None:
        """Read a management property."""
        info: Info = signature.row
        self.check_initialized()
        return info.tell(self.info(info.asks))

    def find(self, name: str, kind: str) -> Signature:
        """Return a member; those of the other face are not there once it is known which the object has."""
        found = super().find(name, kind)
        known = self.is_initialized or self.FACE is not None
        if known and found.name.lower() in _OF[QUEUES if self.face() == OUTGOING else OUTGOING]:
            raise MqError(DISP_E_UNKNOWNNAME)
        return found

    def check_initialized(self) -> None:
        """Refuse an object that is not initialized."""
        if not self.is_initialized:
            raise MqError(MQ_ERROR_UNINITIALIZED_OBJECT)

    def info(self, word: str) -> Json:
        """QMMgmt Get Info (3.3.6.2) of PROPID_MGMT_QUEUE_..., None for VT_NULL. Raises MqError."""
        number = PROPERTIES[f"PROPID_MGMT_QUEUE_{word}"].value
        return self.manager.management.get(self.target(), [number])[0].get("value")

    def target(self) -> dict[str, Json]:
        """Return the queue as management names it."""
        return {"type": "queue", "format_name": self.format_name}

    # Initialization.

    @member(METHOD, "Init", Machine=OPTIONAL, Pathname=OPTIONAL, FormatName=OPTIONAL)
    def init(self, machine: Variant, path: Variant, format_name: Variant) -> None:
        """Stand for a queue (3.3.4.1.1). Raises MqError."""
        given_path, given_name, given_machine = _text(path), _text(format_name), _text(machine)
        for check in self.checks(given_path, given_name):
            check()
        if given_machine is not None:
            self.computer = given_machine
        if given_name is not None:
            self.format_name = given_name
        else:
            self.format_name = self.manager.objects.names.format_name(given_path or "")
        self.bind()
        self.outgoing = self.info("LOCATION") == "REMOTE"
        self.is_initialized = True

    def checks(self, path: str | None, format_name: str | None) -> tuple[Callable[[], None], ...]:
        """Return the checks of the names that are given."""
        return (lambda: self.check_some(path, format_name), lambda: self.check_one(path, format_name))

    def check_some(self, path: str | None, format_name: str | None) -> None:
        """Refuse a call without a name."""
        if path is None and format_name is None:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)

    def check_one(self, path: str | None, format_name: str | None) -> None:
        """Refuse a call with two names."""
        if path is not None and format_name is not None:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)

    def bind(self) -> None:
        """Find the computer: another than this one cannot be asked."""
        if self.computer is not None and not self.manager.queues.is_local(self.computer):
            raise MqError(RPC_S_SERVER_UNAVAILABLE)

    @member(GET, "FormatName")
    def get_format_name(self) -> Variant:
        """Return the format name (3.3.4.1.2)."""
        self.check_initialized()
        return text(self.format_name)

    @member(GET, "Machine")
    def get_machine(self) -> Variant:
        """Return the computer, this one if none was given (3.3.4.1.3)."""
        self.check_initialized()
        return text(self.manager.computer if self.computer is None else self.computer)

    # Transfers.

    @member(METHOD, "EodGetReceiveInfo")
    def received(self) -> Variant:
        """Return a collection for each sequence that comes in (3.4.4.1.3)."""
        self.check_initialized()
        columns = [column["value"] for column in self.info("EOD_SOURCE_INFO") or ()]
        collections = [
            {name: _typed(vt, value) for (name, vt), value in zip(RECEIVED.items(), row, strict=True)}
            for row in zip(*columns, strict=True)
        ]
        told = [Variant("DISPATCH", self.collected(each)) for each in collections]
        return Variant("ARRAY", told, "VARIANT")

    @member(METHOD, "EodGetSendInfo")
    def sent(self) -> Variant:
        """Return a collection of what is known of the transfer (3.5.4.1.3)."""
        self.check_initialized()
        values = {}
        for name, vt in SENT.items():
            value = self.info(_property_of(name))
            values[name] = _typed(vt, value) if vt else Variant("DISPATCH", self.collected(_place(value)))
        return Variant("DISPATCH", self.collected(values))

    def collected(self, values: Mapping[str, Variant]) -> ComObject:
        """Return a collection."""
        made: ComObject = self.manager.parts.collection(self.manager, values)
        return made

    @member(METHOD, "Resume")
    def resume(self) -> None:
        """Let the queue transfer again (3.5.4.1.4)."""
        self.act("RESUME")

    @member(METHOD, "Pause")
    def pause(self) -> None:
        """Hold the queue (3.5.4.1.5)."""
        self.act("PAUSE")

    @member(METHOD, "EodResend")
    def resend(self) -> None:
        """Send again what is not acknowledged (3.5.4.1.6)."""
        self.act("EOD_RESEND")

    def act(self, action: str) -> None:
        """QMMgmt Action (3.3.6.3). Raises MqError."""
        self.check_initialized()
        self.manager.management.act(self.target(), action)


class QueueManagementObject(ManagementObject):
    """MSMQQueueManagement: the face for queues, made directly (3.4)."""

    CLASS = "MSMQQueueManagement"
    INTERFACES = (QUEUES,)
    FACE = QUEUES


class OutgoingManagementObject(ManagementObject):
    """MSMQOutgoingQueueManagement: the face for outgoing queues, made directly (3.5)."""

    CLASS = "MSMQOutgoingQueueManagement"
    INTERFACES = (OUTGOING,)
    FACE = OUTGOING


def _text(given: Variant) -> str | None:
    return None if given.vt in _GIVEN else as_text(given)


def _typed(vt: str, value: Json) -> Variant:
    if value is None:
        return EMPTY
    if vt == "BSTR":
        return text(str(value))
    return long(int(value)) if vt == "I4" else Variant(vt, int(value))


def _property_of(name: str) -> str:
    words = "".join(f"_{letter}" if letter.isupper() else letter for letter in name.removeprefix("Eod"))
    return f"EOD{words.upper()}"


def _place(packed: str | None) -> dict[str, Variant]:
    """Return a SequenceInfoCollection (2.2.4.3), empty if there is no place."""
    if packed is None:
        return {}
    sequence, number, previous = struct.unpack_from("<QII", base64.b64decode(packed))
    return {"SeqID": Variant("UI8", sequence), "SeqNo": long(number), "PrevNo": long(previous)}


class EnumeratorObject(ComObject):
    """An enumerator of the values of a collection. It has no IDispatch."""

    CLASS = "EnumVARIANT"
    STANDARD = ("00020404-0000-0000-c000-000000000046",)  # IEnumVARIANT
    INTERFACES = ()
    NOT_IMPLEMENTED = ()
    DISPATCHES = False


class CollectionObject(ComObject):
    """A collection, empty if a client made it (3.15.3)."""

    CLASS = "MSMQCollection"
    INTERFACES = ("IMSMQCollection",)
    NOT_IMPLEMENTED = ()

    def __init__(self, manager: Manager, values: Mapping[str, Variant] | None = None) -> None:
        """Make a collection of these values."""
        super().__init__(manager)
        self.values = dict(values or {})

    @member(METHOD, "Item", Index=ANY)
    def item(self, index: Variant) -> Variant:
        """Return the value of a name (3.15.4.1.1). Raises MqError for an unknown one."""
        found = self.values.get(str(index.value)) if index.vt == "BSTR" else None
        if found is None:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        return found

    @member(GET, "Count")
    def count(self) -> Variant:
        """Return the number of values (3.15.4.1.2)."""
        return long(len(self.values))

    @member(METHOD, "_NewEnum")
    def new_enum(self) -> Variant:
        """Return an enumerator (3.15.4.1.3)."""
        return Variant("UNKNOWN", EnumeratorObject(self.manager))
