"""Two more checks of a decoder: packets it must read alike, and packets it may refuse or read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.suites.packets.building import base64_of, packet_of
from conformance.suites.packets.cases import CONTROL, Step, decode_case
from conformance.verdict import Evidence, Outcome, Verdict, in_phase

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

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
            "MQDMPR-3.1.7.1.31.reads", Outcome.FAIL, "packets.decode", {"status": 0}, shown(first), evidence=evidence
        )
        return
    second = decoded(client, changed, step, f"the same packet with {what} set")
    if second.ok and second.values == first.values:
        yield Verdict(requirement, Outcome.PASS, "packets.decode", evidence=evidence)
        return
    expected, actual = difference(first.values, second.values) if second.ok else ({"status": 0}, shown(second))
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
    step(f"Decode {what}, {len(data)} bytes.", {"method": "packets.decode", "params": params}, shown(result))
    return result


def difference(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the members of a message that differ, as expected and as found."""
    one, other = wanted.get("message", {}), found.get("message", {})
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return {name: one.get(name) for name in names}, {name: other.get(name) for name in names}


def shown(result: Result) -> dict[str, Any]:
    """Return an answer as data for the story."""
    return {"status": result.status, **result.values}
