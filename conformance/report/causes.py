"""Causes in reports: the quirks that a run went on behind, and the faults that `mqconform diagnose` found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from conformance.files import json_value, text_of, write_text
from conformance.harness.known_deviations import QUIRK
from conformance.report.text import label
from conformance.runlog import Run
from conformance.verdict import Json


@dataclass(slots=True)
class Told:
    """One quirk. requirement: blamed for it. faults: its body, empty for a deviation like no known fault.

    filed: failures of other requirements that are its consequences. behind: histories judged to their end with it.
    met: histories that ended with it, for one without a body.
    """

    requirement: str
    faults: tuple[str, ...]
    filed: Counter[str] = field(default_factory=Counter)
    behind: int = 0
    met: int = 0

    @property
    def sentence(self) -> str:
        """The quirk in one line."""
        if not self.faults:
            return f"{label(self.requirement)} is like no known fault; {in_histories(self.met)} with it"
        others = ", ".join(map(label, sorted(self.filed)))
        follows = f"; its consequences: {others}" if others else ""
        names = " with ".join(f"`{label(name)}`" for name in self.faults)
        judged = f"{self.behind} {'history' if self.behind == 1 else 'histories'} judged behind it"
        return f"{label(self.requirement)} is what {names} does; {judged}{follows}"

    def to_json(self) -> dict[str, Json]:
        """Return the quirk as JSON."""
        consequences: dict[str, Json] = {name: self.filed[name] for name in sorted(self.filed)}
        return {
            "requirement": self.requirement,
            "faults": list(self.faults),
            "consequences": consequences,
            "behind": self.behind,
            "met": self.met,
        }


def in_histories(number: int) -> str:
    """Return "1 history ends" or "5 histories end"; without a number where none is known."""
    return {0: "histories end", 1: "1 history ends"}.get(number, f"{number} histories end")


def quirks(run: Run) -> list[Told]:
    """Return the quirks of a run, in the order of its record; what is damaged is left out."""
    found: dict[tuple[str, ...], Told] = {}
    for evidence in run.evidence_of(QUIRK):
        for told in _told(evidence.data):
            one = found.setdefault(told.faults or (told.requirement,), Told(told.requirement, told.faults))
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
        met = data.get("met", 0)  # records of earlier versions have none
        yield Told(requirement, tuple(map(str, faults)), counts, behind, met if type(met) is int else 0)


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
