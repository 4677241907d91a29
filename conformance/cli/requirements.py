"""`mqconform requirements`."""

from __future__ import annotations

from dataclasses import asdict
from fnmatch import fnmatchcase

from conformance.cli.output import console, emit_json, fail
from conformance.spec.catalogue import CHECKED, CatalogueError, Requirement, catalogue, did_you_mean, requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import ExitCode


def list_command(*, section: str | None, level: str | None, checked: str | None, json: bool) -> None:
    """Print the requirements that match all filters; none is an error naming the nearest selector."""
    ways = {way.strip() for way in checked.split(",")} if checked else None
    for value in sorted(ways or ()):
        _known("way of checking", value, CHECKED)
    if level is not None:
        _known("level", level, LEVELS)
    found = [
        entry
        for entry in catalogue()
        if (section is None or in_section(entry, section))
        and (level is None or entry.level == level)
        and (ways is None or entry.checked in ways)
    ]
    if not found:
        prefixes = sorted({f"{entry.id.split('-')[0]}-{entry.section}" for entry in catalogue()})
        hint = did_you_mean(section.rstrip("*."), prefixes) if section else ""
        fail(f"No requirement matches{hint or '.'}", ExitCode.BAD_INPUT)
    if json:
        emit_json([asdict(entry) for entry in found])
        return
    out = console()
    for entry in found:
        out.print(f"{entry.id}  [{entry.level}, {entry.checked}]  {entry.says}", markup=False, soft_wrap=True)
    out.print(f"{len(found)} requirements", markup=False)


def in_section(entry: Requirement, selector: str) -> bool:
    """Whether an id, a `DOCUMENT-SECTION` or a pattern with `*` selects this requirement."""
    own = f"{entry.id.split('-')[0]}-{entry.section}"
    return (
        selector in (entry.id, own)
        or own.startswith(f"{selector}.")
        or selector == entry.id.split("-")[0]
        or ("*" in selector and (fnmatchcase(entry.id, selector) or fnmatchcase(own, selector)))
    )


def show_command(name: str, *, json: bool) -> None:
    """Print one requirement and the readings that touch it."""
    try:
        entry = requirement(name)
    except CatalogueError as error:
        fail(f"There is {error}" if str(error).endswith("?") else f"There is {error}.", ExitCode.BAD_INPUT)
    touching = [reading for reading in catalogue().readings.values() if name in reading.requirements]
    if json:
        emit_json(
            {
                **asdict(entry),
                "readings": [
                    {
                        "id": reading.id,
                        "title": reading.title,
                        "alternatives": dict(reading.alternatives),
                        "defaults": {key: list(value) for key, value in reading.defaults.items()},
                        "evidence": reading.evidence,
                        "sure": reading.sure,
                        "visible": reading.visible,
                    }
                    for reading in touching
                ],
            }
        )
        return
    out = console()
    lines = [
        entry.id,
        f"  {entry.document} section {entry.section}, {entry.level}, {entry.role}, checked: {entry.checked}",
        f"  {entry.says}",
    ]
    if entry.since or entry.until:
        lines.append(f"  holds from {entry.since or 'the first version'} to {entry.until or 'the last version'}")
    if entry.product:
        lines.append(f"  product: {entry.product}")
    for reading in touching:
        lines.append(f"  reading {reading.id} ({reading.sure}): {reading.title}")
        lines += [
            f"    {'*' if key in reading.defaults['windows'] else ' '} {key}: {text}"
            for key, text in reading.alternatives.items()
        ]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def _known(what: str, value: str, known: object) -> None:
    names = sorted(known)  # type: ignore[call-overload]
    if value not in names:
        hint = did_you_mean(value, names) or "."
        fail(f"There is no {what} {value!r}{hint} Known: {', '.join(names)}.", ExitCode.BAD_INPUT)
