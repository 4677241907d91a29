"""`mqconform readings infer` as a function: find out which readings an implementation follows.

The evidence comes from three sources, in this order: the shipped traces, each the shortest that separates two
alternatives; the suites, run with every alternative accepted; random walks, for what only longer histories show.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.adapter.errors import NotAccepted
from conformance.files import new_scratch, remove_tree
from conformance.harness.failure_verdicts import CONCLUSION
from conformance.harness.guarded_client import DriverGone, GuardedClient
from conformance.harness.recorder import RunOptions
from conformance.histories import plans
from conformance.histories.inference.inferring import Behaviour, Conclusion, Inference, Proof, Status
from conformance.histories.inference.probing import Evidence, every_alternative, evidence, walked
from conformance.histories.inference.separating_traces import shipped
from conformance.histories.operations.table import ACTIONS, takes
from conformance.histories.walk import NEEDS, Plan, creations, offer_of
from conformance.runlog import Run
from conformance.runlog.folder import new_run_folder
from conformance.spec.followed_readings import FirstSeen, FollowedReadings, possible
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import ExitCode, Outcome

if TYPE_CHECKING:
    from conformance.adapter.client import Client

WALKS = 20  # per plan, when no budget is given
STEPS = 30
EXAMPLES = 10  # per test of the suites; few are enough, as disputed names and fields are explicit examples
SHARE = 0.6  # of the budget, for the suites; the walks take the rest
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Inferred:
    """The readings that an implementation follows, and how the search ended.

    claims: reading to the alternative that the implementation declares. crashes: message of a driver crash to how often
    it happened. histories, calls: numbers over traces and walks. seconds: of the whole search. folder: run record of
    the suites, None when they did not run. sentence: the problem, if there was one.
    """

    conclusions: tuple[Conclusion, ...]
    behaviours: tuple[Behaviour, ...]
    crashes: Mapping[str, int]
    claims: Mapping[str, str]
    histories: int
    calls: int
    seconds: float
    implementation: str
    folder: Path | None
    exit_code: ExitCode
    sentence: str | None = None

    def __repr__(self) -> str:
        known = sum(one.status.value != "undecided" for one in self.conclusions)
        return f"<Inferred {known} of {len(self.conclusions)} readings, {len(self.behaviours)} behaviours fit none>"

    @property
    def refuted(self) -> dict[str, str]:
        """The claims that do not hold: the implementation follows another alternative, or none."""
        return _refuted(self.conclusions, self.claims)


def infer(
    *,
    adapter: str = "embedded",
    profile: str | None = None,
    seed: int = 0,
    budget_s: float | None = None,
    walks: int = WALKS,
    suites: str | None = None,
    with_suites: bool = True,
    out: Path | None = None,
    in_process: bool = False,
    deadline_ms: int = 10_000,
    on_progress: Progress | None = None,
) -> Inferred:
    """Find out which readings an implementation follows.

    walks: per plan, if no budget is given. budget_s: seconds. suites: a comma-separated list, None for all. Raises
    BadInput for an unknown name, ConnectorError for a bad connector, DriverUnusable for a missing driver.
    """
    from conformance.harness.connecting import check_connector, open_client

    _check(profile, suites, out)
    check_connector(adapter, in_process=in_process)
    began = time.monotonic()
    report: Progress = on_progress or (lambda done, total, text: None)
    inference = Inference()
    state = new_scratch("mqconform-infer-")
    options = _options(profile, seed)
    folder: Path | None = None
    sentence: str | None = None

    def driver() -> closing[Client]:
        return closing(
            open_client(
                adapter, state_dir=state, in_process=in_process, deadline_ms=deadline_ms, profile=options.profile
            )
        )

    try:
        with driver() as client:
            name, claims = f"{client.hello.name} {client.hello.version}", dict(client.hello.readings)
            queues = all(client.offers(method) for method in NEEDS)
            if queues:
                _run_traces(inference, client, options, report)
        if with_suites:
            folder, sentence = _run_suites(
                inference,
                report,
                adapter=adapter,
                profile=profile,
                suites=suites,
                seed=seed,
                out=out,
                in_process=in_process,
                deadline_ms=deadline_ms,
                budget_s=None if budget_s is None else max(1.0, (budget_s - (time.monotonic() - began)) * SHARE),
            )
        if queues:
            remove_tree(state)
            with driver() as client:
                until = None if budget_s is None else began + budget_s
                _run_walks(inference, client, options, walks, until, report)
    finally:
        remove_tree(state)
    inference.settle()
    conclusions = tuple(inference.conclusions())
    code, why = _exit(inference, conclusions, claims)
    return Inferred(
        conclusions,
        tuple(inference.behaviours.values()),
        dict(inference.crashes),
        claims,
        inference.histories,
        inference.calls,
        time.monotonic() - began,
        name,
        folder,
        code,
        why or sentence,
    )


def _check(profile: str | None, suites: str | None, out: Path | None) -> None:
    from conformance.command_options import BadInput, check_folder, check_words
    from conformance.harness.suite_registry import UnknownSuite, select

    check_words(profile=profile, level="may", readings="permissive")
    check_folder(out)
    try:
        select(suites)
    except UnknownSuite as error:
        raise BadInput(str(error)) from None


def _options(profile: str | None, seed: int) -> RunOptions:
    return RunOptions(
        profile=profile or DEFAULT_PROFILE,
        level="may",
        readings=every_alternative(),
        reading_set="permissive",
        seed=seed,
        stateful_steps=STEPS,
    )


def _refuted(conclusions: Iterable[Conclusion], claims: Mapping[str, str]) -> dict[str, str]:
    return {
        found.reading: claims[found.reading]
        for found in conclusions
        if found.reading in claims and claims[found.reading] not in found.left
    }


def _exit(
    inference: Inference, conclusions: tuple[Conclusion, ...], claims: Mapping[str, str]
) -> tuple[ExitCode, str | None]:
    broken = inference.behaviours or inference.crashes or _refuted(conclusions, claims)
    if broken or any(found.status is Status.BOTH_WAYS for found in conclusions):
        return ExitCode.DEVIATES, None
    if all(found.status is Status.UNDECIDED for found in conclusions):
        return ExitCode.NOTHING_JUDGED, "Nothing was judged: what the driver offers decides no reading."
    return ExitCode.CONFORMS, None


def _run_traces(inference: Inference, client: Client, options: RunOptions, report: Progress) -> None:
    traces = shipped()
    for number, trace in enumerate(traces):
        report(number, len(traces), "traces")
        methods = {call.method for call in trace.calls}
        if not all(client.keeps_state if method == "restart" else client.offers(method) for method in methods):
            continue
        if any(name in inference.left(trace.reading) for name in trace.rules_out):
            _take(inference, client, partial(evidence, options=options, calls=trace.calls))
            inference.traced.add(trace.reading)


def _run_walks(
    inference: Inference, client: Client, options: RunOptions, walks: int, until: float | None, report: Progress
) -> None:
    known = [(name, plan) for name, plan in vars(plans).items() if isinstance(plan, Plan) and _possible(plan, client)]
    turn = 0
    while (turn < walks) if until is None else (time.monotonic() < until):
        for number, (name, plan) in enumerate(known):
            if until is not None and time.monotonic() >= until:
                break
            report(turn, max(walks, turn + 1), f"walks: {name.lower().replace('_', ' ')}")
            seed = options.seed + turn * len(known) + number
            _take(inference, client, partial(walked, options=options, plan=plan, seed=seed))
        turn += 1


def _possible(plan: Plan, client: Client) -> bool:
    """True if the driver offers what a plan requires. Other plans do without the actions that are not offered."""
    if plan.subqueues and not client.offers("messages.move"):
        return False
    offer = offer_of(client)
    actions = all(ACTIONS[name].offered(offer) for name in plan.actions)
    if not all(takes(offer, call) for call in creations(plan)):
        return False
    return not plan.opening or (actions and all(client.offers(call.method) for call in plan.opening))


def _take(inference: Inference, client: Client, history: Callable[..., Evidence]) -> None:
    """Add a history to the evidence. If the driver crashes in it, the next history starts it again."""
    try:
        inference.take(history(client=GuardedClient(client)))
    except NotAccepted:
        return  # The driver refuses a value of this history, so the history is no evidence.
    except DriverGone as gone:
        inference.crashes[gone.fault.sentence] = inference.crashes.get(gone.fault.sentence, 0) + 1


def _run_suites(inference: Inference, report: Progress, *, out: Path | None, **wanted: Any) -> tuple[Path, str | None]:
    """Run the suites with every alternative accepted, and add the readings their verdicts assumed to the evidence."""
    from conformance.command_options import BadInput
    from conformance.run import run

    result = run(
        level="must",
        readings="permissive",
        chosen=[f"{reading}={'|'.join(names)}" for reading, names in every_alternative().items() if len(names) > 1],
        max_examples=EXAMPLES,
        out=out or new_run_folder("infer"),
        on_progress=lambda at: report(at.done, at.total, f"suite {at.suite}"),
        **wanted,
    )
    if result.exit_code is ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if result.exit_code is ExitCode.BAD_INPUT:
        raise BadInput(result.sentence)
    if result.record is not None:
        take_run(inference, result.record)
    return result.folder, result.sentence


def take_run(inference: Inference, run: Run) -> None:
    """Add a run that accepted every alternative to the evidence."""
    whole = FollowedReadings()
    for said in run.said:
        if not said.provisional and said.suite != CONCLUSION:
            first = run.first(said)
            whole.add(first.verdict, first.test)
            if said.outcome is Outcome.PASS:
                inference.held.add(said.requirement)
    for reading, left in whole.followed().items():
        _take_sights(inference, reading, frozenset(left), whole.sights(reading))
    for number, said in run.numbered():
        if said.outcome is Outcome.FAIL and not said.provisional and said.suite != CONCLUSION:
            recorded = run.verdicts.at(number)
            story = run.story(recorded.id)
            steps = tuple(step.text for step in story.steps) if story is not None else ()
            inference.behave(Behaviour(recorded.verdict, steps, recorded.test))


def _take_sights(inference: Inference, reading: str, left: frozenset[str], sights: Mapping[str, FirstSeen]) -> None:
    def proof(named: str) -> Proof:
        sight = sights[named]
        return Proof((f"{sight.subject}: as {named} has it ({sight.requirement})",), sight.where)

    inference.split.add(reading)
    gone = [name for name in inference.every[reading] if name not in left]
    if not left:
        inference.both_ways.setdefault(reading, tuple(proof(named) for named in sights))
        return
    for alternative in gone:
        inference.rule_out(
            reading, [alternative], proof(next(named for named in sights if alternative not in possible(named)))
        )
