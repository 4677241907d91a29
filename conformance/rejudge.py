"""`mqconform judge` as a function: judge what a run record stores again, by today's rules and other readings.

Nothing is asked of the implementation. An example of a run is gone through with the answers given then; a capture
is read again where the file is still the one that was judged, and else those of its packets that the record has.
"""

from __future__ import annotations

import base64
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.asking import BadInput, RunResult, check_chosen, check_words, prepare_folder
from conformance.judge.packets import judge_packet
from conformance.replay import replay
from conformance.replay.fingerprints import fingerprint
from conformance.replay.recorded import CAPTURE
from conformance.replay.selection import SelectionError, parse
from conformance.runlog import Header, RecordedVerdict, Run, RunRecordError, RunWriter, Story, Tally, read_run
from conformance.spec.catalogue import CatalogueError, assignment, catalogue
from conformance.spec.versions import DEFAULT_PROFILE, LEVELS
from conformance.suites.concluding import CONCLUSION, conclusion
from conformance.suites.judging import RunOptions
from conformance.suites.rejudging import NotRepeatable
from conformance.suites.session import EXAMPLE
from conformance.suites.taping import Key, key, said
from conformance.verdict import ExitCode, Outcome, Verdict, exit_code, worst

FACTS = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.SKIP})
"""Outcomes that say what happened: there is nothing to be judged again."""
NOT_STORED = "what it was judged by is not stored"
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Change:
    """A requirement whose worst outcome is another one now. None: it has no verdict on that side."""

    requirement: str
    before: Outcome | None
    now: Outcome | None


@dataclass(frozen=True, slots=True)
class Rejudged(RunResult):
    """What judging again came to.

    again: examples, captures or single packets that were judged. changes: by requirement. standing: deviations that
    cannot be judged again and stand as recorded. lost: requirements of which nothing is stored. left_out: what could
    not be judged again, by reason, how often.
    """

    again: int = 0
    changes: tuple[Change, ...] = ()
    standing: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def judge_again(
    record: Path | str,
    *,
    profile: str | None = None,
    level: str | None = None,
    readings: str | None = None,
    chosen: Sequence[str] = (),
    out: Path | str | None = None,
    on_progress: Progress | None = None,
) -> Rejudged:
    """Judge a run record again, into a new one.

    record: a run folder, or one part of a record. profile, level, readings, chosen: as for `conformance.run`; those of
    the run where left out. on_progress: called with (done, of, what).

    Raises BadInput for what is no run record, a word that names nothing, and a folder that cannot be written.
    """
    check_words(profile=profile, level=level or "must", readings=readings or "windows")
    check_chosen(chosen)
    try:
        run = read_run(Path(record))
    except RunRecordError as error:
        raise BadInput(str(error)) from None
    options = _options(run.header, profile, level, readings, chosen)
    if not run.verdicts:
        raise BadInput(f"The run record {record} holds no verdict: there is nothing to judge again.")
    folder = prepare_folder(out, kind="judge")
    again = _Again(run, options, on_progress or (lambda done, of, what: None))
    with RunWriter(folder) as writer:
        writer.header(_header(run, options, str(record)))
        if run.hello:
            writer.hello(run.hello)
        if run.header.captures:
            again.captures(writer)
        else:
            again.examples(writer)
        again.rest(writer)
        if not run.header.captures:
            for verdict in conclusion(read_run(folder), options):
                writer.verdict(verdict, suite=CONCLUSION, test=CONCLUSION)
        for reason, count in again.left_out.items():
            writer.note(f"Not judged again, {count} times: {reason}.")
        writer.footer("completed", examples=again.count)
    found = read_run(folder)
    code = exit_code((each.verdict.outcome for each in found.verdicts), strict=options.reading_set == "strict")
    sentence = None
    if not again.count:
        code = ExitCode.NOTHING_JUDGED if code is ExitCode.CONFORMS else code
        sentence = "Nothing was judged again: the record stores no example, and its captures are gone."
    return Rejudged(
        code,
        folder,
        found,
        sentence,
        again.count,
        tuple(_changes(run, found)),
        tuple(sorted(again.standing)),
        tuple(sorted(again.lost)),
        dict(again.left_out),
    )


