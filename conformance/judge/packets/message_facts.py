"""Facts that only the whole packet gives: surplus bytes, its HTTP envelope, the names in a report or a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from conformance.grammar.queue_format import PREFIX, is_format_name
from conformance.judge.packets.signatures import octets
from conformance.judge.rules import Expr, Has, Not, both, either, eq, ne
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire import Packet
from conformance.wire.elements import MAX_SHOWN
from conformance.wire.headers import (
    ADMINISTRATION_ID,
    BODY_SECTION_ID,
    DESTINATION_ID,
    HEADER_SECTION_ID,
    RESPONSE_ID,
    SIGNATURE,
    SIGNATURE_ID,
)
from conformance.wire.layout import Value

CAUSE = "Packet.Cause"
"""The requirement that explains an odd packet; empty for any other packet."""
_LEFT, _Q, _S = "Packet.Unexplained", "MultiQueueFormatHeader.", "SoapHeader."

# Facts on a text, and their values for one that does not end at its first NUL.
ENDS = (("Inner", True), ("Terminated", False))
QUEUES = ("DestinationQueue", "AdminQueue", "ResponseQueue")


def _marked(key: str, number: int) -> Expr:
    return both(Has(key), ne(key, number))


ODD: Expr = both(
    eq("BaseHeader.Signature", SIGNATURE),
    Has("UserHeader.Flags"),
    either(
        both(ne(_LEFT, 0), Not(Has("ExtensionHeader.Flags"))),
        *(eq(f"UserHeader.{queue}.DirectFormatName.{fact}", odd) for queue in QUEUES for fact, odd in ENDS),
        _marked(f"{_S}HeaderSectionID", HEADER_SECTION_ID),
        _marked(f"{_S}BodySectionID", BODY_SECTION_ID),
        _marked(f"{_Q}Destination.HeaderID", DESTINATION_ID),
        _marked(f"{_Q}Administration.HeaderID", ADMINISTRATION_ID),
        _marked(f"{_Q}Response.HeaderID", RESPONSE_ID),
        _marked(f"{_Q}Signature.ID", SIGNATURE_ID),
    ),
)


def is_no_cause(requirement: str) -> Expr:
    """The requirement is not the one that explains the packet."""
    return ne(CAUSE, requirement)


DATA, SOAP = "SRMPEnvelopeHeader.Data", "Packet.Envelope"
COMPOUND, POSTED = "CompoundMessageHeader.", "Packet.EnvelopePost"
RIGHT_POST = "post"
# The documents write it without the slash that SOAP 1.1 has.
NAMESPACES = ("http://schemas.xmlsoap.org/soap/envelope/", "http://schemas.xmlsoap.org/soap/envelope")
RIGHT = "soap"
_ORDER: Mapping[int, str] = {1: "Header", 2: "Body"}


class _Wrong(Exception):
    """Raised with a word for what the text is not."""


class _Reader:
    """The elements of an envelope as they come. depth: of the current element. children: begun in the Envelope."""

    def __init__(self) -> None:
        self.depth = 0
        self.children = 0

    def start(self, name: str, _attributes: object) -> None:
        self.depth += 1
        if self.depth == 1 and not _is(name, "Envelope"):
            raise _Wrong("no Envelope")
        if self.depth == 2:
            self.children += 1
            wanted = _ORDER.get(self.children)
            if wanted and not _is(name, wanted):
                raise _Wrong(f"no {wanted}")
        if self.depth == 3 and self.children == 2:
            raise _Wrong("Body not empty")

    def end(self, _name: str) -> None:
        self.depth -= 1

    def text(self, text: str) -> None:
        if self.depth == 2 and self.children == 2 and text.strip():
            raise _Wrong("Body not empty")


def envelope_facts(packet: Packet) -> dict[str, Value]:
    """Return facts on the two headers of a message that was sent over HTTP, as far as the packet has them.

    `Packet.Envelope`: `soap`, or a word for what the envelope lacks. `Packet.EnvelopePost`: `post` where the compound
    message begins with an HTTP POST whose headers end before the body of the message does begin, else `no post`.
    """
    out: dict[str, Value] = {}
    text, whole = packet.fields.get(DATA), packet.fields.get(f"{DATA}.Terminated")
    if isinstance(text, str) and whole and not packet.fields[f"{DATA}.Inner"]:
        out[SOAP] = kind_of(text)
    data, body = packet.fields.get(COMPOUND + "Data"), packet.fields.get(COMPOUND + "MsgBodyOffset")
    if isinstance(data, bytes) and isinstance(body, int) and body <= len(data):
        head = data[:body] if body else data
        out[POSTED] = RIGHT_POST if head.startswith(b"POST ") and b"\r\n\r\n" in head else "no post"
    return out


def kind_of(text: str) -> str:
    """Return `soap` for a SOAP 1.1 message as SRMP has it: an Envelope of a Header and then an empty Body.

    Else `no XML`, `no Envelope`, `no Header`, `no Body` or `Body not empty`. A document type is no part of SOAP.
    """
    reader = _Reader()
    parser = expat.ParserCreate("utf-8", "}")
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except _Wrong as wrong:
        return str(wrong)
    except expat.ExpatError:
        return "no XML"
    return RIGHT if reader.children > 1 else "no Body" if reader.children else "no Header"


def _refuse(*_: object) -> None:
    raise _Wrong("no XML")


def _is(name: str, wanted: str) -> bool:
    space, _, local = name.rpartition("}")
    return local == wanted and space in NAMESPACES


LISTED, TARGET = "Packet.DestinationListed", "Packet.TargetQueue"
SENDER = "Packet.Sender."
"""Beginning of the facts on the address of a remotely read message: `Length`, `Type`, `Scope`."""
REPORT = int(ENUMERATIONS["MESSAGE_CLASS_VALUES"].members["MQMSG_CLASS_REPORT"])
NAME, OTHER = "format name", "no format name"
_U, _LIST = "UserHeader.", "MultiQueueFormatHeader.Destination.FormatNameList"
_BEGIN, _END = "<TARGET QUEUE>", "</TARGET QUEUE>"
_ADDRESS = slice(32, 48)  # The bytes of QueueManagerAddress.
_MOST = 4_096
_CLASS, _NULL = "MessagePropertiesHeader.MessageClass", "00000000-0000-0000-0000-000000000000"
_DIRECT = 7
_OTHER_QUEUES = 6  # FormatType of a distribution list, whose queues are not told.
# The type of the destination to the FormatType of an element that names it.
_TYPES = {3: 2, 5: 1, 7: 3}


def is_told_of(fields: Mapping[str, Any]) -> bool:
    """Return True where `facts_on_names` may have something to tell; it has not of most packets."""
    return (
        "MultiQueueFormatHeader.Destination.HeaderSize" in fields
        or fields.get(_CLASS) == REPORT
        or (fields.get(_U + "Flags.DQ") == _DIRECT and fields.get(_U + "QueueManagerAddress") != _NULL)
    )


def facts_on_names(packet: Packet) -> dict[str, Any]:
    """Return `Packet.DestinationListed`, `Packet.TargetQueue` and `Packet.Sender.*`, each where the message has what it
    is about."""
    out: dict[str, Any] = {}
    if packet.has("MultiQueueFormatHeader"):
        listed = _listed(packet)
        if listed is not None:
            out[LISTED] = listed
    if packet.fields.get(_CLASS) == REPORT:
        named = _target(packet)
        if named is not None:
            out[TARGET] = NAME if is_format_name(named) else OTHER
    if packet.fields.get(_U + "Flags.DQ") == _DIRECT and any(raw := packet.data[_ADDRESS]):
        for word, at, width in (("Length", 0, 2), ("Type", 2, 2), ("Scope", 4, 4)):
            out[SENDER + word] = int.from_bytes(raw[at : at + width], "little")
    return out


def _listed(packet: Packet) -> bool | None:
    """Return whether the list of destinations has the queue the message goes to; None where that cannot be told.

    It cannot of a list that is not read to its end, or with a distribution list, or with names of another form alone.
    """
    get = packet.fields.get
    kind = get(_U + "Flags.DQ")
    count = int(get(f"{_LIST}.Elements", 0))
    if not isinstance(kind, int) or kind not in _TYPES or get(f"{_LIST}.Stopped") != "":
        return None
    if get(f"{_LIST}.Of{_OTHER_QUEUES}"):
        return None
    wanted = _destination(packet, kind)
    if wanted is None or not get(f"{_LIST}.Of{_TYPES[kind]}"):
        return None
    if _holds(packet, kind) or any(_element(packet, f"{_LIST}.{at}.") == wanted for at in range(min(count, MAX_SHOWN))):
        return True
    return False if count <= MAX_SHOWN else None


def _holds(packet: Packet, kind: int) -> bool:
    """Return whether the bytes of the destination's name are somewhere in the list."""
    at, size = packet.spans[_LIST]
    raw = packet.data[at : at + size]
    if kind == 3:
        wanted = packet.data[_ADDRESS] + octets(packet, _U + "DestinationQueue.PrivateQueueIdentifier")
    else:
        word = "PublicQueueIdentifier" if kind == 5 else "DirectFormatName"
        wanted = octets(packet, f"{_U}DestinationQueue.{word}")
    found = raw.find(wanted)
    while found >= 0 and found % 2:
        found = raw.find(wanted, found + 1)
    return bool(wanted) and found >= 0


