"""Facts on names in a message that only a look at the whole of it gives: is a queue listed, what does a report name.

MS-MQMQ 2.2.20.1 and MS-MQQB 3.1.7.1.7; the address of MS-MQRR 2.2.5.1 in a message that is read remotely.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.grammar.direct import PREFIX, is_format_name
from conformance.judge.packets.signed_fields import octets
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire import Packet
from conformance.wire.elements import MAX_SHOWN

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
