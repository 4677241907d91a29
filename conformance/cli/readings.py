"""`mqconform readings list`, `show` and `infer`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from conformance.cli.output import at_work, console, emit_json, fail, json_wanted
from conformance.report.text import inline_text
from conformance.spec.catalogue import CatalogueError, Reading, catalogue, reading_id
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.histories.inference.inferring import Conclusion
    from conformance.infer import Inferred


def list_readings() -> None:
    """Print the readings."""
    found = catalogue().readings.values()
    if json_wanted():
        emit_json([as_json(reading) for reading in found])
        return
    out = console()
    for reading in found:
        accepted = " or ".join(reading.defaults["windows"])
        out.print(f"{reading.id}  [{reading.sure}, {accepted}]  {reading.title}", markup=False, soft_wrap=True)
    out.print(f"{len(found)} readings", markup=False)


def show_reading(name: str) -> None:
    """Print one reading with the requirements it affects and the findings it answers."""
    from conformance.spec.catalogue import findings, reading_of_finding

    try:
        reading = catalogue().readings[reading_id(name)]
    except CatalogueError as error:
        fail(f"There is {error}" if str(error).endswith("?") else f"There is {error}.", ExitCode.BAD_INPUT)
    answers = [one for one in findings().values() if reading_of_finding(one) == reading]
    if json_wanted():
        emit_json({**as_json(reading), "findings": [{"id": one.id, "title": one.title} for one in answers]})
        return
    lines = [
        reading.id,
        f"  {reading.title}",
        f"  {reading.sure}; a black box {'can' if reading.visible else 'cannot'} tell",
        *(f"  {key}: {text}" for key, text in reading.alternatives.items()),
        *(f"  --reading {key}: {' or '.join(chosen)}" for key, chosen in reading.defaults.items()),
        f"  evidence: {reading.evidence}",
        *(f"  touches {touched}" for touched in reading.requirements),
        *(f"  answers {one.id}: {one.title}" for one in answers),
    ]
    out = console()
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def as_json(reading: Reading) -> dict[str, Any]:
    """Return a reading as `--json` prints it."""
    return {
        "id": reading.id,
        "title": reading.title,
        "requirements": list(reading.requirements),
        "alternatives": dict(reading.alternatives),
        "defaults": {key: list(value) for key, value in reading.defaults.items()},
        "evidence": reading.evidence,
        "sure": reading.sure,
        "visible": reading.visible,
    }


_MARKS = {"fits none": "NONE    ", "both ways": "BOTH    ", "followed": "follows ", "narrowed": "either  "}


def infer_command(*, budget_s: float | None, suites: str | None, **wanted: Any) -> None:
    """Infer the readings, print the conclusion on each, and end with the exit code."""
    from conformance.adapter.errors import AdapterError, ConnectorError
    from conformance.command_options import BadInput
    from conformance.infer import infer

    try:
        with at_work("readings", "starting the driver", quiet=json_wanted()) as show:
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
    if json_wanted():
        emit_json(inferred_json(found))
    else:
        out = console()
        for line in lines(found):
            out.print(line, markup=False, soft_wrap=True)
    if found.sentence:
        fail(found.sentence, found.exit_code)
    sys.exit(int(found.exit_code))


def inferred_json(found: Inferred) -> dict[str, Any]:
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


def lines(found: Inferred) -> Iterator[str]:
    """Yield the result in lines; undecided readings are only counted, at the end."""
    from conformance.histories.inference.inferring import Status, counts

    for status in (Status.FOLLOWED, Status.NARROWED, Status.BOTH_WAYS, Status.FITS_NONE):
        for one in found.conclusions:
            if one.status is status:
                yield f"{_MARKS[status.value]}  {one.reading}  {' or '.join(one.left)}  ({one.why})"
                if one.reading in found.refuted:
                    yield f"          it claims {found.refuted[one.reading]}"
                if status is Status.BOTH_WAYS:
                    yield from _proofs(one)
    for behaviour in found.behaviours:
        verdict = behaviour.verdict
        wrong = f"expected {inline_text(verdict.expected)}, got {inline_text(verdict.actual)}"
        yield f"fits none  {verdict.requirement}: {wrong}"
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


def _proofs(one: Conclusion) -> Iterator[str]:
    for name, proof in one.proofs.items():
        together = "" if proof.alone else ", together with other stories"
        yield f"    {name}: {proof.where}{together}"
        yield from (f"      {number}. {step}" for number, step in enumerate(proof.story, start=1))


def _reasons(found: Inferred) -> list[tuple[str, int]]:
    seen: dict[str, int] = {}
    for one in found.conclusions:
        if one.status.value == "undecided":
            seen[one.why] = seen.get(one.why, 0) + 1
    return sorted(seen.items(), key=lambda item: -item[1])
