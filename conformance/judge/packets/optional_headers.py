"""Compares user messages with packets in the optional parts: name lists, Soap texts, security members."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from conformance.judge.packets.signatures import PLACES, WHY, signature_facts
from conformance.judge.packets.user_messages import SENDER_TYPES, canonical, queue_name
from conformance.judge.packets.user_messages import Message as user_messages_Message
from conformance.spec.catalogue import requirement, requirement_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import Packet
from conformance.wire import elements as lists
from conformance.wire.headers import (
    ADDRESS_HEADER_SIZE,
    ADMINISTRATION_ID,
    BODY_SECTION_ID,
    DESTINATION_ID,
    DIRECT,
    DISTRIBUTION_LIST,
    HEADER_SECTION_ID,
    LISTS,
    MULTI_QUEUE_FORMAT_HEADER,
    PRIVATE,
    PUBLIC,
    RESPONSE_ID,
    SIGNATURE_ID,
)
from conformance.wire.layout import Blob, Elements, Value, steps_of

MEMBERS = dict(zip(LISTS, ("destinations", "administration_queues", "response_queues"), strict=True))
_IDS = dict(zip(LISTS, (DESTINATION_ID, ADMINISTRATION_ID, RESPONSE_ID), strict=True))
_Q, _S = "MultiQueueFormatHeader.", "SoapHeader."
_TABLE: Elements = next(
    step.elements for step in steps_of(MULTI_QUEUE_FORMAT_HEADER) if isinstance(step, Blob) and step.elements
)
KIND_WORDS = {PUBLIC: "public", PRIVATE: "private", DIRECT: "direct", DISTRIBUTION_LIST: "distribution-list"}
# Requirements on the value of an element of each type, the most special one first.
_VALUES = {
    PUBLIC: ("MQMQ-2.2.18.1.7.1.public-queue-identifier",),
    PRIVATE: ("MQMQ-2.2.18.1.7.2.private-queue-identifier",),
    DIRECT: ("MQMQ-2.2.18.1.4.1.layout", "MQMQ-2.2.18.1.4.1.alignment"),
    DISTRIBUTION_LIST: ("MQMQ-2.2.18.1.4.2.layout",),
}
_LAYOUTS = {
    PUBLIC: "MQMQ-2.2.18.1.7.1.layout",
    PRIVATE: "MQMQ-2.2.18.1.7.2.layout",
    DIRECT: "MQMQ-2.2.18.1.4.1.layout",
    DISTRIBUTION_LIST: "MQMQ-2.2.18.1.4.2.layout",
}
_WRITES = {name: f"MQDMPR-3.1.7.1.32.multi-queue-format-header-{name.lower()}" for name in (*LISTS, "Signature")}
READS = {
    "destinations": "MQDMPR-3.1.7.1.31.destination-multi-queue-format-name-attribute",
    "administration_queues": "MQDMPR-3.1.7.1.31.administration-multi-queue-format-name-attribute",
    "response_queues": "MQDMPR-3.1.7.1.31.response-multi-queue-format-name-attribute",
    "multiple_destination_signature": "MQDMPR-3.1.7.1.31.multiple-destination-signature-attribute",
}
_FLAG, _HEADER = "MQDMPR-3.1.7.1.30.multi-queue-header-flag", "MQDMPR-3.1.7.1.30.multi-queue-format-header"
_18, _20 = "MQMQ-2.2.18.1.", "MQMQ-2.2.20."
# The requirements that these comparisons can find broken, for the tests that claim them.
LIST_DEMANDS = (
    _FLAG,
    _HEADER,
    *_WRITES.values(),
    *(f"{_18}4.{word}" for word in ("format-type", "format-name")),
    *(f"{_18}4.format-type-{word}" for word in KIND_WORDS.values()),
    *(f"{_18}4.{word}-format-name" for word in KIND_WORDS.values()),
    *dict.fromkeys((*_LAYOUTS.values(), *(demand for found in _VALUES.values() for demand in found))),
    *(f"{_20}1.{name.lower()}-layout" for name in (*LISTS, "Signature")),
    *(
        f"{_20}2.{word}-layout"
        for word in ("header-size", "header-id", "reserved", "element-count", "format-name-list")
    ),
    *(f"{_20}3.{word}-layout" for word in ("id", "reserved", "size", "signature")),
)
SOAP_DEMANDS = tuple(
    f"{_20}7.{word}-layout"
    for word in (
        "header-section-id",
        "reserved",
        "header-data-length",
        "header",
        "body-section-id",
        "reserved1",
        "body-data-length",
        "body",
    )
)
SEQUENCE_DEMANDS = (f"{_18}2.ordinal", f"{_18}2.time-stamp")
USER_HEADER_DEMANDS = (
    f"{_18}5.2.layout",
    *(f"{_18}7.1.{word}" for word in ("layout", "public-queue-identifier")),
    *(f"{_18}7.2.{word}" for word in ("layout", "private-queue-identifier")),
    *(f"{_18}5.1.{word}" for word in ("layout", "private-queue-identifier")),
)
ORIGIN_READING, PUBLIC_READING = "R-MQMQ-element-alignment", "R-MQMQ-public-element-alignment"
_SOAP_READING = "R-MQMQ-soap-alignment"
Readings = Mapping[str, tuple[str, ...]]


def name_values(name: str) -> dict[str, Value]:
    """Return the fields of the element for a format name; raises ValueError for a name that no element can hold."""
    keyword, _, rest = name.partition("=")
    match keyword.upper():
        case "DIRECT":
            return {"FormatType": DIRECT, "DirectFormatName": rest}
        case "PUBLIC":
            return {"FormatType": PUBLIC, "PublicQueueIdentifier": rest.lower()}
        case "DL":
            return {"FormatType": DISTRIBUTION_LIST, "DistributionListIdentifier": rest.partition("@")[0].lower()}
        case "PRIVATE":
            host, _, number = rest.partition("\\")
            return {
                "FormatType": PRIVATE,
                "SourceQueueManager": host.lower(),
                "PrivateQueueIdentifier": int(number, 16),
            }
    raise ValueError(f"{name} cannot be held by a MultiQueueFormatHeader")


def name_of(element: Mapping[str, Value | None]) -> str:
    """Return the format name of an element; the inverse of `name_values`."""
    get = {field: str(value) for field, value in element.items()}.get
    match element["FormatType"]:
        case 1:
            return f"PUBLIC={get('PublicQueueIdentifier')}"
        case 2:
            return f"PRIVATE={get('SourceQueueManager')}\\{int(get('PrivateQueueIdentifier', '0')):08x}"
        case 3:
            return f"DIRECT={get('DirectFormatName')}"
    return f"DL={get('DistributionListIdentifier')}"


def compare_encoded(
    message: user_messages_Message, packet: Packet, *, readings: Readings, evidence: Evidence | None = None
) -> list[Verdict]:
    """Judge the fields of an encoded message, special requirements first; absent parts are skipped."""
    checks = [*_user_header(message, packet), *_transaction(message, packet)]
    if message.get("destinations"):
        checks += _multi_queue(message, packet)
    if message.get("soap_header") or message.get("soap_body"):
        checks += _soap(message, packet)
    verdicts = [_verdict("packets.encode", *check, evidence) for check in checks]
    if packet.has("SoapHeader") and packet.fields.get(f"{_S}BodySectionID") == BODY_SECTION_ID:
        verdicts.append(_soap_alignment(packet, readings, evidence))
    return verdicts


def ways(readings: Readings) -> tuple[str, ...]:
    """Return the ways of aligning elements that the readings accept, the default first."""
    return tuple(f"{origin}.{public}" for origin in readings[ORIGIN_READING] for public in readings[PUBLIC_READING])


def followed(way: str) -> tuple[tuple[str, str], ...]:
    """Return the readings that a way of aligning elements follows."""
    origin, _, public = way.partition(".")
    return (ORIGIN_READING, origin), (PUBLIC_READING, public)


def compare_decoded(
    message: user_messages_Message, answer: user_messages_Message, *, evidence: Evidence | None = None
) -> list[Verdict]:
    """Judge the members of a message that was read (MS-MQDMPR 3.1.7.1.31); parts it did not have are skipped."""
    checks: list[_Check] = []
    if message.get("destinations"):
        for member, demand in READS.items():
            wanted, found = message.get(member), answer.get(member)
            if member == "multiple_destination_signature":
                checks.append((demand, _octets(wanted), _octets(found)))
            else:
                checks.append((demand, [*map(plain, wanted or ())], [*map(plain, found or ())]))
    for member, demand in (("soap_header", "header-layout"), ("soap_body", "body-layout")):
        if message.get("soap_header") or message.get("soap_body"):
            checks.append((f"MQMQ-2.2.20.7.{demand}", message.get(member) or "", answer.get(member) or ""))
    return [_verdict("packets.decode", *check, evidence) for check in checks]


_Check = tuple[str, Any, Any]  # requirement, expected, actual


def _verdict(subject: str, demand: str, wanted: Any, found: Any, evidence: Evidence | None) -> Verdict:
    if wanted == found:
        return Verdict(requirement_id(demand), Outcome.PASS, subject, evidence=evidence)
    return Verdict(requirement_id(demand), Outcome.FAIL, subject, {"is": wanted}, {"is": found}, evidence=evidence)


def plain(name: Any) -> Any:
    """Return a format name in one spelling."""
    if isinstance(name, str) and name[:3].upper() == "DL=":
        return f"DL={name[3:].lower()}"
    return canonical(name) if isinstance(name, str) else name


def _multi_queue(message: user_messages_Message, packet: Packet) -> Iterator[_Check]:
    get = packet.fields.get
    yield _FLAG, 1, get("UserHeader.Flags.MQ")
    there = packet.has("MultiQueueFormatHeader")
    yield _HEADER, True, there
    if not there:
        return
    for name in LISTS:
        wanted = [name_values(each) for each in message.get(MEMBERS[name]) or ()]
        yield from _address(name, wanted, packet)
    signature = _octets(message.get("multiple_destination_signature"))
    found = _hex(get(f"{_Q}Signature.Signature", b"" if get(f"{_Q}Signature.Size") == 0 else None))
    size, mark = get(f"{_Q}Signature.Size"), get(f"{_Q}Signature.ID")
    yield "MQMQ-2.2.20.3.id-layout", SIGNATURE_ID, mark
    yield "MQMQ-2.2.20.3.size-layout", len(signature) // 2, size
    yield "MQMQ-2.2.20.3.reserved-layout", (SIGNATURE_ID, len(signature) // 2), (mark, size)
    yield "MQMQ-2.2.20.3.signature-layout", signature, found
    yield _WRITES["Signature"], signature, found
    yield "MQMQ-2.2.20.1.signature-layout", (SIGNATURE_ID, signature), (mark, found)


def _address(name: str, wanted: list[dict[str, Value]], packet: Packet) -> Iterator[_Check]:
    """Check one address header and its list."""
    get = packet.fields.get
    key = f"{_Q}{name}"
    raw = get(f"{key}.FormatNameList", b"")
    count, header_id = get(f"{key}.ElementCount"), get(f"{key}.HeaderID")
    if header_id is None:
        yield f"MQMQ-2.2.20.1.{name.lower()}-layout", (_IDS[name], wanted), None
        return
    number = count if isinstance(count, int) else 0
    fitting = lists.each_way(raw, 0, number, _TABLE) if isinstance(raw, bytes) else {}
    shown = {way: [_without_padding(one) for one in found] for way, found in fitting.items()}
    # A list that only fits without any alignment is readable when its names are right; the rules blame the rest.
    way = next((way for way in shown if shown[way] == wanted), next((way for way in shown if way != "none"), ""))
    found = shown.get(way, [])
    yield from _elements(f"{key}.FormatNameList", wanted, found, bool(way), packet)
    yield "MQMQ-2.2.20.2.element-count-layout", len(wanted), count
    yield "MQMQ-2.2.20.2.header-id-layout", _IDS[name], header_id
    yield "MQMQ-2.2.20.2.reserved-layout", (_IDS[name], len(wanted)), (header_id, count)
    size, sizes = get(f"{key}.HeaderSize"), _sizes(wanted)
    yield "MQMQ-2.2.20.2.header-size-layout", size if size in sizes else sizes[0], size
    yield "MQMQ-2.2.20.2.format-name-list-layout", wanted[:1], found[:1]
    yield _WRITES[name], wanted, found
    yield f"MQMQ-2.2.20.1.{name.lower()}-layout", (_IDS[name], wanted), (header_id, found)


def list_bytes(names: Sequence[Mapping[str, Value]], way: str) -> bytes:
    """Encode a list of names (each in the form of `name_values`) with its elements aligned in this way."""
    values = {f"L.{at}.{inner}": value for at, one in enumerate(names) for inner, value in one.items()}
    return lists.build("L", values, 0, _TABLE, way)[0]


def _sizes(names: Sequence[Mapping[str, Value]]) -> list[int]:
    """Return the possible values of HeaderSize for a list: for each alignment, with its padding counted or not."""
    sizes = [ADDRESS_HEADER_SIZE + len(list_bytes(names, way)) for way in lists.WAYS]
    return [*dict.fromkeys([*sizes, *(size + -size % 4 for size in sizes)])]


def _elements(
    key: str, wanted: list[dict[str, Value]], found: Sequence[Mapping[str, Value]], fits: bool, packet: Packet
) -> Iterator[_Check]:
    """Check the elements of a list; when no alignment fits it, only the first wrong one."""
    if not fits:
        yield from _broken_list(key, wanted, packet)
        return
    for want, have in zip(wanted, found, strict=False):
        kind = int(want["FormatType"])
        word = KIND_WORDS[kind]
        kinds = (want["FormatType"], have["FormatType"])
        yield (f"MQMQ-2.2.18.1.4.format-type-{word}", *kinds)
        if have["FormatType"] != kind:
            continue
        yield ("MQMQ-2.2.18.1.4.format-type", *kinds)
        for demand in _VALUES[kind]:
            yield demand, *_values_of(demand, want, have)
        if want == have:
            layouts = (_LAYOUTS[kind], f"MQMQ-2.2.18.1.4.{word}-format-name", "MQMQ-2.2.18.1.4.format-name")
            yield from ((demand, want, have) for demand in layouts)
        elif kind == PRIVATE and want["SourceQueueManager"] != have["SourceQueueManager"]:
            yield _LAYOUTS[kind], want, dict(have)


def _values_of(demand: str, want: Mapping[str, Value], have: Mapping[str, Value]) -> tuple[Any, Any]:
    if demand.endswith("private-queue-identifier"):
        return want["PrivateQueueIdentifier"], have.get("PrivateQueueIdentifier")
    return dict(want), dict(have)


def _broken_list(key: str, wanted: list[dict[str, Value]], packet: Packet) -> Iterator[_Check]:
    """Blame the first unreadable element."""
    get = packet.fields.get
    index, stopped = get(f"{key}.Elements"), get(f"{key}.Stopped")
    if not isinstance(index, int) or not wanted:
        return
    for at, want in enumerate(wanted[:index]):
        # An element of another type has another length, so that the rest of the list is read from the wrong place.
        kind, have = int(want["FormatType"]), get(f"{key}.{at}.FormatType")
        if have is not None and have != kind:
            yield f"MQMQ-2.2.18.1.4.format-type-{KIND_WORDS[kind]}", kind, have
            return
    want = wanted[min(index, len(wanted) - 1)]
    kind = int(want["FormatType"])
    if stopped == "type":
        yield "MQMQ-2.2.18.1.4.format-type", kind, get(f"{key}.StoppedType")
        return
    yield _LAYOUTS[kind], want, {"stopped": stopped}
    yield f"MQMQ-2.2.18.1.4.{KIND_WORDS[kind]}-format-name", want, {"stopped": stopped}
    yield "MQMQ-2.2.18.1.4.format-name", want, {"stopped": stopped}


def _without_padding(element: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in element.items() if name != "Padding"}


def _soap(message: user_messages_Message, packet: Packet) -> Iterator[_Check]:
    get = packet.fields.get
    yield "MQMQ-2.2.19.2.soap-header-present", True, packet.has("SoapHeader")
    if not packet.has("SoapHeader"):
        return
    parts = (
        ("Header", "soap_header", "HeaderSectionID", HEADER_SECTION_ID, "HeaderDataLength", "Reserved", "header"),
        ("Body", "soap_body", "BodySectionID", BODY_SECTION_ID, "BodyDataLength", "Reserved1", "body"),
    )
    for field, member, mark, mark_value, length, reserved, word in parts:
        text = message.get(member) or ""
        units = len(text.encode("utf-16-le", "surrogatepass")) // 2 + 1
        have = get(f"{_S}{length}")
        # A text that the message lacks is a lone NUL, or nothing at all.
        wanted = 0 if not text and have == 0 else units
        yield f"MQMQ-2.2.20.7.{word}-section-id-layout", mark_value, get(f"{_S}{mark}")
        yield f"MQMQ-2.2.20.7.{word}-data-length-layout", wanted, have
        yield f"MQMQ-2.2.20.7.{word}-terminated", wanted, have
        marks = (mark_value, wanted), (get(f"{_S}{mark}"), have)
        yield f"MQMQ-2.2.20.7.{reserved.lower()}-layout", *marks
        yield f"MQMQ-2.2.20.7.{word}-layout", text, get(f"{_S}{field}", "" if have == 0 else None)


def _soap_alignment(packet: Packet, readings: Readings, evidence: Evidence | None) -> Verdict:
    """Judge the alignment of the texts; either one is accepted, but one run must not mix them."""
    demand = requirement_id("MQMQ-2.2.20.7.body-layout")
    layout = str(packet.fields.get(f"{_S}Layout", "either"))
    accepted = readings[_SOAP_READING]
    if layout == "either":
        return Verdict(demand, Outcome.PASS, "packets.encode", evidence=evidence)
    followed = ((_SOAP_READING, layout),)
    if layout not in accepted:
        expected, actual = {"alignment": list(accepted)}, {"alignment": layout}
        return Verdict(demand, Outcome.FAIL, "packets.encode", expected, actual, evidence=evidence)
    outcome = Outcome.PASS if layout == accepted[0] else Outcome.READING
    return Verdict(demand, outcome, "packets.encode", readings=followed, evidence=evidence)


def _user_header(message: user_messages_Message, packet: Packet) -> Iterator[_Check]:
    """Check each queue name of UserHeader by the layout of its type (MS-MQMQ 2.2.18.1.5, 2.2.18.1.7)."""
    fields = {
        "DestinationQueue": message.get("destination"),
        "AdminQueue": message.get("administration_queue"),
        "ResponseQueue": message.get("response_queue"),
    }
    for field, name in fields.items():
        wanted = canonical(name)
        if wanted is None:
            continue
        found = queue_name(packet, field)
        kind = packet.fields.get(f"UserHeader.Flags.{field[0]}Q")
        for demand, is_layout in _demands(wanted, kind):
            if wanted == found or not is_layout or not packet.whole:
                yield demand, wanted, found


def _demands(name: str, kind: Value | None) -> Iterable[tuple[str, bool]]:
    """Return (requirement, is it about the layout) for a queue name of this type; none for an impossible type."""
    keyword = name.partition("=")[0]
    if keyword == "DIRECT" and kind == 7:
        return (("MQMQ-2.2.18.1.5.2.layout", True),)
    if keyword == "PUBLIC" and kind == 5:
        return (("MQMQ-2.2.18.1.7.1.public-queue-identifier", False), ("MQMQ-2.2.18.1.7.1.layout", True))
    if keyword == "PRIVATE" and kind == 6:
        return (("MQMQ-2.2.18.1.7.2.private-queue-identifier", False), ("MQMQ-2.2.18.1.7.2.layout", True))
    if keyword == "PRIVATE" and kind in (2, 3, 4):
        return (("MQMQ-2.2.18.1.5.1.private-queue-identifier", False), ("MQMQ-2.2.18.1.5.1.layout", True))
    return ()


def _transaction(message: user_messages_Message, packet: Packet) -> Iterator[_Check]:
    wanted = (message.get("transaction") or {}).get("sequence_identifier")
    if wanted and packet.has("TransactionHeader"):
        key = "TransactionHeader.TxSequenceID."
        yield "MQMQ-2.2.18.1.2.ordinal", wanted["ordinal"], packet.fields.get(f"{key}Ordinal")
        yield "MQMQ-2.2.18.1.2.time-stamp", wanted["timestamp"], packet.fields.get(f"{key}TimeStamp")


def _octets(text: Any) -> str:
    try:
        return base64.b64decode(text, validate=True).hex() if isinstance(text, str) else ""
    except binascii.Error:
        return f"not base64: {text}"


def _hex(value: Any) -> str | None:
    return value.hex() if isinstance(value, bytes) else None


Message = Mapping[str, Any]
SUBJECT = "packets.encode"
_H, _F, _D = "SecurityHeader.", "SecurityHeader.Flags.", "SecurityHeader.SecurityData."
_SECURITY, _A = "MQMQ-2.2.20.6.", "MQDMPR-3.1.1.12."
LEVELS = {"sig10": 1, "sig20": 2, "sig30": 3}
AI_READING = "R-MQMQ-security-data-flag"
# Members that require a SecurityHeader.
SECURITY_MEMBERS = ("sender_identifier", "symmetric_key", "signature", "sender_certificate", "provider_name")


def _security_octets(message: Message, member: str) -> bytes:
    try:
        return base64.b64decode(message.get(member) or "", validate=True)
    except binascii.Error:
        return b""


def _provider(message: Message) -> bytes:
    name = message.get("provider_name") or ""
    return f"{name}\0".encode("utf-16-le", "surrogatepass") if name else b""


def _provider_size(message: Message) -> int:
    name = _provider(message)
    return len(name) + 4 if name else 0


def _item(member: str) -> Callable[[Message], Any]:
    return lambda message: _security_octets(message, member)


def _size(member: str) -> Callable[[Message], Any]:
    return lambda message: len(_security_octets(message, member))


# Requirement to the field it places and the message's value for it; None: the message does not determine the value.
FIELDS: dict[str, tuple[str, Callable[[Message], Any]]] = {
    _SECURITY + "flags-st-layout": (_F + "ST", lambda m: SENDER_TYPES.index(m.get("sender_identifier_type", "none"))),
    _A + "sender-identifier-type-values": (
        _F + "ST",
        lambda m: SENDER_TYPES.index(m.get("sender_identifier_type", "none")),
    ),
    _SECURITY + "flags-au-layout": (_F + "AU", lambda m: 0),
    _SECURITY + "flags-eb-layout": (_F + "EB", lambda m: int(bool(m.get("privacy_level")))),
    _SECURITY + "flags-de-layout": (
        _F + "DE",
        lambda m: int(not m.get("provider_name")) if m.get("signature") else None,
    ),
    _SECURITY + "flags-as-layout": (_F + "AS", lambda m: 0),
    _SECURITY + "sender-id-size-layout": (_H + "SenderIdSize", _size("sender_identifier")),
    _SECURITY + "encryption-key-size-layout": (_H + "EncryptionKeySize", _size("symmetric_key")),
    _SECURITY + "signature-size-layout": (_H + "SignatureSize", _size("signature")),
    _SECURITY + "sender-cert-size-layout": (_H + "SenderCertSize", _size("sender_certificate")),
    _SECURITY + "provider-info-size-layout": (_H + "ProviderInfoSize", _provider_size),
    _SECURITY + "security-id-layout": (_D + "SecurityID", _item("sender_identifier")),
    _SECURITY + "encryption-key-layout": (_D + "EncryptionKey", _item("symmetric_key")),
    _SECURITY + "signature-layout": (_D + "Signature", _item("signature")),
    _SECURITY + "sender-cert-layout": (_D + "SenderCert", _item("sender_certificate")),
    _SECURITY + "provider-type-layout": (
        _D + "ProviderInfo.ProviderType",
        lambda m: m.get("provider_type", 0) if m.get("provider_name") else None,
    ),
    _SECURITY + "provider-name-layout": (
        _D + "ProviderInfo.ProviderName",
        lambda m: m.get("provider_name") or None,
    ),
}
# Requirement to the requirements above that it consists of.
WHOLES: dict[str, tuple[str, ...]] = {
    _SECURITY + "flags-layout": ("flags-st-layout", "flags-au-layout", "flags-eb-layout", "flags-as-layout"),
    _SECURITY + "provider-info-layout": ("provider-type-layout", "provider-name-layout"),
    _SECURITY + "security-data-layout": (
        "security-id-layout",
        "encryption-key-layout",
        "signature-layout",
        "sender-cert-layout",
        "provider-type-layout",
        "provider-name-layout",
    ),
}
AI = requirement_id(_SECURITY + "flags-ai-layout")
UNSIGNED = requirement_id(_A + "authentication-level-none")
SIGNED = {level: requirement_id(f"{_A}authentication-level-{level}") for level in LEVELS}
IDS: tuple[str, ...] = (*map(requirement_id, (*FIELDS, *WHOLES)), AI)


def compare_security(
    message: Message,
    packet: Packet,
    *,
    profile: str,
    readings: Mapping[str, tuple[str, ...]],
    evidence: Evidence | None = None,
) -> Iterator[Verdict]:
    """Judge the SecurityHeader of the packet that an implementation made of a message.

    Fields are compared only where the message has a member for this header. readings: as `judge_packet` takes them.
    """
    if any(message.get(member) for member in SECURITY_MEMBERS):
        right: dict[str, bool] = {}
        for name, (key, value) in FIELDS.items():
            wanted = value(message)
            if wanted is None:
                continue
            found = packet.fields.get(key, b"" if wanted == b"" else None)
            right[name] = wanted == found
            yield _security_verdict(name, right[name], {key: _shown(wanted)}, {key: _shown(found)}, evidence)
        for name, parts in WHOLES.items():
            there = [right[_SECURITY + part] for part in parts if _SECURITY + part in right]
            if there:
                wrong = [part for part in parts if not right.get(_SECURITY + part, True)]
                yield _security_verdict(name, not wrong, {"wrong": []}, {"wrong": wrong}, evidence)
        yield _announced(packet, readings, evidence)
    yield from _authentication(message, packet, profile, evidence)


def _announced(packet: Packet, readings: Mapping[str, tuple[str, ...]], evidence: Evidence | None) -> Verdict:
    """Judge that AI is set where there is SecurityData; one reading does not require it."""
    set_ = packet.fields.get(_F + "AI") == 1
    accepted = readings[AI_READING]
    if set_ or "one-way" not in accepted:
        return _security_verdict(AI, set_, {_F + "AI": 1}, {_F + "AI": packet.fields.get(_F + "AI")}, evidence)
    outcome = Outcome.PASS if accepted[0] == "one-way" else Outcome.READING
    return Verdict(AI, outcome, SUBJECT, readings=((AI_READING, "one-way"),), evidence=evidence)


def _authentication(message: Message, packet: Packet, profile: str, evidence: Evidence | None) -> Iterator[Verdict]:
    level = message.get("authentication_level", "none")
    if level == "none":
        if not message.get("signature") and not message.get("multiple_destination_signature"):
            found = [key for key, _, _ in PLACES if packet.fields.get(key)]
            yield _security_verdict(UNSIGNED, not found, {"signatures": []}, {"signatures": found}, evidence)
        return
    name = SIGNED[level]
    if not requirement(name).binds(profile):
        return
    facts = signature_facts(packet)
    kinds = [facts[f"{prefix}.Kind"] for _, prefix, _ in PLACES if f"{prefix}.Kind" in facts]
    if not kinds and WHY in facts:
        yield Verdict(name, Outcome.INCONCLUSIVE, SUBJECT, reason=str(facts[WHY]), evidence=evidence)
        return
    yield _security_verdict(name, LEVELS[level] in kinds, {"kind": LEVELS[level]}, {"kind": kinds}, evidence)


def _security_verdict(name: str, right: bool, expected: Any, actual: Any, evidence: Evidence | None) -> Verdict:
    if right:
        return Verdict(name, Outcome.PASS, SUBJECT, evidence=evidence)
    return Verdict(name, Outcome.FAIL, SUBJECT, expected, actual, evidence=evidence)


def _shown(value: Any) -> Any:
    return value[:64].hex() if isinstance(value, bytes) else value
