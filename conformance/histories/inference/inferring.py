"""Conclude from all observations of one implementation which readings it follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from conformance.histories.inference.probing import Evidence, Worlds, contradicted, every_alternative, model_readings
from conformance.spec.catalogue import Reading, catalogue
from conformance.verdict import Json, Verdict

MAX_KEPT = 100  # histories kept; the traces are taken first and are a third of them
MAX_BEHAVIOURS = 200  # broken requirements kept; an implementation with more should pass `run` first


class Status(Enum):
    """Status of a conclusion on a reading, the most significant first."""

    FITS_NONE = "fits none"
    BOTH_WAYS = "both ways"
    FOLLOWED = "followed"
    NARROWED = "narrowed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Proof:
    """Proof against an alternative. story: calls and answers, up to the answer that the alternative cannot explain.

    where: `trace`, `walk`, or the test that observed it. alone: the story suffices; otherwise the proof also needs what
    other stories show about other readings.
    """

    story: tuple[str, ...]
    where: str
    alone: bool = True

    def to_json(self) -> dict[str, Json]:
        """The proof as `--json` prints it."""
        return {"story": list(self.story), "where": self.where, "alone": self.alone}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """An answer that no combination of readings allows, with the shortest story that led to it."""

    verdict: Verdict
    story: tuple[str, ...]
    where: str

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings that affect the broken requirement."""
        touched = catalogue().readings.values()
        return tuple(reading.id for reading in touched if self.verdict.requirement in reading.requirements)

    def to_json(self) -> dict[str, Json]:
        """The behaviour as `--json` prints it."""
        return {
            "requirement": self.verdict.requirement,
            "expected": self.verdict.expected,
            "actual": self.verdict.actual,
            "readings": list(self.readings),
            "story": list(self.story),
            "where": self.where,
        }


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Conclusion on one reading. left: the alternatives that explain everything. why: the reason, in one line."""

    reading: str
    status: Status
    left: tuple[str, ...]
    why: str
    proofs: Mapping[str, Proof] = field(default_factory=dict)
    behaviours: tuple[Behaviour, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The conclusion as `--json` prints it."""
        return {
            "reading": self.reading,
            "status": self.status.value,
            "alternatives": list(catalogue().readings[self.reading].alternatives),
            "left": list(self.left),
            "why": self.why,
            "ruled_out": {name: proof.to_json() for name, proof in self.proofs.items()},
            "behaviours": [behaviour.to_json() for behaviour in self.behaviours],
        }


