"""Three checks of an implementation's codec, each with a valid control before and a liveness probe after."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.judge.packets import optional_headers, rules_signatures
from conformance.judge.packets.attribute_compare import compare_attributes
from conformance.judge.packets.field_compare import as_a_whole, compare_fields
from conformance.judge.packets.judge import judge_dissected
from conformance.judge.packets.misplaced_fields import compare_presence, told_apart
from conformance.judge.packets.optional_headers import SIGNED, compare_security
from conformance.judge.packets.packet_verdicts import by_cause, packed_items, unpadded
from conformance.judge.packets.user_messages import DECODES, ENCODES, compare_decoded, compare_encoded, refusal
from conformance.spec.catalogue import requirement_id
from conformance.suites.packets.building import base64_of, list_values, packet_of
from conformance.verdict import Evidence, Outcome, Verdict, in_phase
from conformance.wire import dissect

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

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
    text = f"Encode a message {_told(message)}."
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
    verdicts = told_apart(by_cause(without_consequences(verdicts), packet), wanted, packet)
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
    text = f"Decode {kind} of {len(data)} bytes, a message {_told(message)}."
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


def _told(message: Mapping[str, Any]) -> str:
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
