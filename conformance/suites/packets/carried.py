"""Fields that a reader passes on: a change of one changes its member of the message, or none, and nothing else."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.judge.packets.user_messages import DECODES, plain_of_message
from conformance.spec.catalogue import requirement_id
from conformance.suites.packets.building import base64_of, packet_of
from conformance.suites.packets.cases import Step
from conformance.suites.packets.handled_cases import decoded, difference, shown
from conformance.suites.packets.reserved import full_message
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire import dissect, patch
from conformance.wire.layout import Value

if TYPE_CHECKING:
    from conformance.harness.port import Port

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
            yield Verdict(requirement, Outcome.FAIL, "packets.decode", {"status": 0}, shown(one), evidence=evidence)
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
        yield Verdict(DECODES, Outcome.FAIL, "packets.decode", {"status": 0}, shown(result), evidence=evidence)
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
