"""`mqconform readings list` and `readings show`."""

from __future__ import annotations

from typing import Any

from conformance.cli.output import console, emit_json, fail
from conformance.spec.catalogue import CatalogueError, Reading, catalogue, reading_id
from conformance.spec.entries import SURE
from conformance.verdict import ExitCode


def list_command(*, requirement: str | None, sure: str | None, json: bool) -> None:
    """Print the readings that match all filters; no match is an error."""
    from conformance.cli.requirements import known, selected

    if sure is not None:
        known("degree of certainty", sure, SURE)
    names = {entry.id for entry in selected(section=requirement)} if requirement is not None else None
    found = [
        reading
        for reading in catalogue().readings.values()
        if (names is None or names.intersection(reading.requirements)) and (sure is None or reading.sure == sure)
    ]
    if not found:
        fail("No reading matches.", ExitCode.BAD_INPUT)
    if json:
        emit_json([as_json(reading) for reading in found])
        return
    out = console()
    for reading in found:
        accepted = " or ".join(reading.defaults["windows"])
        out.print(f"{reading.id}  [{reading.sure}, {accepted}]  {reading.title}", markup=False, soft_wrap=True)
    out.print(f"{len(found)} readings", markup=False)


def show_command(name: str, *, json: bool) -> None:
    """Print one reading with the requirements it affects and the findings it answers."""
    from conformance.spec.findings import findings, reading_of

    try:
        reading = catalogue().readings[reading_id(name)]
    except CatalogueError as error:
        fail(f"There is {error}" if str(error).endswith("?") else f"There is {error}.", ExitCode.BAD_INPUT)
    answers = [one for one in findings().values() if reading_of(one) == reading]
    if json:
        emit_json({**as_json(reading), "findings": [{"id": one.id, "title": one.title} for one in answers]})
        return
    lines = [
        reading.id,
        f"  {reading.title}",
        f"  {reading.sure}; a black box {'can' if reading.visible else 'cannot'} tell",
        *(f"  {key}: {text}" for key, text in reading.alternatives.items()),
        *(f"  --readings {key}: {' or '.join(chosen)}" for key, chosen in reading.defaults.items()),
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
