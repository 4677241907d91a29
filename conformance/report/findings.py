"""The verdicts worse than pass, by requirement, with their stories, quirks and the faults that explain them."""

from __future__ import annotations

import json
import shlex
from bisect import insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, overload

from conformance.files import json_value, text_of, write_text
from conformance.grammar.spellings import spelling
from conformance.harness.known_deviations import QUIRK
from conformance.harness.repro_files import without_secrets
from conformance.report.places import PacketPlace, evidence_of, place_of
from conformance.report.table import PROBLEMS, RequirementRow, Table, roll_up
from conformance.report.text import label, value_text
from conformance.runlog import RecordedVerdict, Run, Story
from conformance.runlog.counts import counted
from conformance.runlog.events import StoryStep
from conformance.spec.catalogue import Requirement, catalogue
from conformance.spec.constants.codes import named
from conformance.spec.followed_readings import FollowedReadings, either, possible
from conformance.verdict import Evidence, Json, Outcome


@dataclass(slots=True)
class Told:
    """One quirk. requirement: blamed for it. faults: its body, empty for a deviation like no known fault.

    filed: failures of other requirements that are its consequences. behind: histories judged to their end with it.
    met: histories that ended with it, for one without a body. says: what each fault does, in one sentence.
    """

    requirement: str
    faults: tuple[str, ...]
    filed: Counter[str] = field(default_factory=Counter)
    behind: int = 0
    met: int = 0
    says: tuple[str, ...] = ()

    @property
    def cause_line(self) -> str:
        """The cause and its effect, in one line that stands under the requirement; for no known fault, how often."""
        if not self.faults:
            return f"{in_histories(self.met)} with it"
        does = " ".join(label(each) for each in self.says) or f"{self.behind} more histories fit"
        return f"likely cause: what {self._names} does: {does}"

    @property
    def _names(self) -> str:
        return " with ".join(f"`{label(name)}`" for name in self.faults)

    @property
    def sentence(self) -> str:
        """The quirk in one line."""
        if not self.faults:
            return f"{label(self.requirement)} is like no known fault; {in_histories(self.met)} with it"
        others = ", ".join(map(label, sorted(self.filed)))
        follows = f"; its consequences: {others}" if others else ""
        judged = f"{self.behind} {'history' if self.behind == 1 else 'histories'} judged behind it"
        return f"{label(self.requirement)} is what {self._names} does; {judged}{follows}"

    def to_json(self) -> dict[str, Json]:
        """Return the quirk as JSON."""
        consequences: dict[str, Json] = {name: self.filed[name] for name in sorted(self.filed)}
        return {
            "requirement": self.requirement,
            "faults": list(self.faults),
            "consequences": consequences,
            "behind": self.behind,
            "met": self.met,
            "says": list(self.says),
        }


def in_histories(number: int) -> str:
    """Return "1 history ends" or "5 histories end"; without a number where none is known."""
    return {0: "histories end", 1: "1 history ends"}.get(number, f"{number} histories end")


def quirks(run: Run) -> list[Told]:
    """Return the quirks of a run, in the order of its record; what is damaged is left out."""
    found: dict[tuple[str, ...], Told] = {}
    for evidence in run.evidence_of(QUIRK):
        for told in _told(evidence.data):
            one = found.setdefault(
                told.faults or (told.requirement,), Told(told.requirement, told.faults, says=told.says)
            )
            one.filed.update({name: times for name, times in told.filed.items() if name != one.requirement})
            one.behind += told.behind
            one.met += told.met
    return list(found.values())


def _told(data: object) -> Iterator[Told]:
    if not isinstance(data, dict):
        return
    requirement, faults = data.get("requirement"), data.get("faults")
    filed, behind = data.get("filed"), data.get("behind")
    if isinstance(requirement, str) and isinstance(faults, list) and isinstance(filed, dict) and type(behind) is int:
        counts = Counter({str(name): times for name, times in filed.items() if type(times) is int})
        met, says = data.get("met", 0), data.get("says")  # records of earlier versions have none
        sentences = tuple(map(str, says)) if isinstance(says, list) else ()
        yield Told(requirement, tuple(map(str, faults)), counts, behind, met if type(met) is int else 0, sentences)


