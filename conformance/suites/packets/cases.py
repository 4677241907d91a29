"""Cases of packets that an implementation decodes, handles and carries, and how a reader must handle each."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from conformance.judge.packets import optional_headers, rules_signatures, rules_user
from conformance.judge.packets.attribute_compare import compare_attributes
from conformance.judge.packets.field_compare import as_a_whole, compare_fields
from conformance.judge.packets.judge import RULES, judge_dissected
from conformance.judge.packets.misplaced_fields import blamed_first, compare_presence
from conformance.judge.packets.optional_headers import SIGNED, compare_security
from conformance.judge.packets.packet_verdicts import by_cause, packed_items, unpadded
from conformance.judge.packets.rules_causes import CAUSE_RULES as CAUSES
from conformance.judge.packets.rules_security import CERTIFICATE_RULES as CERTIFICATES
from conformance.judge.packets.rules_security import ENCRYPTION_RULES as ENCRYPTED
from conformance.judge.packets.rules_user import NAME_RULES as NAMED
from conformance.judge.packets.user_messages import (
    DECODES,
    ENCODES,
    compare_decoded,
    compare_encoded,
    plain_of_message,
    refusal,
)
from conformance.judge.rules import Rule
from conformance.spec.catalogue import requirement_id
from conformance.suites.packets.combinations import full_message
from conformance.suites.packets.messages import base64_of, list_values, packet_of
from conformance.verdict import Evidence, Outcome, Verdict, in_phase
from conformance.wire import dissect, patch
from conformance.wire.layout import Value

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

Way = Literal["refused", "same", "either"]
_B, _U, _M = "MQMQ-2.2.19.1.", "MQMQ-2.2.19.2.", "MQMQ-2.2.19.3."
_MALFORMED = "MQQB-3.1.5.1.3.malformed-refused"


@dataclass(frozen=True, slots=True)
class Handling:
    """way: the action of the reader. requirement: the demand for it; none for `either`. section: its source."""

    way: Way
    requirement: str
    section: str


def _words(prefix: str, text: str) -> Iterator[str]:
    return (f"{prefix}{word}" for word in text.split())


_NOT_THERE = (
    *_words(_B, "packet-size packet-size-maximum session-header-present debug-header-present"),
    *_words(_U, "message-properties-present transaction-header-present security-header-present"),
    *_words(_U, "connector-type-present multi-queue-header-present soap-header-present"),
    *_words(_U, "destination-private destination-public destination-direct"),
    *_words(_U, "admin-private-source admin-private-destination admin-public admin-private-other admin-direct"),
    *_words(_U, "response-private-source response-private-destination response-private-admin response-public"),
    *_words(_U, "response-private-other response-direct"),
    *_words(_M, "message-size extension-size"),
    "MQMQ-2.2.20.required-headers",
    *_words("MQMQ-2.2.18.1.4.", "format-type-values format-name-structure 1.null-terminated"),
    *_words("MQMQ-2.2.20.", "2.header-size 3.size 5.connector-present 6.security-data-fits 8.queue-identifier-present"),
)
_REFUSED: dict[str, tuple[str, str]] = {
    _B + "version-number": ("MQQB-3.1.5.1.2.version-refused", "MS-MQQB 3.1.5.1.2"),
    _B + "signature": ("MQQB-3.1.5.1.2.signature-refused", "MS-MQQB 3.1.5.1.2"),
    _U + "destination-type": (_U + "destination-type-refused", "MS-MQMQ 2.2.19.2"),
    _U + "admin-type": (_U + "admin-type-refused", "MS-MQMQ 2.2.19.2"),
    **dict.fromkeys(_NOT_THERE, (_MALFORMED, "MS-MQQB 3.1.5.1.3")),
}


def _bits(section: str, names: Iterator[int] | tuple[int, ...]) -> dict[str, str]:
    return {f"{section}.flags-x{at}": f"{section}.flags-reserved-ignored" for at in names}


_SAME: dict[str, str] = {
    **_bits("MQMQ-2.2.19.1", (*range(7), 8, 9)),
    **_bits("MQMQ-2.2.19.2", (1, 2, 3, 4)),
    _M + "flags-unused": _M + "flags-unused-ignored",
    **_bits("MQMQ-2.2.20.6", (12, 13, 14, 15)),
    **_bits("MQMQ-2.2.20.8", tuple(range(2, 16))),
    **{
        f"MQMQ-2.2.20.{name}": f"MQMQ-2.2.20.{name}-ignored"
        for name in ("2.reserved", "3.reserved", "7.reserved", "7.reserved1", "8.reserved")
    },
}
# Section to the rules whose mutations it leaves to the reader.
_EITHER: dict[str, tuple[str, ...]] = {
    "MS-MQDMPR 3.1.7.1.31": (
        *_words(_B, "packet-size-headers packet-size-session-header trace-debug-header transactional-priority-zero"),
        *_words(_U, "hop-count delivery-mode message-properties-flag http-flag transactional-recoverable"),
        *_words(_U, "address-direct admin-queue-required admin-queue-absent response-queue-admin-host"),
        *_words(_M, "label-length-maximum label-length label-format message-class body-type allocation-body-size"),
        *_words(_M, "padding"),
        *_words("MQMQ-2.2.18.1.", "5.2.count 5.2.null-terminated 5.2.direct-format-name 6.custom-class"),
        *_words("MQMQ-2.2.18.1.", "4.1.direct-format-name 4.public-format-name 4.2.alignment 7.2.source-queue-manager"),
        *_words("MQMQ-2.2.20.", "2.header-id 2.header-size/names 2.element-count 2.format-name-list 3.id"),
        *_words("MQMQ-2.2.20.", "7.header-section-id 7.body-section-id 7.header-terminated 7.body-terminated"),
        *_words("MQMQ-2.2.20.", "8.queue-type"),
        *dict.fromkeys(rule.requirement for rule in NAMED if rule.breaks.kind == "UserMessage"),
    ),
    # What a clear flag denies, a size, an order: bytes are read as something else, which may be refused or not.
    "MS-MQMQ 2.2.20": ("MQMQ-2.2.20.not-internal", *dict.fromkeys(rule.requirement for rule in CAUSES)),
    # The place of a message in its transaction is checked on arrival.
    "MS-MQQB 3.1.5.8.6": (*_words("MQMQ-2.2.20.5.", "sequence-number-range previous-before first-has-no-previous"),),
    # R-MQMQ-transaction-reserved-bits: one sentence ignores them, another makes them an error.
    "MS-MQMQ 2.2.20.5": tuple(_words("MQMQ-2.2.20.5.", " ".join(f"flags-x{at}" for at in range(1, 9)))),
    # Signatures, senders and encryption are checked when a message arrives, not when its packet is read.
    "MS-MQQB 3.1.5.8.3": (
        *_words(_M, "privacy-level privacy-none hash-algorithm encryption-algorithm encryption-by-privacy"),
        *_words(_M, "hash-md2 hash-md4 hash-md5 hash-sha1 hash-sha256 hash-sha512"),
        *_words(_M, "encryption-rc2 encryption-rc4 encryption-aes128 encryption-aes192 encryption-aes256"),
        *_words("MQMQ-2.2.20.6.", "sender-id-type sender-id-none sender-id-sid sender-id-guid authenticated"),
        *_words("MQMQ-2.2.20.6.", "signature-type security-data some-size sender-cert-size sender-cert-layout"),
        *_words("MQMQ-2.2.20.6.", "provider-named provider-absent provider-name"),
        *dict.fromkeys(rule.requirement for rule in CERTIFICATES),
        *dict.fromkeys(rule.requirement for rule in ENCRYPTED),
        "MQDMPR-3.1.7.1.32.encrypted-flag",
        "MQQB-2.4.2.session-key-algorithm",
        *dict.fromkeys(rule.requirement for rule in RULES if rule.requirement.startswith("MQDMPR-3.1.1.12.")),
        *dict.fromkeys(rule.requirement for rule in RULES if rule.requirement.startswith("MQMQ-2.5.")),
    ),
}
HANDLED: dict[str, Handling] = {
    **{name: Handling("refused", requirement_id(by), section) for name, (by, section) in _REFUSED.items()},
    **{
        name: Handling("same", requirement_id(by), "MS-MQMQ " + by.partition("-")[2].rpartition(".")[0])
        for name, by in _SAME.items()
    },
    **{name: Handling("either", "", section) for section, names in _EITHER.items() for name in names},
}

# The packet can be read; whose host a queue is on is another matter.
_HOSTS = frozenset(rule.id for rule in rules_user.HOST_RULES)


def handling(rule: Rule) -> Handling:
    """Return how a reader handles the rule's mutation. Raises KeyError for a rule outside the table."""
    if rule.id in _HOSTS:
        return Handling("either", "", "MS-MQDMPR 3.1.7.1.31")
    word = rule.id.partition("/")[2]
    return HANDLED[rule.requirement + ("/names" if word.endswith("-names") else "")]


