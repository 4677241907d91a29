"""`mqconform requirements`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from fnmatch import fnmatchcase

from conformance.cli.output import console, emit_json, fail
from conformance.spec.catalogue import CHECKED, CatalogueError, Requirement, catalogue, did_you_mean, requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import ExitCode

_WORD = re.compile(r"\.[a-z][a-z-]*$")


def list_command(*, section: str | None, level: str | None, checked: str | None, unclaimed: bool, json: bool) -> None:
    """Print the requirements that match all filters; none is an error naming the nearest selector."""
    ways = {way.strip() for way in checked.split(",")} if checked else None
    for value in sorted(ways or ()):
        known("way of checking", value, CHECKED)
    if level is not None:
        known("level", level, LEVELS)
    found = [
        entry
        for entry in selected(section=section)
        if (level is None or entry.level == level) and (ways is None or entry.checked in ways)
    ]
    if found and unclaimed:
        found = _unclaimed(found)
        if not found:
            console(stderr=True).print("Every one of these requirements is claimed by a check.", markup=False)
    elif not found:
        fail("No requirement matches.", ExitCode.BAD_INPUT)
    if json:
        emit_json([asdict(entry) for entry in found])
        return
    out = console()
    for entry in found:
        out.print(f"{entry.id}  [{entry.level}, {entry.checked}]  {entry.says}", markup=False, soft_wrap=True)
        if unclaimed and entry.reason:
            out.print(f"    not checked: {entry.reason}", markup=False, soft_wrap=True)
    out.print(f"{len(found)} requirements", markup=False)


def selected(*, section: str | None) -> list[Requirement]:
    """The requirements a selector means (None: all). Ends the command, naming the nearest one, when it means none."""
    found = [entry for entry in catalogue() if section is None or in_section(entry, section)]
    if not found and section is not None:
        prefixes = sorted({f"{entry.id.split('-')[0]}-{entry.section}" for entry in catalogue()})
        names = list(catalogue().requirements) if _WORD.search(section) else prefixes
        fail(
            f"No requirement matches {section!r}{did_you_mean(section.rstrip('*.'), names) or '.'}", ExitCode.BAD_INPUT
        )
    return found


def _unclaimed(found: list[Requirement]) -> list[Requirement]:
    from conformance.suites.claims_index import IndexFailed, claims, unclaimed

    try:
        names = set(unclaimed(claims()))
    except IndexFailed as error:
        fail(str(error), ExitCode.HARNESS_ERROR)
    return [entry for entry in found if entry.id in names]


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
        from conformance.cli.readings import as_json as reading_json

        emit_json(
            {
                **asdict(entry),
                "readings": [reading_json(reading) for reading in touching],
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


def known(what: str, value: str, words: Iterable[str]) -> None:
    """End the command, naming the nearest word, for a value that is none of `words`."""
    names = sorted(words)
    if value not in names:
        hint = did_you_mean(value, names) or "."
        fail(f"There is no {what} {value!r}{hint} Known: {', '.join(names)}.", ExitCode.BAD_INPUT)