class _Again:
    """One record being judged again. Verdicts go to a writer as they are made."""

    def __init__(self, run: Run, options: RunOptions, progress: Progress) -> None:
        self.run = run
        self.options = options
        self.progress = progress
        self.count = 0
        self.left_out: Counter[str] = Counter()
        self.standing: set[str] = set()
        self.lost: set[str] = set()
        self._judged: set[tuple[str, str]] = set()  # requirement, test (or capture)
        self._held: dict[tuple[str, str, Key], tuple[Verdict, int]] = {}
        self._failures: set[str] = set()  # ids of recorded failures whose example was judged
        self._whole: set[str] = set()  # captures that were read again from beginning to end

    def examples(self, writer: RunWriter) -> None:
        """Every stored example; it is stored again with what is said of it now."""
        from conformance.suites.playback import judge_example

        stored = [each for each in self.run.evidence.values() if each.kind == EXAMPLE]
        stories = {story.verdict: story for story in self.run.stories}
        for number, each in enumerate(stored, start=1):
            data = each.data
            suite, test = str(data.get("suite")), str(data.get("test"))
            self.progress(number, len(stored), suite)
            try:
                verdicts = judge_example(data, self.run.hello or {}, self.options)
            except NotRepeatable as why:
                self.left_out[f"{suite}: {str(why).rstrip('.')}"] += 1
                continue
            self.count += 1
            told = stories.get(str(data.get("verdict")))
            refs = [self._write(writer, verdict, suite, test, told) for verdict in verdicts]
            self._judged.update((str(each["requirement"]), test) for each in data["verdicts"])
            self._failures.add(str(data.get("verdict")))
            now = {name: value for name, value in data.items() if name != "verdict"}
            if verdicts and verdicts[-1].outcome is Outcome.FAIL:
                now["verdict"] = refs[-1]
            writer.evidence(EXAMPLE, {**now, "verdicts": list(map(said, verdicts))})

    def captures(self, writer: RunWriter) -> None:
        """Every capture that is still what it was, and stored packets of the others."""
        known = {str(each.data.get("path")): each.data for each in self.run.evidence.values() if each.kind == CAPTURE}
        for number, path in enumerate(self.run.header.captures, start=1):
            self.progress(number, len(self.run.header.captures), Path(path).name)
            data = known.get(path)
            why = _changed(path, data)
            if data is not None and why is None:
                self._capture(writer, path, data)
            else:
                self.left_out[str(why)] += 1
                self._packets(writer, path)

    def _capture(self, writer: RunWriter, path: str, data: Mapping[str, Any]) -> None:
        given = data.get("against")
        try:
            selection = None if data.get("filter") is None else parse(str(data["filter"]))
        except SelectionError as error:
            self.left_out[f"{path}: {error}"] += 1
            return
        result = replay(
            [path],
            profile=self.options.profile,
            readings=self.options.readings,
            level=self.options.level,
            on_packet=lambda packet: writer.packet(packet.line()),
            on_verdict=lambda capture, verdict: writer.verdict(verdict, suite="replay", test=capture),
            selection=selection,
        )
        result.record_rest(writer)
        self.count += 1
        self._judged.update((one.verdict.requirement, one.capture) for one in result.counted)
        if given is None:
            self._whole.add(path)
        else:
            self.left_out[f"{path}: what {given} made of its messages is not stored"] += 1
        writer.evidence(CAPTURE, data)

    def _packets(self, writer: RunWriter, path: str) -> None:
        """The packets that verdicts on this capture carry. What a session has to say is said by no single packet."""
        seen: dict[str, Mapping[str, Any]] = {}
        for recorded in self.run.verdicts:
            evidence = recorded.verdict.evidence
            if recorded.test == path and evidence is not None and "base64" in evidence.data:
                seen.setdefault(evidence.ref, evidence.data)
        for subject, data in seen.items():
            try:
                packet = base64.b64decode(data["base64"], validate=True)
            except (ValueError, TypeError):
                self.left_out[f"{path}: {subject} is damaged"] += 1
                continue
            if data.get("transport") != "tcp":
                continue
            verdicts = judge_packet(
                packet,
                profile=self.options.profile,
                readings=self.options.readings,
                transport="tcp",
                level=self.options.level,
                subject=subject,
            )
            self.count += 1
            tally = Tally()
            for verdict in verdicts:
                tally.count(verdict, "replay", "packet")
                self._write(writer, verdict, "replay", path, None)
            writer.tally(tally)

    def rest(self, writer: RunWriter) -> None:
        """What was not judged again: facts stand, so do deviations; of what held it is no longer known."""
        for (suite, test, _), (verdict, count) in self._held.items():
            writer.verdict(verdict, suite=suite, test=test, count=count)
        judged = {requirement for requirement, _ in self._judged}
        gone: dict[str, RecordedVerdict] = {}
        for recorded in self.run.verdicts:
            verdict, test = recorded.verdict, recorded.test
            if test in self._whole or test == CONCLUSION or not self._demanded(verdict.requirement):
                continue
            again = (verdict.requirement, test) in self._judged
            if verdict.outcome in FACTS:
                self._carry(writer, recorded)
            elif verdict.outcome is Outcome.FAIL:
                if not (again if self.run.header.captures else recorded.id in self._failures):
                    self.standing.add(verdict.requirement)
                    self._carry(writer, recorded)
            elif verdict.requirement not in judged:
                gone.setdefault(verdict.requirement, recorded)
        for requirement, recorded in gone.items():
            self.lost.add(requirement)
            lost = Verdict(requirement, Outcome.INCONCLUSIVE, recorded.verdict.subject, reason=NOT_STORED)
            writer.verdict(lost, suite=recorded.suite, test=recorded.test)

    def _demanded(self, requirement: str) -> bool:
        known = catalogue().requirements.get(requirement)
        return known is not None and known.binds(self.options.profile)

    def _carry(self, writer: RunWriter, recorded: RecordedVerdict) -> None:
        verdict = recorded.verdict
        demand = catalogue().requirements[verdict.requirement]
        if verdict.outcome is Outcome.FAIL and LEVELS.index(demand.level) > LEVELS.index(self.options.level):
            verdict = replace(verdict, outcome=Outcome.WARN)
        ref = writer.verdict(verdict, suite=recorded.suite, test=recorded.test, count=recorded.count)
        for story in self.run.stories:
            if story.verdict == recorded.id:
                writer.story(ref, story.steps, story.repro)

    def _write(self, writer: RunWriter, verdict: Verdict, suite: str, test: str, told: Story | None) -> str:
        """Record a verdict; what holds is counted and comes with the rest. Its id, empty for what holds."""
        self._judged.add((verdict.requirement, test))
        if verdict.outcome is Outcome.PASS:
            first, count = self._held.get((suite, test, key(verdict)), (verdict, 0))
            self._held[suite, test, key(verdict)] = (first, count + 1)
            return ""
        ref = writer.verdict(verdict, suite=suite, test=test)
        if told is not None and verdict.outcome is Outcome.FAIL:
            writer.story(ref, told.steps, told.repro)
        return ref


