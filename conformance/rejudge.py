"""`mqconform judge` as a function: judge the content of a run record again, by today's rules and other readings.

The implementation is not called. The stored examples of a run are played back with the recorded answers. A capture is
read again if its file is unchanged; otherwise the packets that the record stores are judged. A verdict whose data is
not stored is kept as recorded if profile, level and readings are those of the run; otherwise it becomes inconclusive.
The result lists these verdicts in both cases.
"""

from __future__ import annotations

import base64
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.captures import replay
from conformance.captures.defects import Defect
from conformance.captures.engine import FURTHER
from conformance.captures.replay_run import CAPTURE
from conformance.captures.selection import SelectionError, parse
from conformance.captures.summary import fingerprint, size_of
from conformance.command_options import BadInput, RunResult, check_chosen, check_words, prepare_folder
from conformance.harness.failure_verdicts import CONCLUSION, conclusion
from conformance.harness.recorder import RunOptions
from conformance.harness.repro_files import NotRepeatable
from conformance.harness.run_session import EXAMPLE
from conformance.harness.tape import Key, key, packed, said_key, unpacked, verdict_json
from conformance.histories.situations.coverage import KIND as SITUATIONS
from conformance.judge.packets.judge import judge_packet
from conformance.report.records import read_run
from conformance.report.standing import BROKEN_OFF, incomplete_because
from conformance.runlog import Header, RecordedVerdict, Run, RunRecordError, RunWriter, Story, Tally
from conformance.runlog.events import CONSEQUENCE
from conformance.runlog.run import KIND as AS_RECORDED
from conformance.runlog.run import LEFT_OUT_TESTS
from conformance.spec.catalogue import CatalogueError, assignment, catalogue
from conformance.spec.versions import DEFAULT_PROFILE, LEVELS
from conformance.verdict import ExitCode, Outcome, Verdict, exit_code, of_requirement, worst_code

FACTS = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.SKIP})
"""Outcomes that state what happened in the run. They are never judged again."""
NOT_STORED = "what it was judged by is not stored"
CUT = "it was too long to be recorded, and part of it cannot be judged"
HELLO_CUT = "what the implementation said of itself was too long to be recorded"
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Change:
    """A requirement whose worst outcome has changed. None: the requirement has no verdict on that side."""

    requirement: str
    before: Outcome | None
    now: Outcome | None


@dataclass(frozen=True, slots=True, repr=False)
class Rejudged(RunResult):
    """The result of judging a record again.

    again: number of examples, captures or single packets that were judged. changes: in the order of requirements.
    standing: requirements with deviations that cannot be judged again and are kept as recorded. lost: requirements for
    which nothing is stored; kept as recorded if `as_before`, otherwise inconclusive. left_out: reason to the number of
    items that could not be judged again for it. sealed: the record that was read has checksums. as_before: something
    was judged again, and profile, level and readings are those of the run.
    """

    again: int = 0
    changes: tuple[Change, ...] = ()
    standing: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    sealed: bool = True
    as_before: bool = True