def mutated(way: Way) -> Iterator[tuple[Rule, Handling]]:
    """Yield the rules with a mutation of a user message that a reader handles in this way."""
    for rule in RULES:
        if rule.breaks.kind == "UserMessage" and handling(rule).way == way:
            yield rule, handling(rule)


Step = Callable[..., None]
_NAMES = requirement_id("MQMQ-2.2.18.1.4.format-name")
CONTROL: dict[str, Any] = {
    "destination": "DIRECT=OS:host\\private$\\control",
    "identifier": {"source": "11ea26c6-b6e6-4997-9595-9150557358d1", "ordinal": 1},
    "label": "control",
    "body": base64_of(b"control body"),
    "time_to_reach_queue": 345600,
}


def encode_case(client: Port, message: Mapping[str, Any], options: RunOptions, step: Step) -> Iterator[Verdict]:
    """Have the implementation encode a message; judge the packet by the rules, and field by field."""
    text = f"Encode a message {_case_text(message)}."
    result = _call(client, step, text, "packets.encode", message=dict(message))
    data = _bytes(result.values.get("packet")) if result.ok else None
    if data is None:
        if message.get("transaction") and message.get("priority"):
            return  # a priority other than 0 in a transaction may be refused or ignored
        yield Verdict(ENCODES, Outcome.FAIL, "packets.encode", {"packet": "bytes"}, _shown(result))
        return
    yield Verdict(ENCODES, Outcome.PASS, "packets.encode")
    packet = dissect(data, transport="buffer")
    evidence = Evidence("packet", "encoded", {"packet": base64_of(data), "message": dict(message)})
    alone = judge_dissected(
        packet,
        profile=options.profile,
        readings=options.readings,
        transport="buffer",
        level="may",
        subject="packets.encode",
        evidence=evidence,
    )
    # The demand on the field precedes the one on all fields of its header, because the first that fails is blamed.
    wanted = dissect(packet_of(message), transport="buffer")
    verdicts = [*alone, *compare_presence(message, wanted, packet, evidence=evidence)]
    verdicts += compare_fields(message, wanted, packet, evidence=evidence)
    verdicts += optional_headers.compare_encoded(message, packet, readings=options.readings, evidence=evidence)
    verdicts += compare_security(message, packet, profile=options.profile, readings=options.readings, evidence=evidence)
    verdicts += compare_encoded(message, packet, evidence=evidence)
    verdicts += unpadded(wanted, packet, evidence=evidence)
    verdicts += packed_items(wanted, packet, evidence=evidence)
    verdicts = blamed_first(by_cause(without_consequences(verdicts), packet), wanted, packet)
    yield from verdicts
    yield from as_a_whole(verdicts, evidence=evidence)