@dataclass(slots=True)
class Inference:
    """Collector of evidence about one implementation.

    held: the requirements shown to hold. crashes: each crash of the driver and how often it came. traced: the readings
    for which a trace was run. split: the readings of which some check knows more than one alternative.
    """

    every: Mapping[str, tuple[str, ...]] = field(default_factory=every_alternative)
    worlds: Worlds = field(default_factory=Worlds)
    proofs: dict[tuple[str, str], Proof] = field(default_factory=dict)
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    both_ways: dict[str, tuple[Proof, ...]] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    crashes: dict[str, int] = field(default_factory=dict)
    histories: int = 0
    calls: int = 0
    traced: set[str] = field(default_factory=set)
    split: set[str] = field(default_factory=lambda: set(model_readings()))
    _followed_by_states: set[str] = field(default_factory=set)
    _kept: list[Evidence] = field(default_factory=list)

    def left(self, reading: str) -> tuple[str, ...]:
        """Return the alternatives of a reading that explain everything so far."""
        return self.worlds.possible(reading, self.every[reading])

    def open(self, reading: str) -> bool:
        """Tell whether more than one alternative is left."""
        return len(self.left(reading)) > 1 and reading not in self.both_ways

    def take(self, evidence: Evidence) -> None:
        """Add the evidence of one history."""
        self.histories += 1
        self.calls += len(evidence.seen)
        self.held |= evidence.held
        if evidence.failure is not None:
            self.behave(Behaviour(evidence.failure, evidence.story, evidence.kind))
        self._followed_by_states |= set(evidence.worlds.named())
        before = {reading: self.left(reading) for reading in model_readings()}
        met = self.worlds.meet(evidence.worlds)
        if met.empty:
            self._conflict(evidence)
            return
        self.worlds = met
        if len(self._kept) < MAX_KEPT:
            self._kept.append(evidence)
        self._by_going_through_again(evidence)
        for reading, alternatives in before.items():
            for gone in set(alternatives) - set(self.left(reading)):
                self.proofs.setdefault((reading, gone), self._proof(evidence, reading, gone, before))

    def _by_going_through_again(self, evidence: Evidence) -> None:
        """Try each alternative of the readings that the model's states do not track."""
        for reading in model_readings():
            if reading not in evidence.asked or reading in self._followed_by_states or not self.open(reading):
                continue
            for alternative in self.left(reading):
                if contradicted(evidence.seen, self._allowed(), reading, alternative) is None:
                    continue
                less = self.worlds.without(reading, alternative, self.every[reading])
                if not less.empty:
                    self.worlds = less

    def settle(self) -> None:
        """Judge the kept histories again with the present knowledge, until that rules out nothing more.

        The model merges equal states, which loses links between readings. Alternatives ruled out by other histories in
        the meantime compensate for it.
        """
        progress = True
        while progress:
            progress = False
            for reading in filter(self.open, model_readings()):
                for alternative in self.left(reading):
                    found = self._contradiction(reading, alternative)
                    less = self.worlds.without(reading, alternative, self.every[reading])
                    if found is not None and not less.empty:
                        before = {name: self.left(name) for name in model_readings()}
                        self.worlds, progress = less, True
                        self.proofs.setdefault((reading, alternative), self._proof(found, reading, alternative, before))

    def _contradiction(self, reading: str, alternative: str) -> Evidence | None:
        allowed = self._allowed()
        for one in self._kept:
            if reading in one.asked and contradicted(one.seen, allowed, reading, alternative) is not None:
                return one
        return None

    def _allowed(self) -> dict[str, tuple[str, ...]]:
        return {reading: self.left(reading) for reading in self.every}

    def _proof(self, evidence: Evidence, reading: str, gone: str, before: Mapping[str, tuple[str, ...]]) -> Proof:
        at = contradicted(evidence.seen, self.every, reading, gone)
        alone = at is not None
        if at is None:
            at = contradicted(evidence.seen, {**self.every, **before}, reading, gone)
        return Proof(evidence.story[: at or len(evidence.seen)], evidence.kind, alone)

    def _conflict(self, evidence: Evidence) -> None:
        """Note readings followed both ways: no combination explains this history and the earlier ones."""
        disjoint = [
            reading
            for reading in evidence.worlds.named()
            if not set(evidence.worlds.possible(reading, self.every[reading])) & set(self.left(reading))
        ]
        # If no single reading is contradictory, the contradiction lies in their combination.
        for reading in disjoint or sorted(set(evidence.worlds.named()) & set(self.worlds.named())):
            earlier = [proof for (name, _), proof in self.proofs.items() if name == reading]
            told = Proof(evidence.story[: len(evidence.seen)], evidence.kind, bool(disjoint))
            self.both_ways.setdefault(reading, (*earlier[:1], told))

    def behave(self, found: Behaviour) -> None:
        """Note a behaviour that nothing explains; keep the one with the shortest story for each requirement."""
        known = self.behaviours.get(found.verdict.requirement)
        if known is None and len(self.behaviours) >= MAX_BEHAVIOURS:
            return
        if known is None or len(found.story) < len(known.story):
            self.behaviours[found.verdict.requirement] = found

    def rule_out(self, reading: str, gone: Iterable[str], proof: Proof) -> None:
        """Rule out alternatives that do not explain a test's observations. If none is left, note both ways."""
        for alternative in gone:
            if alternative not in self.left(reading):
                continue
            less = self.worlds.without(reading, alternative, self.every[reading])
            if less.empty:
                earlier = [known for (name, _), known in self.proofs.items() if name == reading]
                self.both_ways.setdefault(reading, (*earlier[:1], proof))
                return
            self.worlds = less
            self.proofs.setdefault((reading, alternative), proof)

    def conclusions(self) -> list[Conclusion]:
        """Return the conclusion on every reading, in the order of the register."""
        return [self._conclude(reading) for reading in catalogue().readings.values()]

    def _conclude(self, reading: Reading) -> Conclusion:
        left = self.left(reading.id)
        proofs = {name: proof for (of, name), proof in self.proofs.items() if of == reading.id}
        behaviours = tuple(found for found in self.behaviours.values() if reading.id in found.readings)
        if reading.id in self.both_ways:
            stories = {f"story {number}": proof for number, proof in enumerate(self.both_ways[reading.id], start=1)}
            why = "no single alternative explains all that was seen"
            return Conclusion(reading.id, Status.BOTH_WAYS, (), why, stories, behaviours)
        if behaviours and (len(left) > 1 or len(self.every[reading.id]) == 1):
            named = ", ".join(found.verdict.requirement for found in behaviours)
            if len(left) > 1 and reading.id not in self.split:
                why = f"the answer that broke {named} may follow another alternative: the checks know only the default"
                return Conclusion(reading.id, Status.UNDECIDED, left, why, proofs, behaviours)
            return Conclusion(
                reading.id, Status.FITS_NONE, left, f"no alternative allows what broke {named}", proofs, behaviours
            )
        if len(self.every[reading.id]) == 1:
            return self._only(reading, left)
        if len(left) == 1:
            others = ", ".join(proofs)
            return Conclusion(reading.id, Status.FOLLOWED, left, f"ruled out: {others}", proofs, behaviours)
        if len(left) < len(self.every[reading.id]):
            why = f"ruled out: {', '.join(proofs)}; the others explain the same answers"
            return Conclusion(reading.id, Status.NARROWED, left, why, proofs, behaviours)
        return Conclusion(reading.id, Status.UNDECIDED, left, self._why_open(reading))

    def _only(self, reading: Reading, left: tuple[str, ...]) -> Conclusion:
        if self.held.intersection(reading.requirements):
            return Conclusion(reading.id, Status.FOLLOWED, left, "the only alternative; a requirement it affects held")
        return Conclusion(reading.id, Status.UNDECIDED, left, "the only alternative; it was never tested")

    def _why_open(self, reading: Reading) -> str:
        if not reading.visible:
            return "the alternatives cannot be told apart from outside"
        if reading.id in self.traced:
            return "tested, and every alternative explains the answers"
        if reading.id in self._followed_by_states or self.held.intersection(reading.requirements):
            return "requirements it affects were tested; no check tells the alternatives apart"
        return _never_tested(reading)


def _never_tested(reading: Reading) -> str:
    if reading.id.startswith("R-MQQB-"):
        return "never tested: only captures show sessions (mqconform replay)"
    if reading.id.startswith("R-MQAC-"):
        return "never tested: it needs the objects of MC-MQAC"
    return "never tested: no check of what this driver offers depends on it"


def counts(conclusions: Sequence[Conclusion]) -> dict[str, int]:
    """Return the number of readings by status."""
    return {status.value: sum(found.status is status for found in conclusions) for status in Status}
