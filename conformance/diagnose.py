"""`mqconform diagnose` as a function: which faults of the dictionary are the common causes of what deviates."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance import __version__
from conformance.explaining.causes import Explained, explain, story_of
from conformance.explaining.playing import Implementation, Told, implementation_of, once, stored
from conformance.report.findings import CommonCause, Diagnosis, NotDiagnosed, followed
from conformance.report.records import read_run
from conformance.runlog import Run, RunRecordError
from conformance.spec.versions import DEFAULT_PROFILE

SECONDS = 60.0


def diagnose(
    record: Path | Run,
    *,
    faults: Sequence[str] = (),
    seconds: float = SECONDS,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Diagnosis:
    """Return the causes of a run's deviations.

    faults: those to try (none: all that its histories may show). seconds: when the search ends. jobs: processes at
    once. on_progress: called with the
    faults tried and all of them.

    Raises UnknownFault, and NotDiagnosed for a path without a usable record or a record without a failed history.
    """
    try:
        run = record if isinstance(record, Run) else read_run(record)
    except RunRecordError as error:
        raise NotDiagnosed(str(error)) from None
    began = time.monotonic()
    every = list(stored(run))
    failed = once([told for told in every if told.failed])
    if not failed:
        raise NotDiagnosed(
            "There is nothing to diagnose: the run record has no failed example with its calls and answers."
        )
    passed = once([told for told in every if not told.failed])
    found = explain(
        failed, passed, implementation(run), faults=faults, seconds=seconds, jobs=jobs, on_progress=on_progress
    )
    return _diagnosis(run, found, time.monotonic() - began)


def implementation(run: Run) -> Implementation:
    """Return what a record tells of its implementation. A reading followed both ways is as in the embedded manager."""
    followed_once = {name: chosen for name, chosen, _ in followed(run) if " or " not in chosen and " way" not in chosen}
    return implementation_of(run.hello or {}, str(run.header.profile or DEFAULT_PROFILE), followed_once)


def _diagnosis(run: Run, found: Explained, seconds: float) -> Diagnosis:
    deviations = tuple(dict.fromkeys(name for told in found.stories for name in told.failed))
    causes = []
    agreeing: set[int] = set()
    for cause in found.causes:
        before = _whole(found.stories, agreeing)
        agreeing |= set(cause.explains)
        whole = _whole(found.stories, agreeing)
        requirements = tuple(name for name in deviations if name in whole and name not in before)
        causes.append(
            CommonCause(
                cause.names, story_of(cause.name), requirements, len(cause.explains), cause.contradicted, cause.further
            )
        )
    return Diagnosis(
        run_id=run.header.run_id,
        version=__version__,
        deviations=deviations,
        histories=len(found.stories),
        passed=found.passed,
        causes=tuple(causes),
        same=len(found.same),
        left=len(found.left),
        late=found.late,
        seconds=round(seconds, 1),
    )


def _whole(stories: tuple[Told, ...], agreeing: set[int]) -> set[str]:
    """Return the requirements all of whose failed stories agree."""
    lacking = {name for at, told in enumerate(stories) if at not in agreeing for name in told.failed}
    return {name for told in stories for name in told.failed} - lacking