def without_consequences(verdicts: list[Verdict]) -> Iterator[Verdict]:
    """Drop verdicts on the signature if the packet differs from the message elsewhere.

    The signature was made for the message, so a wrong field, which has its own verdict, spoils the signature too.
    """
    spoiled = any(one.outcome is Outcome.FAIL and one.requirement not in OF_SIGNATURES for one in verdicts)
    for one in verdicts:
        if not (spoiled and one.outcome is Outcome.FAIL and one.requirement in OF_SIGNATURES):
            yield one


OF_SIGNATURES = frozenset((*(rule.requirement for rule in rules_signatures.SIGNATURE_RULES), *SIGNED.values()))


def decode_case(
    client: Port,
    data: bytes,
    message: Mapping[str, Any],
    options: RunOptions,
    step: Step,
    *,
    requirement: str | None = None,
) -> Iterator[Verdict]:
    """Have the implementation decode a packet of the harness; the result must equal `message`.

    requirement: the demand that a refusal or a difference breaks, for a packet that differs from a plain one on purpose
    (for example in a reserved bit); None: the demand of MS-MQDMPR 3.1.7.1.31 on the field.
    """
    evidence = Evidence("packet", "decoded", {"packet": base64_of(data), "message": dict(message)})
    kind = "a valid packet" if requirement is None else "a packet with values to be ignored"
    text = f"Decode {kind} of {len(data)} bytes, a message {_case_text(message)}."
    result = _call(client, step, text, "packets.decode", packet=base64_of(data))
    if not result.ok:
        expected = {"message": "as packed"}
        yield Verdict(
            requirement or DECODES, Outcome.FAIL, "packets.decode", expected, _shown(result), evidence=evidence
        )
        return
    verdicts = compare_decoded(message, result.values["message"], readings=options.readings, evidence=evidence)
    verdicts += optional_headers.compare_decoded(message, result.values["message"], evidence=evidence)
    if requirement is None:
        yield Verdict(DECODES, Outcome.PASS, "packets.decode", evidence=evidence)
        packet = dissect(data, transport="buffer")
        yield from compare_attributes(message, result.values["message"], packet, evidence=evidence)
        yield from verdicts
        return
    wrong = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    if wrong:
        yield Verdict(
            requirement, Outcome.FAIL, "packets.decode", wrong[0].expected, wrong[0].actual, evidence=evidence
        )
    else:
        yield Verdict(requirement, Outcome.PASS, "packets.decode", evidence=evidence)


