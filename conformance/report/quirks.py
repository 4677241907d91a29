"""The quirks that a run went on behind, of all its workers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.harness.past import QUIRK
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