FILE: Final = "diagnosis.json"
FORMAT: Final = 1
MAX_FILE: Final = 4 << 20
HINT: Final = "A hint, not a verdict: the embedded queue manager answers the same with this fault switched on."


class NotDiagnosed(ValueError):
    """There is no usable diagnosis; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class CommonCause:
    """A fault and what it explains.

    names: the fault, and others that explain the same; further: how many more do. story: what the first does, in one
    sentence. requirements: the deviations all of whose histories it explains. histories: how many agree with it.
    contradicted: passed histories that do not.
    """

    names: tuple[str, ...]
    story: str
    requirements: tuple[str, ...]
    histories: int
    contradicted: int = 0
    further: int = 0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The causes of a run's deviations, the one that explains most first.

    run_id: of the record. deviations: requirements with a stored failed history. histories: failed histories played;
    passed: passed ones that agreed without any fault. same: failed histories that the embedded manager answers so
    without a fault. left: failed histories that no cause explains. late: there was no time to try everything. version:
    of the program.
    """

    run_id: str
    version: str
    deviations: tuple[str, ...]
    histories: int
    passed: int
    causes: tuple[CommonCause, ...]
    same: int = 0
    left: int = 0
    late: bool = False
    seconds: float = 0.0

    def to_json(self) -> dict[str, Json]:
        """Return the diagnosis as JSON, with its sentences."""
        return {"format": FORMAT, "sentences": list(self.sentences()), **asdict(self)}

    def sentences(self) -> Iterator[str]:
        """Yield what is to be told, the most important first."""
        yield from (self._cause(number, cause) for number, cause in enumerate(self.causes))
        if not self.causes:
            yield f"No known fault resembles what deviates ({_counted(self.histories, 'failed history')} played)."
        elif self.left:
            yield f"{_counted(self.left, 'failed history')} of {self.histories} {_be(self.left)} like no known fault."
        if self.same:
            yield (
                f"{_counted(self.same, 'failed history')} of {self.histories}: the embedded queue manager answers the "
                "same without any fault."
            )
        if self.late:
            yield "The time was over before every fault was tried."

    def _cause(self, number: int, cause: CommonCause) -> str:
        names = " or ".join(f"`{name}`" for name in cause.names)
        more = f" (or {cause.further} more)" if cause.further else ""
        of, every = len(cause.requirements), len(self.deviations)
        agree = f"{cause.histories} of {_counted(self.histories, 'history agrees')}"
        if cause.contradicted:
            contradicts = f"{_counted(cause.contradicted, 'passed history')} of {self.passed}"
            agree += f", {contradicts} {_do(cause.contradicted)} not"
        if not number and of == every:
            every_one = {1: "The deviation is", 2: "Both deviations are"}.get(every, f"All {every} deviations are")
            return f"{every_one} what {names}{more} does: {agree}."
        if of:
            subject = f"{of} {'further ' if number else ''}of {every} deviations {_be(of)}"
            return f"{subject} what {names}{more} does: {agree}."
        return f"A part of what deviates is what {names}{more} does: {agree}."


def keep(found: Diagnosis, folder: Path) -> Path:
    """Write a diagnosis beside its record; return the file. Raises OSError."""
    path = folder / FILE
    write_text(path, json.dumps(found.to_json(), indent=1) + "\n")
    return path