def decode_lists_case(client: Port, message: Mapping[str, Any], options: RunOptions, step: Step) -> Iterator[Verdict]:
    """Have a packet with lists of names decoded, in each alignment that a reading accepts until one is understood."""
    first: list[Verdict] = []
    tried: set[bytes] = set()
    for way in optional_headers.ways(options.readings):
        data = packet_of(message, list_values(message, way))
        if data in tried:
            continue
        verdicts = list(decode_case(client, data, message, options, step))
        if all(verdict.outcome is not Outcome.FAIL for verdict in verdicts):
            yield from verdicts
            if tried:
                readings = optional_headers.followed(way)
                yield Verdict(_NAMES, Outcome.READING, "packets.decode", readings=readings)
            return
        tried.add(data)
        first = first or verdicts
    yield from first


def refuse_case(
    client: Port,
    data: bytes,
    requirement: str,
    options: RunOptions,
    step: Step,
    *,
    what: str = "malformed",
) -> Iterator[Verdict]:
    """Have a malformed packet decoded, which must be refused. what: describes the defect.

    A valid packet is read before it, and after it to check that the driver still works.
    """
    yield from in_phase("control", _control(client, options, step))
    evidence = Evidence("packet", "malformed", {"packet": base64_of(data)})
    result = _call(
        client, step, f"Decode a packet of {len(data)} bytes: {what}.", "packets.decode", packet=base64_of(data)
    )
    yield refusal(requirement, result.status, not result.ok, evidence=evidence)
    yield from in_phase("liveness", _control(client, options, step))


def _control(client: Port, options: RunOptions, step: Step) -> Iterator[Verdict]:
    yield from decode_case(client, packet_of(CONTROL), CONTROL, options, step)


def _call(client: Port, step: Step, text: str, method: str, **params: Any) -> Result:
    result = client.call(method, **params)
    step(text, {"method": method, "params": params}, _shown(result))
    return result


def _case_text(message: Mapping[str, Any]) -> str:
    """Describe destination and kind of a message for the story."""
    body = len(_bytes(message.get("body", "")) or b"")
    extras = [
        word
        for word, member in (
            ("in a transaction", "transaction"),
            ("with a sender", "sender_identifier_type"),
            ("with a session acknowledgment", "session"),
            ("traced", "trace"),
        )
        if message.get(member)
    ]
    return ", ".join([f"to {message.get('destination')}", f"{body} bytes of body", *extras])


def _shown(result: Result) -> dict[str, Any]:
    out: dict[str, Any] = {"status": result.status, **result.values}
    if result.failure is not None:
        out["failure"] = {"kind": result.failure.kind, "text": result.failure.text}
    return out


def _bytes(text: Any) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except binascii.Error:
        return None


RESERVED_BITS = "R-MQMQ-transaction-reserved-bits"


def same_case(
    client: Port, plain: bytes, changed: bytes, requirement: str, step: Step, *, what: str
) -> Iterator[Verdict]:
    """Have two packets decoded that differ in something a reader ignores: both must become the same message.

    requirement: the demand that a difference or a refusal of the second breaks. what: describes the difference.
    """
    first = decoded(client, plain, step, "a valid packet")
    evidence = Evidence("packet", "decoded", {"plain": base64_of(plain), "packet": base64_of(changed)})
    if not first.ok:
        yield Verdict(
            "MQDMPR-3.1.7.1.31.reads",
            Outcome.FAIL,
            "packets.decode",
            {"status": 0},
            answer_json(first),
            evidence=evidence,
        )
        return
    second = decoded(client, changed, step, f"the same packet with {what} set")
    if second.ok and second.values == first.values:
        yield Verdict(requirement, Outcome.PASS, "packets.decode", evidence=evidence)
        return
    expected, actual = difference(first.values, second.values) if second.ok else ({"status": 0}, answer_json(second))
    yield Verdict(requirement, Outcome.FAIL, "packets.decode", expected, actual, evidence=evidence)


