"""Reads the envelope of a message that was sent over HTTP as XML (MS-MQRR 2.2.5.1.2.1, which cites MC-MQSRM 2.2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from xml.parsers import expat

from conformance.wire import Packet
from conformance.wire.layout import Value

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
