"""`mqconform requirements coverage`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from conformance.cli.output import console, emit_json, fail
from conformance.cli.requirements import known, selected
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
    """Print claimed, reached and discriminated, a line a section; zeros where nothing was given to count.

    selftest: what each of these caught counts. rest: below, what was not discriminated, each with the reason.
    """
    from conformance.report.coverage import SelftestError, coverage, discriminated_by, reached_by, undiscriminated
    from conformance.runlog import RunRecordError, read_run
    from conformance.suites.claims_index import IndexFailed, by_mutation, claims

    if profile is not None:
        known("profile", profile, PROFILES)
    entries = selected(section=section)
    try:
        run = read_run(record) if record is not None else None
        caught = frozenset[str]().union(*map(discriminated_by, selftest))
    except (RunRecordError, SelftestError) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    bound = profile or (run.header.profile if run is not None else None)
    if bound is not None:
        entries = [entry for entry in entries if entry.binds(bound)]
    try:
        claimed = claims()
    except IndexFailed as error:
        fail(str(error), ExitCode.HARNESS_ERROR)
    discriminated = caught | by_mutation()
    left = undiscriminated(entries, claimed=claimed, discriminated=discriminated)
    lines = coverage(
        entries,
        claimed=claimed,
        reached=reached_by(run) if run is not None else frozenset(),
        discriminated=discriminated,
    )
    if json:
        emit_json(
            {
                "run": None if run is None else run.header.run_id,
                "profile": bound,
                "selftest": [str(path) for path in selftest],
                "documents": [asdict(line) for line in lines if not line.section],
                "sections": [asdict(line) for line in lines if line.section],
                "rest": [asdict(one) for one in left],
            }
        )
        return
    out = console()
    head = f"{'section':<24} {'entries':>8} {'checkable':>9} {'claimed':>8} {'reached':>8} {'discriminated':>13}"
    out.print(head, markup=False, soft_wrap=True)
    for line in lines:
        name = f"  {line.section}" if line.section else line.document
        numbers = f"{line.entries:>8} {line.checkable:>9} {line.claimed:>8} {line.reached:>8} {line.discriminated:>13}"
        out.print(f"{name:<24} {numbers}", markup=False, soft_wrap=True)
    if run is None:
        out.print("reached: no run was named", markup=False)
    if not selftest:
        out.print("discriminated: by mutations alone, no selftest was named", markup=False)
    checkable = sum(line.checkable for line in lines if not line.section)
    closing = f"{checkable - len(left)} of {checkable} checkable requirements are discriminated"
    out.print(f"{closing}{'' if rest or not left else '; --rest lists the others'}", markup=False, soft_wrap=True)
    if rest:
        for one in left:
            out.print(f"{one.requirement}: {one.why}", markup=False, soft_wrap=True)