def unused_case(
    client: Port, data: bytes, message: Mapping[str, Any], options: RunOptions, step: Step, *, requirement: str
) -> Iterator[Verdict]:
    """Have a packet decoded with bits that one reading ignores and another refuses; it must be refused or `message`."""
    for verdict in decode_case(client, data, message, options, step, requirement=requirement):
        refused = verdict.outcome is Outcome.FAIL and isinstance(verdict.actual, dict) and "status" in verdict.actual
        if refused and "error" in options.readings[RESERVED_BITS]:
            yield Verdict(requirement, Outcome.READING, verdict.subject, readings=((RESERVED_BITS, "error"),))
        else:
            yield verdict


def either_case(client: Port, data: bytes, options: RunOptions, step: Step, *, what: str) -> Iterator[Verdict]:
    """Have a packet decoded that a reader may refuse or read; it must go on reading afterwards."""
    decoded(client, data, step, f"a packet that breaks {what}")
    yield from in_phase("liveness", decode_case(client, packet_of(CONTROL), CONTROL, options, step))


def decoded(client: Port, data: bytes, step: Step, what: str) -> Result:
    """Have a packet decoded. what: describes it in the story."""
    params = {"packet": base64_of(data)}
    result = client.call("packets.decode", **params)
    step(f"Decode {what}, {len(data)} bytes.", {"method": "packets.decode", "params": params}, answer_json(result))
    return result


