"""`mqconform readings infer`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from conformance.cli.output import console, emit_json, fail
from conformance.cli.waiting import at_work
from conformance.report.text import spoken
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.histories.inference.inferring import Conclusion
    from conformance.infer import Inferred

_MARKS = {"fits none": "NONE    ", "both ways": "BOTH    ", "followed": "follows ", "narrowed": "either  "}


def command(*, budget: str | None, suites: str | None, stories: bool, json: bool, **wanted: Any) -> None:
    """Infer the readings, print the conclusion on each, and end with the exit code."""
    from conformance.adapter.errors import AdapterError, ConnectorError
    from conformance.cli.run import seconds
    from conformance.infer import infer
    from conformance.run import BadInput

    budget_s = seconds(budget)
    try:
        with at_work("readings", "starting the driver", quiet=json) as show:
            found = infer(
                budget_s=budget_s,
                suites=None if suites in (None, "none") else suites,
                with_suites=suites != "none",
                on_progress=show,
                **wanted,
            )
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except ConnectorError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    except AdapterError as error:
        fail(error.sentence, ExitCode.UNUSABLE)
    if json:
        emit_json(as_json(found))
    else:
        out = console()
        for line in lines(found, stories=stories):
            out.print(line, markup=False, soft_wrap=True)
    if found.sentence:
        fail(found.sentence, found.exit_code)
    sys.exit(int(found.exit_code))


def as_json(found: Inferred) -> dict[str, Any]:
    """Return the result as `--json` prints it."""
    from conformance.histories.inference.inferring import counts

    return {
        "implementation": found.implementation,
        "exit_code": int(found.exit_code),
        "sentence": found.sentence,
        "histories": found.histories,
        "calls": found.calls,
        "seconds": round(found.seconds, 1),
        "counts": counts(found.conclusions),
        "readings": [{**one.to_json(), "claimed": found.claims.get(one.reading)} for one in found.conclusions],
        "behaviours": [behaviour.to_json() for behaviour in found.behaviours],
        "claims_refuted": found.refuted,
        "crashes": dict(found.crashes),
        "run_record": None if found.folder is None else str(found.folder),
    }


def lines(found: Inferred, *, stories: bool = False) -> Iterator[str]:
    """Yield the result in lines; undecided readings are only counted, at the end."""
    from conformance.histories.inference.inferring import Status, counts

    for status in (Status.FOLLOWED, Status.NARROWED, Status.BOTH_WAYS, Status.FITS_NONE):
        for one in found.conclusions:
            if one.status is status:
                yield f"{_MARKS[status.value]}  {one.reading}  {' or '.join(one.left)}  ({one.why})"
                if one.reading in found.refuted:
                    yield f"          it claims {found.refuted[one.reading]}"
                if stories or status is Status.BOTH_WAYS:
                    yield from _proofs(one, of_stories=status is Status.BOTH_WAYS)
    for behaviour in found.behaviours:
        verdict = behaviour.verdict
        yield f"fits none  {verdict.requirement}: expected {spoken(verdict.expected)}, got {spoken(verdict.actual)}"
        if behaviour.readings:
            yield f"    affected by {', '.join(behaviour.readings)}"
        yield from (f"    {number}. {step}" for number, step in enumerate(behaviour.story, start=1))
    for sentence, times in found.crashes.items():
        yield f"crash      {sentence}" + (f" ({times} times)" if times > 1 else "")
    told = counts(found.conclusions)
    yield (
        f"{len(found.conclusions)} readings: "
        + ", ".join(f"{number} {name}" for name, number in told.items() if number)
        + f"; {len(found.behaviours)} behaviours that fit none"
    )
    for why, number in _reasons(found):
        yield f"  {number:>4} undecided: {why}"
    yield f"{found.histories} histories of {found.calls} calls, {found.seconds:.0f} s"
    if found.folder is not None:
        yield f"record of the suites: {found.folder}"


def _proofs(one: Conclusion, *, of_stories: bool) -> Iterator[str]:
    for name, proof in one.proofs.items():
        together = "" if proof.alone else ", together with other stories"
        told = name if of_stories else f"not {name}"
        yield f"    {told}: {proof.where}{together}"
        yield from (f"      {number}. {step}" for number, step in enumerate(proof.story, start=1))


def _reasons(found: Inferred) -> list[tuple[str, int]]:
    seen: dict[str, int] = {}
    for one in found.conclusions:
        if one.status.value == "undecided":
            seen[one.why] = seen.get(one.why, 0) + 1
    return sorted(seen.items(), key=lambda item: -item[1])
