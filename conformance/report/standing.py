"""The part of a run that gates and comparisons use, the baseline that excuses it, and the floor."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any

from conformance.files import UnfitError, text_of, toml_table
from conformance.harness.failure_verdicts import CONCLUSION
from conformance.report.places import PacketPlace, evidence_of, packet_number, place_of
from conformance.report.situations import situations
from conformance.runlog import Run
from conformance.runlog.counts import NO_JUDGEMENT
from conformance.runlog.run import left_out
from conformance.spec.catalogue import catalogue, current, did_you_mean
from conformance.spec.versions import LEVELS
from conformance.verdict import FRAME, Json, Outcome, of_requirement, worst

DEVIATING = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
BROKEN_OFF = frozenset({"error", "driver-unusable", "interrupted", "max-failures"})
"""Stop reasons of a run that proves less than a whole one. A spent budget is not one: `left_out` tells what it cost."""

MAX_SUBJECTS = 32 << 20
"""Characters of all deviating subjects; subjects beyond that are merged into one, `FURTHER`."""
FURTHER = "(further subjects)"
_AN_ENTRY = 200  # memory of an entry beside its characters


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The part of a run that is compared.

    outcomes: requirement to its worst outcome. deviating: requirement to its deviating subjects, each with its worst
    outcome. judged, suites, tests (for captures: file names): those with a verdict other than error, skip and
    inconclusive. rules (ids) and phases (suite, phase): those that judged something, None if the record does not count
    them. undone: why the run is not whole, None if it is. left_out: a sentence on tests that did not run. errors:
    requirements that could not be judged because of a harness error. lacking: what captures announce but do not
    contain, in words; empty if nothing. situations: numbers of those met, None if no planned history was played;
    situations_excused: those not met after a failure; situations_digest: of the tables that number them. place: finds
    the packet of a capture that deviates, by requirement and subject.
    """

    name: str
    profile: str | None
    level: str
    outcomes: Mapping[str, Outcome]
    deviating: Mapping[str, Mapping[str, Outcome]]
    judged: frozenset[str]
    suites: frozenset[str]
    tests: frozenset[str]
    captures: frozenset[str]
    undone: str | None
    errors: frozenset[str] = frozenset()
    rules: frozenset[str] | None = None
    phases: frozenset[tuple[str, str]] | None = None
    lacking: str = ""
    left_out: str | None = None
    situations: frozenset[int] | None = None
    situations_excused: frozenset[int] = frozenset()
    situations_digest: str = ""
    place: Callable[[str, str], PacketPlace | None] = field(default=lambda requirement, subject: None, compare=False)


def standing(run: Run) -> RunSummary:
    """Return the standing of a run at its level. A requirement not in the catalogue is a `must`."""
    at = run.header.level or "must"
    strict = run.header.reading_set == "strict"
    left, planned = left_out(run), situations(run)
    outcomes: dict[str, list[Outcome]] = {}
    deviating: dict[str, dict[str, Outcome]] = {}
    judged: set[str] = set()
    suites: set[str] = set()
    tests: set[str] = set()
    captures = frozenset(_base(path) for path in run.header.captures)
    for said in run.said:
        outcomes.setdefault(said.requirement, []).append(said.outcome)
        if said.outcome not in NO_JUDGEMENT:
            judged.add(said.requirement)
            if said.suite != CONCLUSION:
                suites.add(said.suite)
    room = MAX_SUBJECTS
    for number, said in run.numbered():
        recorded = run.verdicts.at(number)
        if said.outcome not in NO_JUDGEMENT and said.suite != CONCLUSION:
            tests.add(_base(recorded.test) if captures else recorded.test)
        if deviates(said.outcome, strict) and _binds(said.requirement, at):
            subjects = deviating.setdefault(said.requirement, {})
            subject = recorded.verdict.subject
            if subject not in subjects:
                room -= len(subject) + _AN_ENTRY
                subject = subject if room >= 0 else FURTHER
            subjects[subject] = worst([said.outcome, subjects.get(subject, said.outcome)]) or said.outcome
    return RunSummary(
        name=named(run),
        profile=run.header.profile,
        level=at,
        outcomes={name: of_requirement(found) or Outcome.SKIP for name, found in outcomes.items()},
        deviating=deviating,
        judged=frozenset(judged),
        suites=frozenset(suites),
        tests=frozenset(tests),
        captures=captures,
        undone=incomplete_because(run),
        errors=frozenset(said.requirement for said in run.said if said.outcome is Outcome.ERROR),
        rules=None if run.tally is None else frozenset(run.tally.rules),
        phases=None if run.tally is None else frozenset(run.tally.phases),
        lacking=run.incomplete.words,
        left_out=None if left is None else left.sentence,
        situations=None if planned is None else planned.met,
        situations_excused=frozenset() if planned is None else planned.failed,
        situations_digest="" if planned is None else planned.digest,
        place=partial(_place, run),
    )