def judge_again(
    record: Path | str,
    *,
    profile: str | None = None,
    level: str | None = None,
    readings: str | None = None,
    chosen: Sequence[str] = (),
    allow_incomplete: bool = False,
    out: Path | str | None = None,
    on_progress: Progress | None = None,
) -> Rejudged:
    """Judge a run record again and write a new record.

    record: a run folder, or one part of a record. profile, level, readings, chosen: as for `conformance.run`; default:
    those of the run. allow_incomplete: as for `conformance.replay`. on_progress: called with (done, total, name of the
    suite or capture).

    Raises BadInput for a path that is not a run record, an unknown name, and a folder that cannot be written.
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
        lacking = incomplete_because(run)
        again.close(writer, lacking)
    found = read_run(folder)
    code, sentence = again.conclusion(found, lacking, allow_incomplete)
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
        run.sealed,
        again.as_before,
    )


class _Again:
    """Judges one record again. Each verdict is written as soon as it is made."""

    def __init__(self, run: Run, options: RunOptions, progress: Progress) -> None:
        self.run = run
        self.options = options
        self.progress = progress
        self.count = 0
        self.defects: list[Defect] = []
        self.left_out: Counter[str] = Counter()
        self.standing: set[str] = set()
        self.lost: set[str] = set()
        self._as_before = _as_before(run.header, options)
        self._said: set[tuple[str, Key]] = set()  # test, recorded verdict of an example judged again
        self._judged: set[tuple[str, str]] = set()  # requirement, test (or capture)
        self._packets_judged: set[tuple[str, str]] = set()  # capture, packet
        self._held: dict[tuple[str, str, Key], tuple[Verdict, int]] = {}
        self._failures: set[str] = set()  # ids of recorded failures whose example was judged
        self._consequences = _consequences(run)
        self._whole: set[str] = set()  # captures that were read again completely

    @property
    def as_before(self) -> bool:
        """True if verdicts without stored data are kept: something was judged again, with the options of the run."""
        return self._as_before and self.count > 0

    @property
    def as_recorded(self) -> set[str]:
        """The requirements with a verdict whose data is not stored."""
        return self.standing | (self.lost if self.as_before else set())

    def examples(self, writer: RunWriter) -> None:
        """Judge every stored example, and store it in the new record with today's verdicts."""
        from conformance.harness.playback import judge_example

        total = self.run.evidence.count(EXAMPLE)
        for number, each in enumerate(self.run.evidence_of(EXAMPLE), start=1):
            data = unpacked(each.data)
            suite, test = str(data.get("suite")), str(data.get("test"))
            self.progress(number, total, suite)
            try:
                if each.cut or self.run.hello_cut:
                    raise NotRepeatable(CUT if each.cut else HELLO_CUT)
                verdicts = judge_example(data, self.run.hello or {}, self.options)
            except NotRepeatable as why:
                self.left_out[f"{suite}: {str(why).rstrip('.')}"] += 1
                continue
            self.count += 1
            told = self.run.story(str(data.get("verdict")))
            verdicts = [verdict for verdict in verdicts if not self._follows(verdict, test)]
            refs = [self._write(writer, verdict, suite, test, told) for verdict in verdicts]
            self._judged.update((str(each["requirement"]), test) for each in data["verdicts"])
            self._said.update((test, said_key(each)) for each in data["verdicts"])
            self._failures.add(str(data.get("verdict")))
            now = {name: value for name, value in data.items() if name != "verdict"}
            if verdicts and verdicts[-1].outcome is Outcome.FAIL:
                now["verdict"] = refs[-1]
            writer.evidence(EXAMPLE, packed({**now, "verdicts": list(map(verdict_json, verdicts))}))

    def close(self, writer: RunWriter, lacking: str | None) -> None:
        """Write what stands as recorded or could not be judged. lacking: why the record that was read is not whole."""
        for kind in (LEFT_OUT_TESTS, SITUATIONS):
            for item in self.run.evidence_of(kind):
                writer.evidence(kind, item.data)
        if self.as_recorded:
            writer.evidence(AS_RECORDED, {"requirements": sorted(self.as_recorded)})
        if self.lost and self.as_before:
            writer.note(f"{len(self.lost)} requirements stand as recorded: {NOT_STORED}.")
        for reason, count in self.left_out.items():
            writer.note(f"Not judged again ({count:,}): {reason}.")
        if lacking is not None:
            writer.note(f"What was judged again is not whole: {lacking}")
        writer.footer("error" if self.defects else _ended(self.run), examples=self.count)

    def conclusion(self, found: Run, lacking: str | None, allow_incomplete: bool) -> tuple[ExitCode, str | None]:
        """Return the exit code of the new record, and why it is not 0 unless the verdicts tell."""
        code = exit_code((kind.outcome for kind in found.said), strict=self.options.reading_set == "strict")
        sentence = None
        if not self.count:
            code = ExitCode.NOTHING_JUDGED if code is ExitCode.CONFORMS else code
            sentence = "Nothing was judged again: the record stores no example, and its captures are gone."
        if self.defects:
            code = worst_code([code, ExitCode.HARNESS_ERROR])
            sentence = " ".join(defect.sentence for defect in self.defects)
        code = found.incomplete.exit_code(code, allowed=allow_incomplete)
        if lacking is not None:
            code = ExitCode.BAD_INPUT if code in (ExitCode.CONFORMS, ExitCode.NOTHING_JUDGED) else code
            why = f"What was judged again is not whole: {lacking.rstrip('.')}."
            sentence = f"{sentence} {why}" if sentence else why
        return code, sentence

    def _follows(self, verdict: Verdict, test: str) -> bool:
        """True for a failure that the run filed under another deviation: that stands as it was recorded."""
        return verdict.outcome is Outcome.FAIL and (verdict.requirement, test) in self._consequences

    def captures(self, writer: RunWriter) -> None:
        """Judge every capture whose file is unchanged, and the stored packets of the others."""
        known = {str(each.data.get("path")): each.data for each in self.run.evidence_of(CAPTURE)}
        gone: set[str] = set()
        for number, path in enumerate(self.run.header.captures, start=1):
            self.progress(number, len(self.run.header.captures), Path(path).name)
            data = known.get(path)
            why = _changed(path, data)
            if data is not None and why is None:
                self._capture(writer, path, data)
            else:
                self.left_out[str(why)] += 1
                gone.add(path)
        if not gone:
            self._whole.add(FURTHER)
        else:
            self._packets(writer, gone)
            for capture in self.run.captures:
                if capture.path in gone:
                    writer.capture(capture)

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
        self.defects += result.defects
        self.count += 1
        self._judged.update((one.verdict.requirement, one.capture) for one in result.counted)
        if given is None:
            self._whole.add(path)
        else:
            self.left_out[f"{path}: what {given} made of its messages is not stored"] += 1
        writer.evidence(CAPTURE, data)

    def _packets(self, writer: RunWriter, captures: Set[str]) -> None:
        """Judge the packets stored with verdicts on these captures, by packet rules only: sessions are not stored."""
        for recorded in self.run.verdicts:
            evidence, path = recorded.verdict.evidence, recorded.test
            if (
                path not in captures
                or evidence is None
                or "base64" not in evidence.data
                or (path, evidence.ref) in self._packets_judged
            ):
                continue
            subject, data = evidence.ref, evidence.data
            if evidence.cut:
                self.left_out[f"{path}: {CUT}"] += 1
                continue
            self._packets_judged.add((path, subject))
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
                tally.count((verdict,), "replay", "packet")
                self._write(writer, verdict, "replay", path, None)
            writer.tally(tally)

    def rest(self, writer: RunWriter) -> None:
        """Write the verdicts that were not judged again.

        Facts and deviations are kept as recorded; passes, warnings and readings too, but only if `as_before`.
        """
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
                continue
            if verdict.outcome is Outcome.FAIL:
                if self._unjudged(recorded) or not (
                    again if self.run.header.captures else recorded.id in self._failures
                ):
                    self.standing.add(verdict.requirement)
                    self._carry(writer, recorded)
                continue
            if verdict.requirement not in judged:
                gone.setdefault(verdict.requirement, recorded)
            if self.as_before and not (again if self.run.header.captures else (test, key(verdict)) in self._said):
                self._carry(writer, recorded)
        for requirement, recorded in gone.items():
            self.lost.add(requirement)
            if self.as_before:
                continue
            lost = Verdict(requirement, Outcome.INCONCLUSIVE, recorded.verdict.subject, reason=NOT_STORED)
            writer.verdict(lost, suite=recorded.suite, test=recorded.test)

    def _unjudged(self, recorded: RecordedVerdict) -> bool:
        """True if the evidence of a verdict was cut and its packet was not judged again."""
        evidence = recorded.verdict.evidence
        return evidence is not None and evidence.cut and (recorded.test, evidence.ref) not in self._packets_judged

    def _demanded(self, requirement: str) -> bool:
        known = catalogue().requirements.get(requirement)
        return known is not None and known.binds(self.options.profile)

    def _carry(self, writer: RunWriter, recorded: RecordedVerdict) -> None:
        verdict = recorded.verdict
        demand = catalogue().requirements[verdict.requirement]
        if verdict.outcome is Outcome.FAIL and LEVELS.index(demand.level) > LEVELS.index(self.options.level):
            verdict = replace(verdict, outcome=Outcome.WARN)
        ref = writer.verdict(verdict, suite=recorded.suite, test=recorded.test, count=recorded.count)
        story = self.run.story(recorded.id)
        if story is not None:
            writer.story(ref, story.steps, story.repro)

    def _write(self, writer: RunWriter, verdict: Verdict, suite: str, test: str, told: Story | None) -> str:
        """Record a verdict and return its id. Passes are counted and written by `rest`; their id is empty."""
        self._judged.add((verdict.requirement, test))
        if verdict.outcome is Outcome.PASS:
            first, count = self._held.get((suite, test, key(verdict)), (verdict, 0))
            self._held[suite, test, key(verdict)] = (first, count + 1)
            return ""
        ref = writer.verdict(verdict, suite=suite, test=test)
        if told is not None and verdict.outcome is Outcome.FAIL:
            writer.story(ref, told.steps, told.repro)
        return ref


