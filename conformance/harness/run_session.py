"""One worker's part of a run: the client, the run record, and the outcome of each test."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.files import new_scratch, remove_tree, write_text
from conformance.harness.ahead import Ahead, Part, Played
from conformance.harness.extremes import Extremes
from conformance.harness.guarded_client import NOT_OFFERED, DriverGone, GuardedClient
from conformance.harness.known_deviations import QUIRK, KnownDeviations
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.repro_files import (
    MOST,
    Antecedents,
    Asked,
    NotRepeatable,
    alone,
    antecedents,
    by_calls_alone,
    without_secrets,
    write_beside,
)
from conformance.harness.suite_registry import OWN
from conformance.harness.tape import KINDS, MAX_EXAMPLE, Example, Key, Tape, packed
from conformance.harness.test_selection import Share, Shares
from conformance.model.tables import by_table
from conformance.runlog.counts import Tally
from conformance.runlog.cutting import clipped
from conformance.runlog.events import REFERENCE_FAILS, RecordedVerdict, Story, StoryStep
from conformance.runlog.run import LIMITS
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.adapter.errors import DriverUnusable
    from conformance.harness.port import Port
    from conformance.runlog import RunWriter

REPRO_FORMAT = 1
EXAMPLE = "example"
"""Evidence kind of an example: its members are `suite`, `test`, and those of `tape.Example.to_json`, packed."""
HARNESS_FAILED = "harness-failed"
"""Evidence kind of a story that the reference fails too: the data to run it, and the same before it was shortened."""
MAX_REPRO = 8 << 20  # characters of the data in a repro file that repeat the calls
TALLY_SECONDS = 60.0  # counted judgements reach the record at least this often
MAX_PASSES = 100_000  # kinds of passes that one worker counts: a pass of another kind is written each time
MAX_KEPT = 16 << 20  # characters of all examples that one worker stores; a whole run takes a few million
MAX_REPROS = 16 << 20
"""Characters of all repro files that one worker writes: enough for thousands of usual ones."""
CONFIRM_S = 10.0  # that a worker spends at its end on bringing its deviations about again, each alone


@dataclass
class TestState:
    """State of the running test. share: the time of its suite. begun: some of that time was left. told: the
    requirements of the failures that were recorded. in_record: a verdict of this test is in the record. before: what
    went before its first failure."""

    node: str
    suite: str
    claimed: tuple[str, ...]
    judge: Recorder
    client: GuardedClient | None = None
    share: Share = field(default_factory=Share)
    begun: bool = True
    told: set[str] = field(default_factory=set)
    in_record: bool = False
    before: Antecedents | None = None


class Check(NamedTuple):
    """Answer of a reference on a story. fails: it fails that as well. unknown: why it was not checked, in words."""

    fails: bool
    unknown: str = ""


@dataclass
class RunSession:
    """State of a run in this process. open_client: makes the client; called at most once.

    disabled: requirement ids whose check is switched off. out: the run folder. label: the run's. taping: record the
    examples, and store those worth keeping. past: what goes on behind a deviation, None if nothing does. reference:
    tells whether an implementation that conforms fails the story of a suite's repro as well. parts: the examples that
    may be played ahead, by their tests.
    """

    options: RunOptions
    connector: str
    out: Path
    writer: RunWriter
    open_client: Callable[[Path], Client]
    disabled: frozenset[str] = frozenset()
    label: str | None = None
    on_verdict: Callable[[Verdict, int], None] | None = None
    on_failed: Callable[[RecordedVerdict, Story], None] | None = None
    shares: Shares | None = None
    stop_reason: str = "completed"
    unusable: DriverUnusable | None = None
    current: TestState | None = None
    steps: int = 0
    examples: int = 0
    failures: int = 0
    judging_s: float = 0.0
    transitions: dict[str, int] = field(default_factory=dict)
    taping: bool = False
    tally: Tally = field(default_factory=Tally)
    took: dict[str, int] = field(default_factory=dict)
    had: set[Key] = field(default_factory=set)
    defects: set[str] = field(default_factory=set)
    past: KnownDeviations | None = None
    reference: Callable[[str, Mapping[str, Any]], Check] | None = None
    parts: Mapping[str, Part] = field(default_factory=dict)
    _passes: dict[tuple[object, ...], list[Any]] = field(default_factory=dict)  # verdict, its test, times since written
    _kept: int = 0
    extremes: Extremes = field(default_factory=Extremes)
    _repros: int = 0
    _client: Client | None = None
    _ahead: Ahead | None = None
    _state_dir: Path | None = None
    _epoch: int = 0
    _last: deque[tuple[int, str, str, Mapping[str, Any]]] = field(default_factory=lambda: deque(maxlen=MOST + 1))
    _written: list[tuple[Path, dict[str, Any]]] = field(default_factory=list)
    _tallied: float = field(default_factory=time.monotonic)

    def client(self) -> Client:
        """Return the client, started on first use. Raises DriverUnusable, then again on every later call."""
        from conformance.adapter.errors import DriverUnusable

        if self.unusable is not None:
            raise self.unusable
        if self._client is None:
            self._state_dir = new_scratch("mqconform-state-")
            try:
                self._client = self.open_client(self._state_dir)
            except DriverUnusable as error:
                self.give_up(error)
                raise
            self.extremes.declared(self._client.hello.limits)
            self._client.on_call = self.extremes.see
        return self._client

    def give_up(self, error: DriverUnusable) -> None:
        """Note that the driver cannot be used any more. Verdicts so far stay; no more can follow."""
        self.unusable = error
        self.stop_reason = "driver-unusable"
        self.writer.driver("unusable", error.sentence)

    def begin(self, node: str, suite: str, claimed: tuple[str, ...]) -> TestState:
        """Begin a test, if its suite has time left. The first test starts the clock of the budget."""
        state = TestState(node, suite, claimed, judge=None)  # type: ignore[arg-type]
        state.judge = Recorder(
            self.options,
            sink=lambda verdict, count: self.write(state, verdict, count),
            claimed=frozenset(claimed),
            disabled=self.disabled,
            on_first_failure=lambda verdict: self._first_failure(state, verdict),
            tape=Tape(self.had, lambda example: self._keep(state, example)) if self.taping else None,
            suite=suite,
            past=self.past,
        )
        state.judge.ahead = lambda: self._played(state)
        state.judge.on_example = lambda kind, data: self._began(suite, kind, data)
        if self.shares is not None:
            state.share = self.shares.begin(node, suite)
            state.begun = self.shares.clock() < state.share.until
            state.judge.until = state.share.until
        self.current = state
        return state

    def _played(self, state: TestState) -> Played | None:
        if state.node not in self.parts:
            return None
        if self._ahead is None:
            several = getattr(self.client().in_process_driver, "several", False)
            parts = self.parts if several else {}
            self._ahead = Ahead(self.open_client, parts, self.options, until=state.share.at_last)
        return self._ahead.taken(state.node)

    def _began(self, suite: str, kind: str, data: Mapping[str, Any]) -> None:
        self._last.append((self._client.ended if self._client is not None else 0, suite, kind, data))

    def _before(self, state: TestState) -> Antecedents:
        """Return what went before the first failure of the test: later examples only vary the one that failed."""
        if state.before is None:
            state.before = antecedents(list(self._last))
        return state.before

    def end(self, state: TestState, seconds: float) -> None:
        """End a test and write its counted verdicts to the record."""
        state.judge.flush()
        self._file(state)
        if state.judge.tape is not None:
            state.judge.tape.end()
        self.steps += state.judge.steps_taken
        self.examples += state.judge.examples
        for row, count in state.judge.transitions.items():
            self.transitions[row] = self.transitions.get(row, 0) + count
        self.judging_s += seconds
        self.took[state.node] = round(seconds * 1000)
        for remark in state.judge.remarks:
            self.writer.note(f"{state.node}: {remark}")
        for kind, data in state.judge.evidence:
            self.writer.evidence(kind, data)
        self.tally.add(state.judge.tally)
        if time.monotonic() - self._tallied > TALLY_SECONDS:
            self.write_tally()
        self.current = None

    def _file(self, state: TestState) -> None:
        """Record what became of failures that the test did not tell, because a known deviation explains them."""
        left = [one for one in state.judge.first_failures if one.verdict.requirement not in state.told]
        for failure, reason in self.past.filed(left) if self.past is not None and left else ():
            if reason is not None:
                self.consequence(state, failure, reason)

    def write_tally(self) -> None:
        """Write the judgements, repeated passes and durations of tests since the last call to the record."""
        for repeated in self._passes.values():
            verdict, suite, test, epoch, count = repeated
            if count:
                self.writer.verdict(verdict, suite=suite, test=test, count=count, epoch=epoch)
                repeated[-1] = 0
        if self.took:
            self.writer.took(self.took)
        self.took = {}
        self.writer.tally(self.tally)
        self.tally = Tally()
        self._tallied = time.monotonic()

    def write(
        self,
        state: TestState,
        verdict: Verdict,
        count: int = 1,
        *,
        provisional: bool = False,
        replaces: str | None = None,
    ) -> str:
        """Record a verdict of this test; return its id, empty for a pass that is counted with others like it."""
        if self.on_verdict is not None and not provisional:
            self.on_verdict(verdict, count)
        client = self._client
        epoch = client.epoch if client is not None else None
        if verdict.outcome is Outcome.PASS and state.suite != OWN:
            key = state.suite, verdict.requirement, verdict.readings, verdict.subject
            repeated = self._passes.get(key)
            if repeated is None and len(self._passes) < MAX_PASSES:
                plain = Verdict(verdict.requirement, Outcome.PASS, verdict.subject, readings=verdict.readings)
                self._passes[key] = [plain, state.suite, state.node, epoch, 0]
            elif repeated is not None and state.in_record:
                repeated[2:] = state.node, epoch, repeated[-1] + count
                return ""
        state.in_record = True
        return self.writer.verdict(
            verdict,
            suite=state.suite,
            test=state.node,
            count=count,
            epoch=epoch,
            provisional=provisional,
            replaces=replaces,
        )

    def _first_failure(self, state: TestState, verdict: Verdict) -> None:
        """Record a failure provisionally before it is shrunk, in case the harness dies while shrinking."""
        self._before(state)
        ref = self.write(state, verdict, provisional=True)
        self.writer.story(ref, state.judge.story)

    def failed(self, state: TestState, failure: ConformanceFailure, verdict: Verdict | None = None) -> str:
        """Record a failure with its story and repro file; return the file's path, empty for no file."""
        verdict = verdict or failure.verdict
        if verdict.outcome is Outcome.INCONCLUSIVE:
            self.consequence(state, failure, verdict.reason or "")
            return ""
        self.failures += 1
        state.told.add(verdict.requirement)
        if state.suite == OWN:  # no repro file: only the implementer's own test can make the calls again
            ref = self.write(state, verdict)
            self.writer.story(ref, failure.story)
            self._told(state, ref, verdict, failure, "")
            return ""
        starts = self._before(state).starts
        if starts and verdict.outcome is not Outcome.FAIL:
            again = f"before this, the driver was started again on the same state folder ({starts} in all)"
            failure.story = (StoryStep(again), *failure.story)
        path = self.write_repro(state, verdict, failure.repro, failure.story)
        ref = self.write(state, verdict, replaces=failure.replaces)
        self.writer.story(ref, failure.story, repro=str(path) if path else None)
        self._told(state, ref, verdict, failure, str(path or ""))
        if failure.example is not None and failure.example.whole and failure.example.kind in KINDS:
            self._keep(state, failure.example, verdict=ref)
            failure.example.wanted = False
        return str(path or "")

    def consequence(self, state: TestState, failure: ConformanceFailure, reason: str) -> None:
        """Record a failure for which nothing is blamed, such as a consequence of a known deviation."""
        verdict = replace(failure.verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
        state.told.add(verdict.requirement)
        ref = self.write(state, verdict)
        self.writer.story(ref, failure.story)
        if failure.example is not None:
            failure.example.wanted = False

    def harness_failed(self, state: TestState, failure: ConformanceFailure, unshrunk: ConformanceFailure) -> None:
        """Record a failure that the reference has as well as an error of the harness, with all that shows the error."""
        verdict = replace(failure.verdict, outcome=Outcome.ERROR, reason=REFERENCE_FAILS, evidence=None)
        state.told |= {verdict.requirement, failure.replaces or verdict.requirement}
        ref = self.write(state, verdict, replaces=failure.replaces)
        self.writer.story(ref, unshrunk.story)
        stories: dict[str, Any] = {"repro": dict(failure.repro), "unshrunk": dict(unshrunk.repro)}
        kept = stories if len(json.dumps(stories, default=str)) <= MAX_EXAMPLE else {}
        data = {"suite": state.suite, "test": state.node, "verdict": ref, "requirement": verdict.requirement, **kept}
        self.writer.evidence(HARNESS_FAILED, data)
        self.writer.note(f"The harness failed in {state.node}: {verdict.requirement}: {REFERENCE_FAILS}.")

    def _told(self, state: TestState, ref: str, verdict: Verdict, failure: ConformanceFailure, repro: str) -> None:
        if self.on_failed is not None:
            recorded = RecordedVerdict(ref, verdict, state.suite, state.node)
            self.on_failed(recorded, Story(ref, failure.story, repro or None))

    def _keep(self, state: TestState, example: Example, **more: str) -> None:
        """Store an example, unless it is too long or the worker has stored too much; `judge` reports the missing ones.

        A failed example is stored even if it is too long and will be cut, so that `judge` can name the reason.
        """
        if self.past is not None and all(said.outcome is not Outcome.FAIL for said in example.said):
            self.past.witness(example)
        data = {"suite": state.suite, "test": state.node, **more, **example.to_json()}
        try:
            size = len(json.dumps(data, default=str))
        except (ValueError, RecursionError):
            return
        kept = self._kept + min(size, MAX_EXAMPLE)
        if (size <= MAX_EXAMPLE or "verdict" in more) and kept <= MAX_KEPT:
            self._kept = kept
            self.writer.evidence(EXAMPLE, packed(data))

    def write_repro(
        self, state: TestState, verdict: Verdict, repro: Mapping[str, Any], story: Sequence[StoryStep]
    ) -> Path | None:
        """Write `repros/<fingerprint>.json`, a pytest file and a diagram; return the path, None if there is no room.

        The fingerprint is a digest of requirement, suite and example.
        """
        hello = self._client.hello if self._client is not None else None
        asked = Asked(without_secrets(self.connector), label=self.label)
        content = {
            "format": REPRO_FORMAT,
            "suite": state.suite,
            "test": state.node,
            "profile": self.options.profile,
            "level": self.options.level,
            "reading_set": self.options.reading_set,
            "chosen": dict(self.options.chosen),
            "seed": self.options.seed,
            "asked": (asked._replace(name=hello.name, version=hello.version) if hello else asked)._asdict(),
            "before": self._before(state)._asdict(),
            "verdict": clipped(json.loads(json.dumps(verdict.to_json(), default=str))),
            "story": clipped([step.text for step in story]),
            "parts": clipped([list(step.parts) for step in story]),
            "repro": dict(repro),
        }
        identity = json.dumps([verdict.requirement, state.suite, content["repro"]], sort_keys=True, default=str)
        fingerprint = sha256(identity.encode()).hexdigest()[:16]
        too_long = len(identity) > MAX_REPRO
        if too_long:
            content |= {"repro": {"kind": repro.get("kind")}, "cut": len(identity)}
        folder = self.out / "repros"
        path = folder / f"{fingerprint}.json"
        content = {"fingerprint": fingerprint, **content}
        text = json.dumps(content, indent=1, default=str) + "\n"
        if self._repros + len(text) > MAX_REPROS:
            self.writer.note(
                f"{verdict.requirement}: no repro file is written, because the driver's answers make it too long "
                f"({len(text):,} characters; {MAX_REPROS:,} for all of them)."
            )
            return None
        self._repros += len(text)
        folder.mkdir(exist_ok=True)
        write_text(path, text)
        if not too_long:
            write_beside(path, content)
            if verdict.outcome is Outcome.FAIL and not self.disabled and hello and by_calls_alone(repro, hello):
                self._written.append((path, content))
        return path

    def confirm(self) -> None:
        """Note in repro files that the example fails alone too: only then is one that no longer fails mended."""
        from conformance.adapter.errors import AdapterError

        until = time.monotonic() + CONFIRM_S
        self.close()
        for path, content in self._written:
            with suppress(AdapterError, DriverGone, NotRepeatable, OSError):
                if time.monotonic() > until:
                    return
                verdicts = alone(content["suite"], content["repro"], self.open_client, self.options)
                broken = {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}
                if content["verdict"]["requirement"] in broken:
                    content["alone"] = True
                    write_text(path, json.dumps(content, indent=1, default=str) + "\n")
                    write_beside(path, content)

    def note_epoch(self) -> None:
        """Record the hello of a new driver process."""
        client = self._client
        if client is not None and client.epoch != self._epoch:
            self._epoch = client.epoch
            self.writer.hello(hello_json(client), epoch=client.epoch)

    def _name_outliving(self) -> None:
        from conformance.adapter.process import outliving

        left = outliving()
        if left is not None and not self.writer.footed:  # A daemon that forks on is another process each time.
            self.writer.driver("outlived", left)

    def note_quirks(self) -> None:
        """Write the quirks of the implementation to the record."""
        if self.past is not None:
            for data in self.past.evidence():
                self.writer.evidence(QUIRK, data)
            for sentence in self.past.notes():
                self.writer.note(sentence)
            self.past.close()
            self.past = None

    def note_transitions(self) -> None:
        """Write the counts of the model's table rows, and the largest values that were sent, to the record."""
        if self.transitions:
            self.writer.evidence("transitions", by_table(self.transitions))
            self.transitions = {}
        if self.extremes:
            self.writer.evidence(LIMITS, self.extremes.to_json())

    def close(self) -> None:
        """Stop the driver and remove its state folder. The opener of the record closes the record."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead, self.parts = None, {}
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._state_dir is not None:
            remove_tree(self._state_dir)
            self._state_dir = None
        self._name_outliving()


def hello_json(client: Port) -> dict[str, Any]:
    """Return the implementation's hello as JSON."""
    hello = client.hello
    return {
        "name": hello.name,
        "version": hello.version,
        "profile": hello.profile,
        "computer": hello.computer,
        "facets": {facet: sorted(methods) for facet, methods in sorted(hello.facets.items())},
        "clock": hello.clock,
        "settle_ms": hello.settle_ms,
        "slack_ms": hello.slack_ms,
        "limits": dict(hello.limits),
        "readings": dict(hello.readings),
        "queue_manager": hello.queue_manager,
        **({"accepts": {kind: sorted(names) for kind, names in hello.accepts.items()}} if hello.accepts else {}),
        **({"security": dict(hello.security)} if hello.security is not None else {}),
    }


def verdicts_left_out(state: TestState) -> list[Verdict]:
    """Return a SKIP verdict for each claimed requirement that was not judged by a test that did without something."""
    unjudged = tuple(name for name in state.claimed if name not in state.judge.judged)
    return skipped(unjudged, f"{NOT_OFFERED}{', '.join(state.judge.lacking)}")


def skipped(claimed: tuple[str, ...], reason: str) -> list[Verdict]:
    """Return a SKIP verdict for every claimed requirement, with the declared reason."""
    return [Verdict(name, Outcome.SKIP, "not offered", reason=reason) for name in claimed]
