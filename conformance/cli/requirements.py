"""`mqconform requirements` and `readings`: list, show, coverage and infer."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.cli.output import at_work, console, emit_json, fail, json_wanted
from conformance.report.table import section_title
from conformance.report.text import inline_text
from conformance.runlog.counts import counted
from conformance.spec.catalogue import (
    CHECKED,
    NEEDS,
    CatalogueError,
    Reading,
    Requirement,
    catalogue,
    current,
    did_you_mean,
    profile_of,
    reading_id,
    requirement,
    selected,
)
from conformance.spec.constants.hresults import HRESULTS, source_of
from conformance.spec.versions import LEVELS, PROFILES
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.histories.inference.inferring import Conclusion
    from conformance.infer import Inferred
    from conformance.report.coverage import Covered
    from conformance.suites.requirement_uses import Place, Uses


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
    out.print(counted(len(found), "reading"), markup=False)


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
        f"{counted(len(found.conclusions), 'reading')}: "
        + ", ".join(f"{number} {name}" for name, number in told.items() if number)
        + f"; {counted(len(found.behaviours), 'behaviour')} that fit none"
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


def list_codes() -> None:
    """Print the HRESULTs by name: each as hexadecimal and, as a driver writes it, as decimal number."""
    if json_wanted():
        emit_json([{"name": name, "code": code, "source": source_of(name)} for name, code in HRESULTS.items()])
        return
    for name, code in HRESULTS.items():
        _say(f"0x{code:08X}  {code:>10}  {name}")


def list_command(*, section: str | None, level: str | None, checked: Sequence[str], unclaimed: bool) -> None:
    """Print the requirements that match all filters; no match is an error with the nearest selector."""
    ways = set(checked) or None
    for value in sorted(checked):
        check_known("way of checking", value, CHECKED)
    if level is not None:
        check_known("level", level, LEVELS)
    found = [
        entry
        for entry in entries_of(section)
        if (level is None or entry.level == level) and (ways is None or entry.checked in ways)
    ]
    if found and unclaimed:
        with at_work("requirements list", "reading the suites", quiet=json_wanted()):
            found = _unclaimed(found)
        if not found:
            console(stderr=True).print("Every one of these requirements is claimed by a check.", markup=False)
    elif not found:
        fail("No requirement matches.", ExitCode.BAD_INPUT)
    if json_wanted():
        emit_json([asdict(entry) for entry in found])
        return
    out = console()
    for entry in found:
        out.print(f"{entry.id}  [{entry.level}, {entry.checked}]  {entry.says}", markup=False, soft_wrap=True)
        if unclaimed and entry.reason:
            out.print(f"    not checked: {entry.reason}", markup=False, soft_wrap=True)
    out.print(counted(len(found), "requirement"), markup=False)


def entries_of(section: str | None) -> list[Requirement]:
    """Return the requirements a selector matches (None: all). Ends the command with the nearest one if none matches."""
    try:
        return list(catalogue()) if section is None else selected(section)
    except CatalogueError as error:
        fail(str(error), ExitCode.BAD_INPUT)


def _unclaimed(found: list[Requirement]) -> list[Requirement]:
    from conformance.suites.claims_index import IndexFailed, claims, unclaimed

    try:
        names = set(unclaimed(claims()))
    except IndexFailed as error:
        fail(str(error), ExitCode.HARNESS_ERROR)
    return [entry for entry in found if entry.id in names]


def show_command(name: str) -> None:
    """Print one requirement, the readings that affect it, and everything that names it."""
    try:
        entry = requirement(current(name))
    except CatalogueError as error:
        _tell_many(name)
        fail(f"There is {error}" if str(error).endswith("?") else f"There is {error}.", ExitCode.BAD_INPUT)
    from conformance.report.coverage import covered
    from conformance.suites.requirement_uses import uses_of

    touching = [reading for reading in catalogue().readings.values() if entry.id in reading.requirements]
    uses = uses_of(entry, covered().uses.get(entry.id, {}))
    heading = section_title(entry.document, entry.section)
    if json_wanted():
        emit_json(
            {
                **asdict(entry),
                "heading": heading,
                "readings": [as_json(reading) for reading in touching],
                **asdict(uses),
            }
        )
        return
    out = console()
    for line in (*_of_entry(entry, heading), *_of_readings(touching), *_of_uses(uses)):
        out.print(line, markup=False, soft_wrap=True)


def _of_entry(entry: Requirement, heading: str) -> Iterator[str]:
    """Yield the lines about the text, its source and the versions it holds for."""
    yield entry.id
    place = f"{entry.document} section {entry.section}{f' ({heading})' if heading else ''}"
    yield f"  {place}, {entry.level}, {entry.role}, checked: {entry.checked}"
    yield f"  {entry.says}"
    if entry.needs:
        yield f"  needs {entry.needs}: {NEEDS[entry.needs]}"
    if entry.reason:
        yield f"  not checked: {entry.reason}"
    if entry.aliases:
        yield f"  known before as {', '.join(entry.aliases)}"
    if entry.since or entry.until:
        yield f"  holds from {entry.since or 'the first version'} to {entry.until or 'the last version'}"
    if entry.product:
        yield f"  product: {entry.product}"
    if entry.source:
        yield f"  source: {', '.join(entry.source)}{f' ({entry.kind})' if entry.kind else ''}"


def _of_readings(readings: Iterable[Reading]) -> Iterator[str]:
    """Yield the lines about readings; a star marks the alternatives that the set `windows` accepts."""
    for reading in readings:
        yield f"  reading {reading.id} ({reading.sure}): {reading.title}"
        for key, text in reading.alternatives.items():
            yield f"    {'*' if key in reading.defaults['windows'] else ' '} {key}: {text}"


def _of_uses(uses: Uses) -> Iterator[str]:
    for suite, functions in uses.claims.items():
        yield f"  claimed by suite {suite}: {', '.join(functions)}"
    if not uses.claims:
        yield "  claimed by no suite"
    faults: dict[str, list[str]] = {}
    for name, suite in uses.faults.items():
        faults.setdefault(suite, []).append(name)
    groups: tuple[tuple[str, Iterable[object]], ...] = (
        ("rule", uses.rules),
        ("judged at", uses.judged),
        ("model table", uses.model),
        ("model branch", uses.branches),
        ("feature", uses.features),
        ("fault", (f"{', '.join(names)} (suite {suite})" for suite, names in faults.items())),
        ("mutation", uses.mutations),
        ("test", _by_file(uses.tests or ())),
    )
    for word, found in groups:
        for each in found:
            yield f"  {word}: {each}"
    if uses.mutations or uses.caught:
        yield f"  discriminated: {'a mutation or a fault' if uses.caught else 'nothing'} is seen to break it"


def _by_file(places: Iterable[Place]) -> Iterator[str]:
    """Yield one text for each file, with its line numbers."""
    lines: dict[str, list[str]] = {}
    for place in places:
        lines.setdefault(place.file, []).append(str(place.line))
    for file, numbers in lines.items():
        yield f"{file}:{','.join(numbers)}"


def _tell_many(name: str) -> None:
    """End the command for a section, document or pattern that matches requirements: these can be listed, not shown."""
    try:
        number = len(selected(name))
    except CatalogueError:
        return
    what = "pattern" if "*" in name else "section" if "-" in name else "document"
    command = f"mqconform requirements list --section {shlex.quote(name)}"
    count = f"{number:,} requirement{'' if number == 1 else 's'}"
    fail(f"{name} is a {what} with {count}: list them with {command}", ExitCode.BAD_INPUT)


def check_known(what: str, value: str, words: Iterable[str]) -> None:
    """End the command, suggesting the nearest word, for a value that is not among `words`."""
    names = sorted(words)
    if value not in names:
        hint = did_you_mean(value, names) or "."
        fail(f"There is no {what} {value!r}{hint} Known: {', '.join(names)}.", ExitCode.BAD_INPUT)


def command(
    record: Path | None,
    *,
    selftest: tuple[Path, ...],
    section: str | None,
    profile: str | None,
    rest: bool,
) -> None:
    """Print the requirements claimed, reached and discriminated, one line per section, or all as JSON.

    record: None counts none as reached. selftest: results whose caught requirements count as discriminated. profile:
    default: the run's, else DEFAULT_PROFILE. rest: also print requirements not judged, by what is needed to judge them,
    and those not discriminated, with the reason.
    """
    from conformance.report.coverage import (
        LEFT,
        SelftestError,
        coverage,
        discriminated_by,
        missing_counts,
        reached_by,
        summed,
        undiscriminated,
    )
    from conformance.report.coverage import covered as known_of_checks
    from conformance.report.coverage import discriminated as seen_to_fail
    from conformance.report.records import read_run
    from conformance.runlog import RunRecordError

    if profile is not None:
        check_known("profile", profile, PROFILES)
    entries = entries_of(section)
    try:
        run = read_run(record) if record is not None else None
        caught = frozenset[str]().union(*map(discriminated_by, selftest))
    except (RunRecordError, SelftestError) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    bound = profile or profile_of(run.header.profile if run is not None else None)
    entries = [entry for entry in entries if entry.binds(bound)]
    with at_work("requirements coverage", "reading what the checks claim", quiet=json_wanted()):
        claimed, discriminated = known_of_checks().claimed, seen_to_fail(caught)
    reached = reached_by(run) if run is not None else frozenset[str]()
    others = undiscriminated(entries, claimed=claimed, discriminated=discriminated)
    needed = missing_counts(entries, claimed=claimed, reached=reached)
    lines = coverage(entries, claimed=claimed, reached=reached, discriminated=discriminated)
    total = summed(line for line in lines if not line.section)
    if json_wanted():
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
    _print_table(lines, total)
    if run is None:
        _say("reached: no run was given")
    if not selftest:
        _say("discriminated: by mutations, and by faults as they were last recorded; no selftest result was given")
    if run is not None:
        _say(f"{total.reached:,} of {total.checkable:,} requirements of {bound} judged")
    closing = f"{total.discriminated:,} of {total.checkable:,} requirements of {bound} discriminated"
    _say(f"{closing}{'' if rest or not others else '; --rest lists the others'}")
    if rest:
        _say("Not judged, by what is needed:")
        for name, number in needed.items():
            if number:
                _say(f"  {name:<12} {number:>6,}  {LEFT[name]}")
        for one in others:
            _say(f"{one.requirement}: {one.why}")


def _say(text: str) -> None:
    console().print(text, markup=False, soft_wrap=True)


def _print_table(lines: Iterable[Covered], total: Covered) -> None:
    head = f"{'section':<24} {'entries':>8} {'checkable':>9} {'claimed':>8} {'reached':>8} {'discriminated':>13}"
    _say(head)
    for line in [*lines, total]:
        name = f"  {line.section}" if line.section else line.document
        numbers = f"{line.entries:>8} {line.checkable:>9} {line.claimed:>8} {line.reached:>8} {line.discriminated:>13}"
        _say(f"{name:<24} {numbers}")