def _consequences(run: Run) -> set[tuple[str, str]]:
    """Return requirement and test of what failed only as a consequence of another deviation."""
    if not any((said.reason or "").startswith(CONSEQUENCE) for said in run.said):
        return set()
    told = [(one.verdict, one.test) for one in run.verdicts]
    blamed = {(one.requirement, test) for one, test in told if one.outcome is Outcome.FAIL}
    return {(one.requirement, test) for one, test in told if (one.reason or "").startswith(CONSEQUENCE)} - blamed


def _options(
    header: Header, profile: str | None, level: str | None, readings: str | None, chosen: Sequence[str]
) -> RunOptions:
    """Return the options to judge by: the caller's where given, else those of the run. Raises BadInput."""
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
        chosen=decided,
    )


def _as_before(header: Header, options: RunOptions) -> bool:
    """True if profile, level and readings are those of the run."""
    same = (options.profile, options.level) == (header.profile or DEFAULT_PROFILE, header.level or "must")
    return same and options.reading_set == (header.reading_set or "windows") and not _otherwise(header, options)


def _otherwise(header: Header, options: RunOptions) -> bool:
    """True if the accepted alternatives of a reading that the run knew have changed."""
    now = options.readings
    return any(name in now and tuple(now[name]) != tuple(wanted) for name, wanted in header.readings.items())