def diagnosis_of(run: Run) -> Diagnosis | None:
    """Return the diagnosis kept beside a record; None if there is none, or none of this run that can be read."""
    for part in run.parts[:1]:
        path = part.parent / FILE
        try:
            found = _understood(json_value(text_of(path, MAX_FILE)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return found if found.run_id == run.header.run_id else None
    return None


def cause_sentences(found: Diagnosis) -> tuple[str, ...]:
    """Return the sentences, printable, with the hint that they are one."""
    return (*(label(sentence, 600) for sentence in found.sentences()), *((HINT,) if found.causes else ()))


def _understood(value: Mapping[str, Any]) -> Diagnosis:
    if value["format"] != FORMAT:
        raise ValueError("of another version")
    causes = tuple(
        CommonCause(
            tuple(map(str, one["names"])),
            str(one["story"]),
            tuple(map(str, one["requirements"])),
            int(one["histories"]),
            int(one["contradicted"]),
            int(one["further"]),
        )
        for one in value["causes"]
    )
    numbers = {name: int(value[name]) for name in ("histories", "passed", "same", "left")}
    return Diagnosis(
        str(value["run_id"]),
        str(value["version"]),
        tuple(map(str, value["deviations"])),
        causes=causes,
        late=bool(value["late"]),
        seconds=float(value["seconds"]),
        **numbers,
    )


def _counted(number: int, what: str) -> str:
    plural = what.replace("history", "histories").replace("agrees", "agree")
    return f"{number} {what if number == 1 else plural}"


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


def _do(number: int) -> str:
    return "does" if number == 1 else "do"


MAX_SHOWN = 5
"""Verdicts shown of one requirement: a sixth of the same kind adds nothing, and the record has them all."""
MAX_STEPS = 400
"""Steps shown of one story."""
MAX_CUTS = 5
"""Truncated members of a finding that are listed."""
_NO_STORY = 1 << 62
BOTH_WAYS = ("both ways", "no single alternative explains the run")
NOTABLE = frozenset({Outcome.READING, Outcome.WARN})
"""Outcomes that are reported although they are no failure."""


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """One verdict with its story, evidence and repro command.

    evidence: in full if the record has it. place: of the packet that it is about, if it is about one of a capture.
    """

    recorded: RecordedVerdict
    story: Story | None
    evidence: Evidence | None
    repro_command: str | None
    place: PacketPlace | None = None

    @property
    def subject(self) -> str:
        """The subject, printable: of a capture the packet, with the number of Wireshark's frame."""
        return label(self.recorded.verdict.subject) if self.place is None else self.place.words

    @property
    def subject_line(self) -> str:
        """The subject with stream, time and ends of its packet, where they are known."""
        return self.subject if self.place is None else self.place.line

    @property
    def expected(self) -> str | None:
        """The value that the requirement demands, as text."""
        return _shown(self.recorded.verdict.expected)

    @property
    def actual(self) -> str | None:
        """The value that was observed, as text."""
        return _shown(self.recorded.verdict.actual)

    @property
    def hint(self) -> str | None:
        """Tells what the value is, where it is the expected name as other products write it."""
        expected, actual = self.recorded.verdict.expected, self.recorded.verdict.actual
        both = isinstance(expected, str) and isinstance(actual, str) and self.recorded.verdict.outcome is Outcome.FAIL
        like = spelling(str(actual), "format_name", lambda text: text == expected and "\\" in text) if both else None
        return None if like is None or like.write is None else label(like.sentence)

    @property
    def cuts(self) -> tuple[str, ...]:
        """The first few members that were too long to record: `actual (2,000,000 bytes in all, sha256 ...)`."""
        story = self.story.cut if self.story is not None else ()
        return tuple(str(cut).removeprefix("/") for cut in (*self.recorded.cut, *story)[:MAX_CUTS])

    @property
    def readings(self) -> list[tuple[str, str, str]]:
        """The assumed readings, each as (reading, alternative, its meaning)."""
        return [reading_texts(name, chosen) for name, chosen in self.recorded.verdict.readings]


def reading_texts(reading: str, named: str) -> tuple[str, str, str]:
    """Return (reading, alternative, its meaning); several alternatives that a verdict names are joined by "or"."""
    known = catalogue().readings.get(reading)
    names = [name for name in (known.alternatives if known else ()) if name in possible(named)]
    meanings = [known.alternatives[name] for name in names] if known else []
    return reading, " or ".join(names) or named, "; or ".join(meanings)


def followed(run: Run) -> list[tuple[str, str, str]]:
    """Return (reading, alternative, its meaning) for each reading that verdicts of this run assumed.

    If no alternative explains everything, the alternative is `both ways`; for captures, whose senders may differ, it is
    `either way`.
    """
    neither = ("either way", "not all senders follow the same") if run.header.captures else BOTH_WAYS
    whole = FollowedReadings()
    for said in run.said:
        if not said.provisional:
            first = run.first(said)
            whole.add(first.verdict, first.test)
    return [
        reading_texts(reading, either(left)) if left else (reading, *neither)
        for reading, left in whole.followed().items()
    ]


class Shown(Sequence[ReportedFinding]):
    """Findings of a run, each read on access: a record may hold more than fits into memory."""

    def __init__(self, run: Run, numbers: Sequence[int]) -> None:
        """numbers: the numbers of their verdicts."""
        self._run = run
        self._numbers = tuple(numbers)

    @overload
    def __getitem__(self, index: int) -> ReportedFinding: ...
    @overload
    def __getitem__(self, index: slice) -> Shown: ...
    def __getitem__(self, index: int | slice) -> ReportedFinding | Shown:
        if isinstance(index, slice):
            return Shown(self._run, self._numbers[index])
        return _finding(self._run, self._numbers[index])

    def __len__(self) -> int:
        return len(self._numbers)


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one requirement with one outcome. more: how many are not shown. seen: verdicts, repeats too.

    steps: of its shortest story; more than any story has if it has none.
    """

    row: RequirementRow
    outcome: Outcome
    shown: Shown
    more: int
    seen: int
    steps: int


@dataclass(slots=True)
class _Members:
    """The verdicts of one group. best: (steps of the story, number) of those that are shown, in order."""

    lines: int = 0
    seen: int = 0
    best: list[tuple[int, int]] = field(default_factory=list)

    def add(self, steps: int | None, number: int, seen: int) -> None:
        self.lines += 1
        self.seen += seen
        one = (_NO_STORY if steps is None else steps, number)
        if len(self.best) < MAX_SHOWN or one < self.best[-1]:
            insort(self.best, one)
            del self.best[MAX_SHOWN:]


def groups(run: Run, table: Table) -> tuple[list[Group], list[Group]]:
    """Return (failures and errors, warnings and readings), each worst first and then in the order of the documents.

    A reading counts as a failure if the run uses the strict readings.
    """
    rows = {row.id: row for row in table.rows}
    order = {row.id: at for at, row in enumerate(table.rows)}
    problems = PROBLEMS | ({Outcome.READING} if run.header.reading_set == "strict" else frozenset())
    found: dict[tuple[Outcome, str], _Members] = {}
    for number, said in run.numbered():
        if said.outcome in PROBLEMS or said.outcome in NOTABLE:
            # Findings with a story first, and of these the shortest, because it explains best.
            members = found.setdefault((said.outcome, said.requirement), _Members())
            members.add(run.stories.length(number), number, run.verdicts.count(number))
    result: tuple[list[Group], list[Group]] = ([], [])
    for outcome, name in sorted(found, key=lambda key: (key[0].rank, order[key[1]])):
        members = found[outcome, name]
        result[outcome not in problems].append(
            Group(
                row=rows[name],
                outcome=outcome,
                shown=Shown(run, [number for _, number in members.best]),
                more=members.lines - len(members.best),
                seen=members.seen,
                steps=members.best[0][0],
            )
        )
    return result


def story_lines(finding: ReportedFinding) -> Iterator[str]:
    """Yield the finding as plain lines without line feeds: numbered steps, expected, actual, readings, repro."""
    verdict = finding.recorded.verdict
    place = finding.place
    yield f"subject: {finding.subject}" + ("" if place is None else f" of {label(place.capture)}")
    if place is not None and place.details:
        yield f"place: {place.details}"
    if finding.story is not None:
        for number, step in enumerate(finding.story.steps[:MAX_STEPS], 1):
            yield f"{number:>4}. {label(named(step.text))}"
        if len(finding.story.steps) > MAX_STEPS:
            yield f"      ({counted(len(finding.story.steps) - MAX_STEPS, 'step')} more)"
    for name, value in (("expected", finding.expected), ("actual", finding.actual)):
        if value is not None:
            first, *rest = value.splitlines() or [""]
            yield f"{name + ':':<9} {first}"
            yield from (" " * 10 + line for line in rest)
    if finding.hint:
        yield f"hint: {finding.hint}"
    if verdict.reason:
        yield f"reason: {label(named(verdict.reason))}"
    for reading, chosen, meaning in finding.readings:
        yield label(f"reading: {reading} = {chosen}{' (' + meaning + ')' if meaning else ''}")
    for cut in finding.cuts:
        yield label(f"cut when it was recorded: {cut}")
    if finding.repro_command:
        yield f"repro: {finding.repro_command}"


def heading(row: RequirementRow) -> str:
    """Return `MS-MQDMPR 3.2.7.3, must: ` and the requirement's text, as far as the catalogue has it."""
    where = f"{row.document} {row.section}".strip()
    return statement(row.demand) if row.demand else f"{label(where)}: not in this catalogue"


def statement(demand: Requirement) -> str:
    """Return `MS-MQDMPR 3.2.7.3, must: ` and the requirement's text."""
    return f"{demand.document} {demand.section}, {demand.level}: {demand.says}"


def _finding(run: Run, number: int) -> ReportedFinding:
    recorded = run.verdicts.at(number)
    told = run.stories.number(number)
    story = None if told is None else run.stories.at(told)
    evidence = evidence_of(run, recorded)
    return ReportedFinding(recorded, story, evidence, _command(run, story), place_of(run, recorded, evidence))


def _command(run: Run, story: Story | None) -> str | None:
    return None if story is None or story.repro is None else repro_command(story.repro, run.header.connector)


def repro_command(repro: str, connector: str | None) -> str:
    """Return the command that runs a repro file again, against the implementation it came from."""
    adapter = f" --adapter {shlex.quote(label(without_secrets(connector)))}" if connector else ""
    return f"mqconform repro {shlex.quote(label(repro))}{adapter}"


def _shown(value: Json) -> str | None:
    return None if value is None else value_text(value)


MOST = 500
"""Failures in the result: each may have a story of some hundred steps."""


def deviations(run: Run) -> dict[str, Json]:
    """Return `deviations`, an object for each failing verdict, worst first, and `deviations_left_out`, how many are
    left out.

    For each requirement the first few are included, those with the shortest story, and MOST in all; the record has all.
    """
    failures, _ = groups(run, roll_up(run))
    found = (finding for group in failures for finding in group.shown)
    told = [_finding_json(run, finding) for finding in islice(found, MOST)]
    every = sum(len(group.shown) + group.more for group in failures)
    return {"deviations": told, "deviations_left_out": every - len(told)}


def _finding_json(run: Run, finding: ReportedFinding) -> dict[str, Any]:
    """Return a failing verdict as an object; all keys are always present.

    story: the calls in order, as text, with call and answer if they are stored. expected, actual: JSON values. repro:
    the path of the repro file. took_ms: duration of the test. repro, repro_command and took_ms are null if unknown.
    place: where in a capture the packet is, null if it is about none.
    """
    recorded, story = finding.recorded, finding.story
    verdict = recorded.verdict
    steps = story.steps if story is not None else ()
    return {
        "requirement": verdict.requirement,
        "outcome": verdict.outcome.value,
        "subject": verdict.subject,
        "place": None if finding.place is None else finding.place.to_json(),
        "suite": recorded.suite,
        "test": recorded.test,
        "seen": recorded.count,
        "reason": verdict.reason,
        "expected": verdict.expected,
        "actual": verdict.actual,
        "readings": dict(verdict.readings),
        "story": [_step(step) for step in steps[:MAX_STEPS]],
        "repro": _repro(run, story.repro if story is not None else None),
        "repro_command": finding.repro_command,
        "took_ms": run.took.get(recorded.test),
    }


def _step(step: StoryStep) -> dict[str, Any]:
    return {name: member for name, member in step.to_json().items() if name != "parts"}


def _repro(run: Run, written: str | None) -> str | None:
    """Return the present path of the repro file, which lies beside its record also after the record was moved."""
    if written is None:
        return None
    for part in run.parts[:1]:
        beside = part.parent / "repros" / Path(written).name
        if beside.exists():
            return str(beside)
    return written