def _destination(packet: Packet, kind: int) -> tuple[object, ...] | None:
    get, queue = packet.fields.get, _U + "DestinationQueue."
    found: tuple[object, ...]
    match kind:
        case 3:
            found = (get(_U + "QueueManagerAddress"), get(queue + "PrivateQueueIdentifier"))
        case 5:
            found = (get(queue + "PublicQueueIdentifier"),)
        case _:
            name = get(queue + "DirectFormatName")
            found = (_spelling(name) if isinstance(name, str) else None,)
    return None if None in found else found


def _element(packet: Packet, key: str) -> tuple[object, ...]:
    get = packet.fields.get
    match get(key + "FormatType"):
        case 1:
            return (get(key + "PublicQueueIdentifier"),)
        case 2:
            return (get(key + "SourceQueueManager"), get(key + "PrivateQueueIdentifier"))
        case 3:
            name = get(key + "DirectFormatName")
            return (_spelling(name) if isinstance(name, str) else None,)
    return ()


def _spelling(name: str) -> str:
    """Return a direct name as names are compared: without prefix, in one case."""
    folded = name.upper()
    return folded.removeprefix(PREFIX)


def _target(packet: Packet) -> str | None:
    """Return the queue that the body of a report names; None where the body has no place for it."""
    body = packet.fields.get("MessagePropertiesHeader.MessageBody")
    text = body[:_MOST].decode("utf-16-le", "replace") if isinstance(body, bytes) else ""
    _, begun, rest = text.partition(_BEGIN)
    name, ended, _ = rest.partition(_END)
    return name if begun and ended else None