def _place(run: Run, requirement: str, subject: str) -> PacketPlace | None:
    """Return where the first packet is that is such a subject and deviates from the requirement."""
    strict = run.header.reading_set == "strict"
    for number, said in run.numbered() if packet_number(subject) is not None else ():
        if said.requirement == requirement and deviates(said.outcome, strict):
            recorded = run.verdicts.at(number)
            if recorded.verdict.subject == subject:
                return place_of(run, recorded, evidence_of(run, recorded))
    return None


def named(run: Run) -> str:
    """Return a run's name in a comparison: its label, or else implementation and version, captures, connector or id."""
    if run.header.label:
        return run.header.label
    return implementation(run) or captured(run) or run.header.connector or run.header.run_id


def implementation(run: Run) -> str:
    """Return the name and version that the implementation reported; empty if it reported none."""
    hello = run.hello or {}
    name, version = hello.get("name"), hello.get("version")
    return f"{name} {version}" if name and version else str(name or "")


def column(run: Run) -> str:
    """Return a run's name as a column heading: its label, its connector, or its captures."""
    header = run.header
    return header.label or header.connector or captured(run) or named(run)


def captured(run: Run) -> str:
    """Return the file names of the run's captures, shortened; empty if it has none."""
    captures = sorted({_base(path) for path in run.header.captures})
    if len(captures) < 2:
        return "".join(captures)
    return f"{captures[0]} and {len(captures) - 1} more"


def level_of(requirement: str) -> str:
    """Return `must`, `should` or `may`; `must` for an id that the catalogue does not have."""
    entry = catalogue().requirements.get(requirement)
    return entry.level if entry is not None else LEVELS[0]


def deviates(outcome: Outcome, strict: bool) -> bool:
    """Tell whether this outcome is a deviation if the requirement binds. strict: the strict readings are chosen."""
    return outcome in DEVIATING or outcome is Outcome.WARN or (strict and outcome is Outcome.READING)


def _binds(requirement: str, level: str) -> bool:
    return LEVELS.index(level_of(requirement)) <= LEVELS.index(level)


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def incomplete_because(run: Run) -> str | None:
    """Return why a run proves less than a whole one, None if it is whole."""
    if not run.complete:
        return f"the run record is incomplete: {' '.join(run.problems)}".rstrip()
    footer = run.footer
    if footer is not None and footer.stop_reason in BROKEN_OFF:
        return f"the run ended early ({footer.stop_reason})"
    return None


TOLERANCE = 0.05
"""The share by which a run may judge fewer than the run it is compared with: which rare requirements a walk meets
depends on its seed and on the driver's clock. A suite that is left out makes a larger difference."""
FLOOR_TABLE = "floor"
"""The table of a baseline that holds how many requirements were judged by the run of its last update."""
JUDGED = "judged"


@dataclass(frozen=True, slots=True)
class Floor:
    """The least number of requirements that a run must judge, and where that number comes from (why)."""

    least: int
    why: str

    def sentence(self, judged: int) -> str:
        """Return the objection against a run that judged fewer."""
        return f"{judged:,} requirements were judged, and the floor is {self.least:,} ({self.why})"


def floor_below(judged: int, where: str) -> Floor:
    """Return the floor for runs that are compared with one that judged so many requirements."""
    return Floor(judged - int(judged * TOLERANCE), f"{TOLERANCE:.0%} below the {judged:,} of {where}")


def recorded(content: Mapping[str, Any]) -> int | None:
    """Return the number that a baseline stores, None if it stores none. Raises ValueError that says what is wrong."""
    table = content.get(FLOOR_TABLE)
    if table is None:
        return None
    number = table.get(JUDGED) if isinstance(table, Mapping) else None
    if type(number) is not int or number < 0:
        raise ValueError(f"[{FLOOR_TABLE}] has no {JUDGED}; give a number of requirements")
    return number


def floor_outdated(before: int | None, now: int) -> bool:
    """Tell whether a baseline needs a new number: it has none, or one that differs by more than the tolerance."""
    return before is None or abs(now - before) > before * TOLERANCE


