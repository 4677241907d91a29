"""`mqconform requirements coverage`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from conformance.cli.output import console, emit_json, fail
from conformance.cli.requirements import known, selected
from conformance.cli.waiting import at_work
from conformance.spec.demanded import profile_of
from conformance.spec.versions import PROFILES
from conformance.verdict import ExitCode


def command(
    record: Path | None,
    *,
    selftest: tuple[Path, ...],
    section: str | None,
    profile: str | None,
    rest: bool,
    json: bool,
) -> None:
    """Print the requirements claimed, reached and discriminated, one line per section.

    record: None counts none as reached. selftest: results whose caught requirements count as discriminated. profile:
    default: the run's, else DEFAULT_PROFILE. rest: also print requirements not judged, by what is needed to judge them,
    and those not discriminated, with the reason.
    """
    from conformance.report.coverage import (
        LEFT,
        SelftestError,
        coverage,
        discriminated_by,
        left,
        reached_by,
        undiscriminated,
    )
    from conformance.report.covered import discriminated as seen_to_fail
    from conformance.report.covered import known as known_of_checks
    from conformance.report.covered import summed
    from conformance.report.records import read_run
    from conformance.runlog import RunRecordError

    if profile is not None:
        known("profile", profile, PROFILES)
    entries = selected(section=section)
    try:
        run = read_run(record) if record is not None else None
        caught = frozenset[str]().union(*map(discriminated_by, selftest))
    except (RunRecordError, SelftestError) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    bound = profile or profile_of(run.header.profile if run is not None else None)
    entries = [entry for entry in entries if entry.binds(bound)]
    with at_work("requirements coverage", "reading what the checks claim", quiet=json):
        claimed, discriminated = known_of_checks().claimed, seen_to_fail(caught)
    reached = reached_by(run) if run is not None else frozenset[str]()
    others = undiscriminated(entries, claimed=claimed, discriminated=discriminated)
    needed = left(entries, claimed=claimed, reached=reached)
    lines = coverage(entries, claimed=claimed, reached=reached, discriminated=discriminated)
    total = summed(line for line in lines if not line.section)
    if json:
        emit_json(
            {
                "run": None if run is None else run.header.run_id,
                "profile": bound,
                "selftest": [str(path) for path in selftest],
                "documents": [asdict(line) for line in lines if not line.section],
                "sections": [asdict(line) for line in lines if line.section],
                "total": asdict(total),
                "left": needed,
                "rest": [asdict(one) for one in others],
            }
        )
        return
    out = console()
    head = f"{'section':<24} {'entries':>8} {'checkable':>9} {'claimed':>8} {'reached':>8} {'discriminated':>13}"
    out.print(head, markup=False, soft_wrap=True)
    for line in [*lines, total]:
        name = f"  {line.section}" if line.section else line.document
        numbers = f"{line.entries:>8} {line.checkable:>9} {line.claimed:>8} {line.reached:>8} {line.discriminated:>13}"
        out.print(f"{name:<24} {numbers}", markup=False, soft_wrap=True)
    if run is None:
        out.print("reached: no run was given", markup=False)
    if not selftest:
        out.print("discriminated: by mutations only, no selftest result was given", markup=False)
    if run is not None:
        out.print(f"{total.reached:,} of {total.checkable:,} requirements of {bound} judged", markup=False)
    closing = f"{total.discriminated:,} of {total.checkable:,} requirements of {bound} discriminated"
    out.print(f"{closing}{'' if rest or not others else '; --rest lists the others'}", markup=False, soft_wrap=True)
    if rest:
        out.print("Not judged, by what is needed:", markup=False)
        for name, number in needed.items():
            if number:
                out.print(f"  {name:<12} {number:>6,}  {LEFT[name]}", markup=False, soft_wrap=True)
        for one in others:
            out.print(f"{one.requirement}: {one.why}", markup=False, soft_wrap=True)