def _options(
    header: Header, profile: str | None, level: str | None, readings: str | None, chosen: Sequence[str]
) -> RunOptions:
    """How to judge: as asked, and where nothing is asked as the run did."""
    decided = check_chosen(chosen)
    known = catalogue().readings
    name = readings or header.reading_set or "windows"
    try:
        accepted = assignment(name, decided)
    except CatalogueError as error:
        raise BadInput(f"The run was made by another version of mqconform: {error}.") from None
    if readings is None:
        for reading, alternatives in header.readings.items():
            if reading in known and reading not in decided and set(alternatives) <= set(known[reading].alternatives):
                accepted[reading] = alternatives
    return RunOptions(
        profile=profile or header.profile or DEFAULT_PROFILE,
        level=level or header.level or "must",
        readings=accepted,
        reading_set=name,
        seed=header.seed or 0,
        max_examples=1,
        stateful_steps=1,
        chosen=decided,
    )


def _header(run: Run, options: RunOptions, record: str) -> Header:
    return Header(
        run_id=uuid.uuid4().hex,
        command=("judge", record),
        connector=run.header.connector,
        seed=run.header.seed,
        profile=options.profile,
        level=options.level,
        reading_set=options.reading_set,
        readings=options.readings,
        suites=run.header.suites,
        captures=run.header.captures,
    )


def _changed(path: str, data: Mapping[str, Any] | None) -> str | None:
    """Why a capture cannot be read again; None when it is what was judged."""
    if data is None:
        return f"{path}: which file it was is not recorded"
    now = fingerprint(path)
    if now is None:
        return f"{path}: the file is not there"
    if (now["bytes"], now["sha256"]) != (data.get("bytes"), data.get("sha256")):
        return f"{path}: the file is another one now"
    return None


def _changes(before: Run, now: Run) -> Iterator[Change]:
    """Requirements whose worst outcome is another one, in order."""
    then, today = _worst(before), _worst(now)
    for requirement in sorted(then.keys() | today.keys()):
        was, is_now = then.get(requirement), today.get(requirement)
        if was is not is_now:
            yield Change(requirement, was, is_now)


def _worst(run: Run) -> dict[str, Outcome]:
    found: dict[str, list[Outcome]] = {}
    for recorded in run.verdicts:
        found.setdefault(recorded.verdict.requirement, []).append(recorded.verdict.outcome)
    return {name: worst(outcomes) or Outcome.SKIP for name, outcomes in found.items()}


__all__ = ["NOT_STORED", "Change", "Rejudged", "judge_again"]
