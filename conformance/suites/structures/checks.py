"""Checks of an implementation's structures; a refusal has a valid control before and a liveness probe after it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from conformance.judge.structures.blame import LISTS
from conformance.judge.structures.judge import (
    LIST_ALIGNMENT,
    compare_decoded,
    compare_encoded,
    judge_structure,
    whole_requirement,
)
from conformance.judge.structures.rules import PLAIN
from conformance.spec.catalogue import assignment
from conformance.suites.structures.values import KINDS
from conformance.verdict import Evidence, Outcome, Verdict, in_phase
from conformance.wire.structures import complete, encode

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

Step = Callable[..., None]


@cache
def claims(way: str, name: str) -> tuple[str, ...]:
    """Return the requirements that judge a kind of value when an implementation encodes it, or decodes it.

    They come from judging the right answer to its example, so that no marker names a requirement the test cannot judge.
    """
    kind = next(kind for kind in KINDS if kind.name == name)
    readings = assignment("windows")
    if way == "encode":
        data = encode(kind.structure, kind.example)
        verdicts = compare_encoded(kind.structure, kind.example, data, readings=readings)
    else:
        answer = complete(kind.structure, kind.example)
        verdicts = compare_decoded(kind.structure, kind.example, answer, readings=readings)
    return tuple(dict.fromkeys(verdict.requirement for verdict in verdicts))


def encode_case(client: Port, name: str, value: Any, options: RunOptions, step: Step) -> Iterator[Verdict]:
    """Have the implementation write a structure; compare the bytes member by member."""
    evidence = _evidence(name, value, None)
    result = _call(client, step, f"Encode a {name}.", "structures.encode", structure=name, value=value)
    data = bytes_of(result.values.get("data")) if result.ok else None
    if data is None:
        yield Verdict(
            whole_requirement(name, value),
            Outcome.FAIL,
            f"structures.encode {name}",
            {"data": "bytes"},
            shown(result),
            evidence=evidence,
        )
        return
    evidence = _evidence(name, value, data)
    yield from compare_encoded(name, value, data, readings=options.readings, evidence=evidence)


def decode_case(
    client: Port,
    name: str,
    value: Any,
    options: RunOptions,
    step: Step,
    *,
    data: bytes | None = None,
    requirement: str | None = None,
) -> Iterator[Verdict]:
    """Have the implementation read a structure of the harness.

    data: its bytes, if they differ from the encoded `value` on purpose. requirement: the demand that a refusal or a
    difference then breaks; None: the demand on each member.
    """
    packed = encode(name, value) if data is None else data
    evidence = _evidence(name, value, packed)
    result = _read(client, name, packed, step, "a valid")
    verdicts = list(_judged(name, value, result, options, evidence))
    if _failed(verdicts) and data is None and name in LISTS and "aligned" in options.readings[LIST_ALIGNMENT]:
        other = encode(name, value, aligned=True)
        again = list(_judged(name, value, _read(client, name, other, step, "an aligned"), options, evidence))
        if not _failed(again):
            outcome = Outcome.PASS if options.readings[LIST_ALIGNMENT][0] == "aligned" else Outcome.READING
            followed = ((LIST_ALIGNMENT, "aligned"),)
            verdicts = [Verdict(each.requirement, outcome, each.subject, readings=followed) for each in again]
    if requirement is None:
        yield from verdicts
        return
    wrong = _failed(verdicts)
    subject = f"structures.decode {name}"
    if wrong:
        yield Verdict(requirement, Outcome.FAIL, subject, wrong[0].expected, wrong[0].actual, evidence=evidence)
    else:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)


def refuse_case(
    client: Port,
    name: str,
    data: bytes,
    requirement: str,
    options: RunOptions,
    step: Step,
    *,
    value: Any = None,
    what: str = "malformed",
) -> Iterator[Verdict]:
    """Have bytes read that must be refused or, if there is a `value`, may be read as that and nothing else."""
    yield from in_phase("control", decode_case(client, name, PLAIN[name], options, step))
    evidence = Evidence("structure", "malformed", {"structure": name, "data": base64_of(data)})
    result = _read(client, name, data, step, what)
    subject = f"structures.decode {name}"
    taken = result.ok and (value is None or _failed(_judged(name, value, result, options, evidence)))
    if taken:
        expected: dict[str, Any] = {"refused": True} if value is None else {"refused, or value": value}
        yield Verdict(requirement, Outcome.FAIL, subject, expected, shown(result), evidence=evidence)
    else:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
    yield from in_phase("liveness", decode_case(client, name, PLAIN[name], options, step))


def forbidden_case(
    client: Port, name: str, value: Any, requirement: str, options: RunOptions, step: Step
) -> Iterator[Verdict]:
    """Have a forbidden value written: it must be refused, or the bytes must not hold it."""
    yield from in_phase("control", decode_case(client, name, PLAIN[name], options, step))
    evidence = _evidence(name, value, None)
    subject = f"structures.encode {name}"
    text = f"Encode a {name} with what {requirement} forbids."
    result = _call(client, step, text, "structures.encode", structure=name, value=value)
    data = bytes_of(result.values.get("data")) if result.ok else None
    if data is None:
        outcome = Outcome.FAIL if result.ok else Outcome.PASS
        yield Verdict(requirement, outcome, subject, {"data": "bytes, or a refusal"}, shown(result), evidence=evidence)
    else:
        evidence = _evidence(name, value, data)
        found = judge_structure(name, data, readings=options.readings, subject=subject, evidence=evidence)
        fallback = Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
        yield next((one for one in _failed(found) if one.requirement == requirement), fallback)
    yield from in_phase("liveness", decode_case(client, name, PLAIN[name], options, step))


def _judged(name: str, value: Any, result: Result, options: RunOptions, evidence: Evidence) -> Iterator[Verdict]:
    if not result.ok:
        yield Verdict(
            whole_requirement(name, value),
            Outcome.FAIL,
            f"structures.decode {name}",
            {"value": "as encoded"},
            shown(result),
            evidence=evidence,
        )
        return
    answer = result.values.get("value")
    yield from compare_decoded(name, value, answer, readings=options.readings, evidence=evidence)


def _failed(verdicts: Any) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]


def _read(client: Port, name: str, data: bytes, step: Step, what: str) -> Result:
    text = f"Decode {what} {name} of {len(data)} bytes."
    return _call(client, step, text, "structures.decode", structure=name, data=base64_of(data))


def _call(client: Port, step: Step, text: str, method: str, **params: Any) -> Result:
    result = client.call(method, **params)
    step(text, {"method": method, "params": params}, shown(result))
    return result


def _evidence(name: str, value: Any, data: bytes | None) -> Evidence:
    held = {"structure": name, "value": value}
    return Evidence("structure", "structure", held if data is None else {**held, "data": base64_of(data)})


def shown(result: Result) -> dict[str, Any]:
    """Return an answer as data for the story."""
    out: dict[str, Any] = {"status": result.status, **result.values}
    if result.failure is not None:
        out["failure"] = {"kind": result.failure.kind, "text": result.failure.text}
    return out


def base64_of(data: bytes) -> str:
    """Return bytes as the adapter protocol writes them, in base64."""
    return base64.b64encode(data).decode("ascii")


def bytes_of(text: Any) -> bytes | None:
    """Return the bytes of a base64 text; None if it is not one."""
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except binascii.Error:
        return None
