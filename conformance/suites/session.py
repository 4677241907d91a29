"""One worker's part of a run: the client, the run record, and what became of each test."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.model.coverage import by_table
from conformance.runlog.events import RecordedVerdict, Story
from conformance.runlog.tally import Tally
from conformance.suites.guard import GuardedClient
from conformance.suites.judging import ConformanceFailure, Judge, RunOptions
from conformance.suites.registry import OWN
from conformance.suites.reproducing import write_beside
from conformance.suites.taping import KINDS, Example, Key, Tape
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.adapter.errors import DriverUnusable
    from conformance.runlog import RunWriter

REPRO_FORMAT = 1
EXAMPLE = "example"
"""The kind of evidence that is an example: `suite`, `test`, and what `taping.Example` says of itself."""
MAX_EXAMPLE = 1 << 20
TALLY_SECONDS = 60.0  # the judgements that were counted reach the record at least this often
MAX_KEPT = 32 << 20  # characters of all examples that one worker keeps; a whole run takes a few million


@dataclass
class TestState:
    """What is known of the test that runs now."""

    node: str
    suite: str
    claimed: tuple[str, ...]
    judge: Judge
    client: GuardedClient | None = None


@dataclass
class RunSession:
    """The state of a run in this process. `open_client` makes the client; it is called at most once.

    disabled: requirement ids whose check is switched off. out: the run folder. taping: what is said in the examples is
    kept, as far as it is worth it.
    """

    options: RunOptions
    connector: str
    out: Path
    writer: RunWriter
    open_client: Callable[[Path], Client]
    disabled: frozenset[str] = frozenset()
    on_verdict: Callable[[Verdict, int], None] | None = None
    on_failed: Callable[[RecordedVerdict, Story], None] | None = None
    started: float | None = None
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
    _kept: int = 0
    _client: Client | None = None
    _state_dir: Path | None = None
    _epoch: int = 0
    _tallied: float = field(default_factory=time.monotonic)

    def client(self) -> Client:
        """The client, started on first use. Raises DriverUnusable, again on every later call once it has."""
        from conformance.adapter.errors import DriverUnusable

        if self.unusable is not None:
            raise self.unusable
        if self._client is None:
            self._state_dir = Path(tempfile.mkdtemp(prefix="mqconform-state-"))
            try:
                self._client = self.open_client(self._state_dir)
            except DriverUnusable as error:
                self.give_up(error)
                raise
        return self._client

    def give_up(self, error: DriverUnusable) -> None:
        """The driver cannot be used any more: what was judged stays, nothing more can be."""
        self.unusable = error
        self.stop_reason = "driver-unusable"
        self.writer.driver("unusable", error.sentence)

    def begin(self, node: str, suite: str, claimed: tuple[str, ...]) -> TestState:
        """A test starts; the first one starts the clock of the budget."""
        if self.started is None:
            self.started = time.monotonic()
        state = TestState(node, suite, claimed, judge=None)  # type: ignore[arg-type]
        state.judge = Judge(
            self.options,
            sink=lambda verdict, count: self.write(state, verdict, count),
            claimed=frozenset(claimed),
            disabled=self.disabled,
            on_first_failure=lambda verdict: self._first_failure(state, verdict),
            tape=Tape(self.had, lambda example: self._keep(state, example)) if self.taping else None,
            suite=suite,
        )
        self.current = state
        return state

    def elapsed(self) -> float:
        """Seconds since the first test began."""
        return time.monotonic() - self.started if self.started is not None else 0.0

    def end(self, state: TestState, seconds: float) -> None:
        """A test is over: counted verdicts reach the record."""
        state.judge.flush()
        if state.judge.tape is not None:
            state.judge.tape.end()
        self.steps += state.judge.steps_taken
        self.examples += state.judge.examples
        for row, count in state.judge.transitions.items():
            self.transitions[row] = self.transitions.get(row, 0) + count
        self.judging_s += seconds
        self.took[state.node] = round(seconds * 1000)
        self.tally.add(state.judge.tally)
        if time.monotonic() - self._tallied > TALLY_SECONDS:
            self.write_tally()
        self.current = None

    def write_tally(self) -> None:
        """The judgements made since the last time reach the record, and how long the tests took."""
        if self.took:
            self.writer.took(self.took)
        self.took = {}
        self.writer.tally(self.tally)
        self.tally = Tally()
        self._tallied = time.monotonic()

    def write(self, state: TestState, verdict: Verdict, count: int = 1, *, provisional: bool = False) -> str:
        """Record a verdict of this test; its id."""
        if self.on_verdict is not None and not provisional:
            self.on_verdict(verdict, count)
        client = self._client
        return self.writer.verdict(
            verdict,
            suite=state.suite,
            test=state.node,
            count=count,
            epoch=client.epoch if client is not None else None,
            provisional=provisional,
        )

    def _first_failure(self, state: TestState, verdict: Verdict) -> None:
        """Seen failing, before the search for a shorter story: kept in case the harness does not live to tell it."""
        ref = self.write(state, verdict, provisional=True)
        self.writer.story(ref, state.judge.story)

    def failed(self, state: TestState, failure: ConformanceFailure, verdict: Verdict | None = None) -> str:
        """Record a failure with its story and its repro file; the file's path, empty for an implementer's own test."""
        self.failures += 1
        verdict = verdict or failure.verdict
        if state.suite == OWN:  # only the test itself can make the calls again
            ref = self.write(state, verdict)
            self.writer.story(ref, failure.story)
            self._told(state, ref, verdict, failure, "")
            return ""
        path = self.write_repro(state, verdict, failure.repro, [step.text for step in failure.story])
        ref = self.write(state, verdict)
        self.writer.story(ref, failure.story, repro=str(path))
        self._told(state, ref, verdict, failure, str(path))
        if failure.example is not None and failure.example.whole and failure.example.kind in KINDS:
            self._keep(state, failure.example, verdict=ref)
            failure.example.wanted = False
        return str(path)

    def _told(self, state: TestState, ref: str, verdict: Verdict, failure: ConformanceFailure, repro: str) -> None:
        if self.on_failed is not None:
            recorded = RecordedVerdict(ref, verdict, state.suite, state.node)
            self.on_failed(recorded, Story(ref, failure.story, repro or None))

    def _keep(self, state: TestState, example: Example, **more: str) -> None:
        """Store an example in full. One too many or too long is left out: `judge` says what is not stored."""
        data = {"suite": state.suite, "test": state.node, **more, **example.to_json()}
        try:
            size = len(json.dumps(data, default=str))
        except (ValueError, RecursionError):
            return
        if size <= MAX_EXAMPLE and self._kept + size <= MAX_KEPT:
            self._kept += size
            self.writer.evidence(EXAMPLE, data)

    def write_repro(self, state: TestState, verdict: Verdict, repro: Mapping[str, Any], story: list[str]) -> Path:
        """Write `repros/<fingerprint>.json`, with a pytest file and a diagram; its path.

        The fingerprint is that of requirement, suite and example.
        """
        content = {
            "format": REPRO_FORMAT,
            "suite": state.suite,
            "test": state.node,
            "profile": self.options.profile,
            "level": self.options.level,
            "reading_set": self.options.reading_set,
            "chosen": dict(self.options.chosen),
            "seed": self.options.seed,
            "verdict": verdict.to_json(),
            "story": story,
            "repro": dict(repro),
        }
        identity = json.dumps([verdict.requirement, state.suite, content["repro"]], sort_keys=True, default=str)
        fingerprint = sha256(identity.encode()).hexdigest()[:16]
        folder = self.out / "repros"
        folder.mkdir(exist_ok=True)
        path = folder / f"{fingerprint}.json"
        path.write_text(
            json.dumps({"fingerprint": fingerprint, **content}, indent=1, default=str) + "\n", encoding="utf-8"
        )
        write_beside(path, content)
        return path

    def note_epoch(self) -> None:
        """Record the hello of a driver process not seen before."""
        client = self._client
        if client is not None and client.epoch != self._epoch:
            self._epoch = client.epoch
            self.writer.hello(hello_json(client), epoch=client.epoch)

    def close(self) -> None:
        """Stop the driver and remove its state folder. The record is closed by whoever opened it."""
        if self.transitions:
            self.writer.evidence("transitions", by_table(self.transitions))
            self.transitions = {}
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._state_dir is not None:
            shutil.rmtree(self._state_dir, ignore_errors=True)


def hello_json(client: Client) -> dict[str, Any]:
    """What the implementation said of itself, as JSON."""
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
    }


def skipped(claimed: tuple[str, ...], reason: str) -> list[Verdict]:
    """Every claimed requirement skipped for a declared reason."""
    return [Verdict(name, Outcome.SKIP, "not offered", reason=reason) for name in claimed]