def difference(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the members of a message that differ, as expected and as found."""
    one, other = wanted.get("message", {}), found.get("message", {})
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return {name: one.get(name) for name in names}, {name: other.get(name) for name in names}


def answer_json(result: Result) -> dict[str, Any]:
    """Return an answer as data for the story."""
    return {"status": result.status, **result.values}


GUID = "909ea0fc-9078-4445-8f11-394c43cd8907"
_KEYS = tuple(base64_of(bytes(range(first, first + 16))) for first in (1, 101))
_TAG, _NUMBER = 0x01020304, bytes(range(20, 40))
_31 = "MQDMPR-3.1.7.1.31."
UNSIGNED = requirement_id(_31 + "authentication-level-none")
ABSENT = requirement_id(_31 + "absent-header")
BARE: dict[str, Any] = {"destination": "DIRECT=OS:host\\q", "time_to_reach_queue": 345600}
# The members of a message that come from optional headers, except those with algorithms.
_OF_OPTIONAL_HEADERS = (
    *("trace", "trace_queue", "transaction", "session", "sender_identifier_type", "sender_identifier"),
    *("sender_certificate", "signature", "provider_type", "provider_name"),
)


@dataclass(frozen=True, slots=True)
class Carried:
    """A field with a changed value. member: where the reader puts it; None: nowhere. value: its value there."""

    requirement: str
    key: str
    raw: Value
    member: str | None = None
    value: Any = None


def full() -> dict[str, Any]:
    """Return a message with every header, and with a key."""
    return {**full_message(), "symmetric_key": _KEYS[0]}


CARRIED: tuple[Carried, ...] = (
    Carried(
        requirement_id("MQMQ-2.2.19.2.connector-type-ignored"), "UserHeader.ConnectorType", GUID, "connector_type", GUID
    ),
    Carried(
        requirement_id("MQMQ-2.2.19.3.correlation-id-ignored"),
        "MessagePropertiesHeader.CorrelationID",
        _NUMBER,
        "correlation_identifier",
        base64_of(_NUMBER),
    ),
    Carried(
        requirement_id("MQMQ-2.2.19.3.application-tag-ignored"),
        "MessagePropertiesHeader.ApplicationTag",
        _TAG,
        "application_tag",
        _TAG,
    ),
    Carried(
        requirement_id("MQMQ-2.2.20.5.connector-ignored"),
        "TransactionHeader.ConnectorQMGuid",
        GUID,
        "transaction.connector_queue_manager",
        GUID,
    ),
    Carried(
        requirement_id(_31 + "symmetric-key-attribute"),
        "SecurityHeader.SecurityData.EncryptionKey",
        base64.b64decode(_KEYS[1]),
        "symmetric_key",
        _KEYS[1],
    ),
    Carried(requirement_id("MQDMPR-3.1.7.1.32.base-header-flags-pr-ignored"), "BaseHeader.Flags.PR", 7),
)
_LISTED = {
    "destination": "DIRECT=OS:host\\q",
    "destinations": [f"PUBLIC={GUID}"],
    "response_queues": [f"PUBLIC={GUID}"],
}
_Q = "MultiQueueFormatHeader."
# Message, the padding in its packet, and the demand that a reader accepts any.
PADDED: tuple[tuple[Mapping[str, Any], str, str], ...] = (
    (_LISTED, f"{_Q}Destination.Padding", requirement_id("MQMQ-2.2.20.1.destination-padding-any")),
    (_LISTED, f"{_Q}Response.Padding", requirement_id("MQMQ-2.2.20.1.response-padding-any")),
    (
        {**_LISTED, "destinations": [f"PRIVATE={GUID}\\00000001", f"PUBLIC={GUID}"]},
        f"{_Q}Destination.FormatNameList.0.Padding",
        requirement_id("MQMQ-2.2.18.1.4.format-name-padding"),
    ),
)


def padded(message: Mapping[str, Any], key: str) -> tuple[bytes, bytes]:
    """Return the packet of a message, and the same with other padding there. Raises KeyError if it has no padding."""
    data = packet_of(message)
    at, length = dissect(data).spans[key]
    return data, data[:at] + b"\xde" * length + data[at + length :]


def carried_case(client: Port, case: Carried, step: Step) -> Iterator[Verdict]:
    """Have two packets decoded that differ in one field; its member must differ, and no other."""
    plain = packet_of(full())
    data = patch(dissect(plain), {case.key: case.raw})
    evidence = Evidence("packet", "decoded", {"plain": base64_of(plain), "packet": base64_of(data)})
    first, second = decoded(client, plain, step, "a valid packet"), decoded(client, data, step, f"another {case.key}")
    for one in (first, second):
        if not one.ok:
            requirement = DECODES if one is first else case.requirement
            yield Verdict(
                requirement, Outcome.FAIL, "packets.decode", {"status": 0}, answer_json(one), evidence=evidence
            )
            return
    wanted = {"message": _with(first.values["message"], case.member, case.value)}
    if second.values == wanted:
        yield Verdict(case.requirement, Outcome.PASS, "packets.decode", evidence=evidence)
        return
    expected, actual = difference(wanted, second.values)
    yield Verdict(case.requirement, Outcome.FAIL, "packets.decode", expected, actual, evidence=evidence)


def absent_case(client: Port, step: Step) -> Iterator[Verdict]:
    """Have a packet without optional headers decoded, after one with every header."""
    everything = packet_of(full())
    before = decoded(client, everything, step, "a valid packet with every header")
    level = before.values.get("message", {}).get("authentication_level")
    evidence = Evidence("packet", "decoded", {"packet": base64_of(everything)})
    if level is None:
        yield Verdict(UNSIGNED, Outcome.SKIP, "packets.decode", reason="its decode gives no authentication_level")
    else:
        outcome = Outcome.PASS if level == "none" else Outcome.FAIL  # the packet is sent with signature kind 0
        yield Verdict(UNSIGNED, outcome, "packets.decode", "none", level, evidence=evidence)
    data = packet_of(BARE)
    evidence = Evidence("packet", "decoded", {"packet": base64_of(data)})
    result = decoded(client, data, step, "one with no optional header")
    if not result.ok:
        yield Verdict(DECODES, Outcome.FAIL, "packets.decode", {"status": 0}, answer_json(result), evidence=evidence)
        return
    wanted, found = plain_of_message(BARE), plain_of_message(result.values["message"])
    names = [name for name in _OF_OPTIONAL_HEADERS if wanted[name] != found[name]]
    expected, actual = {name: wanted[name] for name in names}, {name: found[name] for name in names}
    for member, default in (("symmetric_key", ""), ("authentication_level", "none")):
        value = result.values["message"].get(member, default)
        if value != default:
            expected[member], actual[member] = default, value
    outcome = Outcome.FAIL if expected else Outcome.PASS
    yield Verdict(ABSENT, outcome, "packets.decode", expected or None, actual or None, evidence=evidence)


def _with(message: Mapping[str, Any], member: str | None, value: Any) -> dict[str, Any]:
    """Return the message with this member changed; `transaction.first` is a member of a member."""
    if member is None:
        return dict(message)
    outer, _, inner = member.partition(".")
    return {**message, outer: {**message.get(outer, {}), inner: value} if inner else value}