TABLE = "known"
QUIRKS = "quirk"
"""Table of the quirks of the implementation: `conformance.explaining.quirks` says what is in them."""
MAX_FILE = 4 << 20
LASTS = timedelta(days=90)
"""How long a new entry lasts by default."""

HEAD = """\
# Known deviations: `mqconform gate --baseline` lets these pass and nothing else.
# An entry that is over, or that no longer fails, fails the gate; `mqconform baseline update` keeps this file in order.
# So does a run that judges far fewer requirements than `judged` says. A [[quirk]] is what runs go on behind.
"""
_MEMBERS = frozenset({"requirement", "subject", "reason", "link", "expires"})


class BaselineError(ValueError):
    """A baseline that cannot be used. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class Known:
    """One entry. subject: the deviating subject, None for all of the requirement. expires: the last day it holds.

    written: the id in the file if the requirement has another id now, else None.
    """

    requirement: str
    reason: str
    link: str
    expires: date
    subject: str | None = None
    written: str | None = None

    @property
    def name(self) -> str:
        """The entry's name in messages: the requirement, and the subject if it has one."""
        return self.requirement if self.subject is None else f"{self.requirement} ({self.subject})"

    def covers(self, requirement: str, subject: str) -> bool:
        """Tell whether this entry excuses a deviation from the requirement at this subject."""
        return requirement == self.requirement and self.subject in (None, subject)

    def to_json(self) -> dict[str, Json]:
        """Return the entry as JSON, the day as ISO 8601."""
        return {
            "requirement": self.requirement,
            "subject": self.subject,
            "reason": self.reason,
            "link": self.link,
            "expires": self.expires.isoformat(),
        }


def read_baseline(path: Path) -> tuple[Known, ...]:
    """Return the entries of a baseline file. Raises BaselineError."""
    return parse(_text(path), str(path))


def read_floor(path: Path) -> Floor | None:
    """Return the floor that a baseline file sets, None if it sets none. Raises BaselineError."""
    judged = _judged(_content(_text(path), str(path)), str(path))
    return None if judged is None else floor_below(judged, str(path))


