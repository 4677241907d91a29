"""Reads the cases of `fixtures/names/*.toml`, one file a section of MS-MQMQ 2.1.

A file has `section`, `form`, `control` (a valid name, sent before and after the others), and groups. A group has
`rule`, `requirement`, optionally `since`, `until`, `reading`, `kind` and `parts` (what all its names share), and

- `accept`: a list of { text, parts... }: the parts of the name beside those of the group;
- `reject`: a list of texts;
- `disputed`: a list of { text, under = { ALTERNATIVE = EXPECTATION, ... } } with every alternative of the reading. An
  EXPECTATION is "accept", "reject", a table of parts (`kind` among them if it differs), or a list of these, any of
  which will do.

In a text and in parts, {G}, {H} stand for two GUIDs, {CHARxTIMES} for a character repeated, and {u+HEX} for one that
cannot be seen.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.judge.names import FORMS, ONLY, Expectation, NameCase
from conformance.resources import resource
from conformance.spec.catalogue import catalogue, reading_id, requirement_id

GUIDS = {"G": "0123ABCD-4567-89ab-CDEF-0123456789ab", "H": "fedcba98-7654-3210-fedc-ba9876543210"}
MAX_REPEAT = 4096  # the grammar's longest length is 256; a typing error must not fill the memory

_TOKEN = re.compile(r"\{(?:(?P<guid>[GH])|(?P<char>.)x(?P<times>\d+)|u\+(?P<code>[0-9A-F]{2,6}))\}")


class CaseError(ValueError):
    """A fixture breaks the format of this module; the message names file, group and text."""


@dataclass(frozen=True, slots=True)
class Section:
    """The cases of one file. control: text of a name that every profile accepts."""

    number: str
    form: str
    control: str
    cases: tuple[NameCase, ...]

    def by_requirement(self) -> dict[str, tuple[NameCase, ...]]:
        """Group the cases by the requirement they judge, in the order of the file."""
        names = dict.fromkeys(case.requirement for case in self.cases)
        return {name: tuple(case for case in self.cases if case.requirement == name) for name in names}


@cache
def section(number: str) -> Section:
    """Load the cases of a section such as `2.1.1`. Raises CaseError, or FileNotFoundError without fixtures."""
    return load(resource(f"fixtures/names/mqmq-{number}.toml"))


def load(path: Path) -> Section:
    """Load the cases of a fixture. Raises CaseError for a file that breaks the format above."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        number, form = content["section"], content["form"]
        if form not in FORMS:
            raise CaseError(f"{path.name}: form {form} is none of {', '.join(FORMS)}")
        cases = tuple(case for group in content["group"] for case in _cases(group, number, form, path.name))
        control = expand(content["control"])
    except KeyError as missing:
        raise CaseError(f"{path.name}: a group or the file lacks {missing}") from None
    twice = [case.text for at, case in enumerate(cases) if _key(case) in map(_key, cases[:at])]
    if twice:
        raise CaseError(f"{path.name}: {twice[0]!r} stands twice in a group")
    return Section(number, form, control, cases)


def expand(value: Any) -> Any:
    """Replace the tokens of a text, or of each text in a list or table; return other values unchanged."""
    if isinstance(value, str):
        return _TOKEN.sub(_replacement, value)
    if isinstance(value, list):
        return [expand(each) for each in value]
    if isinstance(value, Mapping):
        return {name: expand(each) for name, each in value.items()}
    return value


def _replacement(token: re.Match[str]) -> str:
    if token["guid"]:
        return GUIDS[token["guid"]]
    if token["code"]:
        return chr(int(token["code"], 16))
    if int(token["times"]) > MAX_REPEAT:
        raise CaseError(f"{token[0]} repeats more than {MAX_REPEAT} times")
    return token["char"] * int(token["times"])


def _key(case: NameCase) -> tuple[str | None, ...]:
    return (case.text, case.requirement, case.since, case.until)


def _cases(group: Mapping[str, Any], number: str, form: str, where: str) -> Iterator[NameCase]:
    demand = requirement_id(group["requirement"])
    common = expand({"kind": group.get("kind"), **group.get("parts", {})})
    reading: str | None = group.get("reading")
    if bool(reading) != bool(group.get("disputed")) or (reading and (group.get("accept") or group.get("reject"))):
        raise CaseError(f"{where}: {demand}: a group has either a reading and disputed texts or neither")

    given = _given(group)

    def case(text: str, expected: Mapping[str, tuple[Expectation, ...]]) -> NameCase:
        return NameCase(
            expand(text),
            form,
            group["rule"],
            demand,
            requirement_id(f"MQMQ-{number}.kind"),
            requirement_id(f"MQMQ-{number}.parts"),
            expected,
            reading,
            group.get("since"),
            group.get("until"),
            given,
        )

    for entry in group.get("accept", ()):
        parts = {name: value for name, value in entry.items() if name != "text"}
        yield case(entry["text"], {ONLY: (_expectation(expand(parts), common),)})
    for text in group.get("reject", ()):
        yield case(text, {ONLY: (Expectation(False),)})
    for entry in group.get("disputed", ()):
        alternatives = catalogue().readings[reading_id(str(reading))]
        if set(entry["under"]) != set(alternatives.alternatives) or demand not in alternatives.requirements:
            raise CaseError(f"{where}: {entry['text']}: {reading} has other alternatives, or does not touch {demand}")
        yield case(entry["text"], {name: _choices(value, common) for name, value in entry["under"].items()})


def _given(group: Mapping[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    for reading, alternatives in group.get("given", {}).items():
        return presupposition(reading, tuple(alternatives))
    return None


def presupposition(reading: str, alternatives: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Check a case's presupposed alternatives against the register. Raises CaseError."""
    if not set(alternatives) <= set(catalogue().readings[reading_id(reading)].alternatives):
        raise CaseError(f"{reading} has not all of the alternatives {', '.join(alternatives)}")
    return reading, alternatives


def _choices(value: Any, common: Mapping[str, Any]) -> tuple[Expectation, ...]:
    return tuple(_expectation(expand(each), common) for each in (value if isinstance(value, list) else [value]))


def _expectation(value: Any, common: Mapping[str, Any]) -> Expectation:
    if value == "reject":
        return Expectation(False)
    if value == "accept":
        return Expectation(True, common["kind"])
    members = {**common, **value}
    kind = members.pop("kind")
    return Expectation(True, kind, members)