def _ended(run: Run) -> str:
    """Return the stop reason of the new record: the run's own if it ended early, as judging completes nothing."""
    if run.footer is None or not run.complete:
        return "interrupted"
    return run.footer.stop_reason if run.footer.stop_reason in BROKEN_OFF else "completed"


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
        label=run.header.label,
    )


def _changed(path: str, data: Mapping[str, Any] | None) -> str | None:
    """Return why a capture cannot be read again; None if the file is the one that was judged."""
    if data is None:
        return f"{path}: which file it was is not recorded"
    size = size_of(path)
    if size is None:
        return f"{path}: the file is not there"
    # The size is known at once; the digest needs the whole file.
    if size != data.get("bytes") or fingerprint(path) != {"bytes": size, "sha256": data.get("sha256")}:
        return f"{path}: the file is another one now"
    return None


def _changes(before: Run, now: Run) -> Iterator[Change]:
    """Return the requirements whose worst outcome has changed, sorted by id."""
    then, today = _worst(before), _worst(now)
    for requirement in sorted(then.keys() | today.keys()):
        was, is_now = then.get(requirement), today.get(requirement)
        if was is not is_now:
            yield Change(requirement, was, is_now)


def _worst(run: Run) -> dict[str, Outcome]:
    found: dict[str, list[Outcome]] = {}
    for kind in run.said:
        found.setdefault(kind.requirement, []).append(kind.outcome)
    return {name: of_requirement(outcomes) or Outcome.SKIP for name, outcomes in found.items()}


__all__ = ["NOT_STORED", "Change", "Rejudged", "judge_again"]