def read_quirks(path: Path) -> tuple[Mapping[str, Any], ...]:
    """Return the tables of quirks of a baseline file, unchecked. Raises BaselineError."""
    tables = _content(_text(path), str(path)).get(QUIRKS, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BaselineError(f"{path}: write each quirk as [[{QUIRKS}]].")
    return tuple(tables)


def _judged(content: Mapping[str, Any], path: str) -> int | None:
    try:
        return recorded(content)
    except ValueError as error:
        raise BaselineError(f"{path}: {error}.") from None


def parse(text: str, path: str) -> tuple[Known, ...]:
    """Return the entries in this text. path: named in errors. Raises BaselineError."""
    content = _content(text, path)
    _judged(content, path)
    tables = content.get(TABLE, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BaselineError(f"{path}: write each entry as [[{TABLE}]].")
    entries = tuple(_entry(table, f"{path}, entry {number}") for number, table in enumerate(tables, 1))
    seen: set[tuple[str, str | None]] = set()
    for entry in entries:
        key = (entry.requirement, entry.subject)
        if key in seen:
            raise BaselineError(f"{path} has {entry.name} twice; keep one.")
        seen.add(key)
    return entries


def _content(text: str, path: str) -> dict[str, Any]:
    try:
        content = toml_table(text)
    except UnfitError as error:
        raise BaselineError(f"{path} {error}.") from None
    strange = sorted(set(content) - {TABLE, FLOOR_TABLE, QUIRKS})
    if strange:
        raise BaselineError(f"{path} has {strange[0]!r} beside [[{TABLE}]]{did_you_mean(strange[0], [TABLE]) or '.'}")
    return content


def _entry(table: Mapping[str, Any], where: str) -> Known:
    for name in table:
        if name not in _MEMBERS:
            raise BaselineError(f"{where} has an unknown member {name!r}{did_you_mean(name, _MEMBERS) or '.'}")
    texts: dict[str, str] = {}
    for name in ("requirement", "reason", "link"):
        value = table.get(name)
        if not isinstance(value, str) or not value.strip():
            raise BaselineError(f"{where} has no {name}; give a text.")
        texts[name] = value
    known = catalogue().requirements
    written = texts["requirement"]
    name = current(written)
    if name not in known:
        raise BaselineError(f"{where}: there is no requirement {name!r}{did_you_mean(name, known) or '.'}")
    subject = table.get("subject")
    if subject is not None and not isinstance(subject, str):
        raise BaselineError(f"{where}: the subject must be a text.")
    if subject is not None and subject.startswith("packet ") and packet_number(as_recorded := f"{FRAME}{subject[6:]}"):
        subject = as_recorded
    expires = table.get("expires")
    if type(expires) is not date:
        raise BaselineError(f"{where}: expires must be a day, such as 2027-01-31, without quotes.")
    return Known(name, texts["reason"], texts["link"], expires, subject, written if written != name else None)


@dataclass(frozen=True, slots=True)
class Update:
    """The result of an update. text: the new file. diff: the lines that change, as `diff -u` writes them."""

    text: str
    diff: str
    added: tuple[Known, ...]
    removed: tuple[Known, ...]
    renewed: tuple[Known, ...]


def update(
    path: Path,
    now: RunSummary,
    *,
    today: date,
    reason: str,
    link: str,
    expires: date | None = None,
    renew: bool = False,
    quirks: Sequence[Mapping[str, Json]] | None = None,
) -> Update:
    """Update the baseline at `path` to match a run, without writing it; an absent file counts as empty.

    Entries that no longer fail are removed. Deviations that no entry covers are added with `reason` and `link`, until
    `expires` (default: LASTS from today). Entries that the run did not judge stay. renew: entries that are over and
    still fail are extended to `expires`. An older id is replaced by today's. The number of requirements judged is
    stored as the floor, unless the stored number is within the tolerance. The rest of the file stays as it is, comments
    included. quirks: tables that replace those of the file; None leaves them. Raises BaselineError.
    """
    import tomlkit
    from tomlkit.items import AoT

    old = _text(path) if path.exists() else ""
    entries = parse(old, str(path))
    until = expires or today + LASTS
    removed = [entry for entry in entries if entry.requirement in now.judged and not failing(entry, now)]
    overdue = [entry for entry in entries if entry not in removed and entry.expires < today and failing(entry, now)]
    renewed = overdue if renew else []
    fresh = unknown(entries, now)
    added = [Known(requirement, reason, link, until) for requirement in sorted(fresh)]
    if added and not (reason.strip() and link.strip()):
        raise BaselineError(
            f"{len(added)} deviations are new ({added[0].requirement} first): give --reason and --link for them."
        )
    document = tomlkit.parse(old or HEAD)
    tables = document.get(TABLE)
    if tables is None:
        tables = AoT([])
        document[TABLE] = tables
    for number in range(len(entries) - 1, -1, -1):
        if entries[number] in removed:
            del tables[number]
            continue
        if entries[number] in renewed:
            tables[number]["expires"] = until
        if entries[number].written is not None:
            tables[number]["requirement"] = entries[number].requirement
    for entry in added:
        table = tomlkit.table()
        table.update({"requirement": entry.requirement, "reason": entry.reason, "link": entry.link})
        table["expires"] = entry.expires
        tables.append(table)
    if not tables:
        del document[TABLE]
    if floor_outdated(recorded(tomllib.loads(old)), len(now.judged)):
        document[FLOOR_TABLE] = {JUDGED: len(now.judged)}
    if quirks is not None and list(quirks) != tomllib.loads(old).get(QUIRKS, []):
        document.pop(QUIRKS, None)
        if quirks:
            document[QUIRKS] = AoT([tomlkit.item(dict(quirk)) for quirk in quirks])
    text = tomlkit.dumps(document)
    lines = unified_diff(old.splitlines(), text.splitlines(), str(path), f"{path} (updated)", lineterm="")
    return Update(text, "\n".join(lines), tuple(added), tuple(removed), tuple(renewed))


def failing(entry: Known, now: RunSummary) -> bool:
    """Tell whether the deviation that this entry excuses still occurs."""
    return any(entry.covers(entry.requirement, subject) for subject in now.deviating.get(entry.requirement, {}))


def unknown(entries: Iterable[Known], now: RunSummary) -> dict[str, Sequence[str]]:
    """Return the deviations that no entry covers: requirement to its subjects."""
    known = list(entries)
    out: dict[str, Sequence[str]] = {}
    for requirement, subjects in now.deviating.items():
        left = [subject for subject in subjects if not any(entry.covers(requirement, subject) for entry in known)]
        if left:
            out[requirement] = left
    return out


def _text(path: Path) -> str:
    try:
        return text_of(path, MAX_FILE)
    except OSError as error:
        raise BaselineError(f"{path} cannot be read ({error.strerror}).") from None
    except UnfitError as error:
        raise BaselineError(f"{path} is no baseline: it {error}.") from None
