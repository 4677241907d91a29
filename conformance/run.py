"""`mqconform run` as a function: drive pytest over the suites, and say what came of it."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.runlog import Run, RunRecordError, read_run
from conformance.spec.catalogue import CatalogueError, chosen_readings, did_you_mean
from conformance.spec.versions import LEVELS, PROFILES, READING_SETS
from conformance.suites.registry import UnknownSuite, select, suites_folder
from conformance.verdict import ExitCode, exit_code


class BadInput(ValueError):
    """The caller asked for something that does not exist or cannot be done; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: tests done of total, the suite at work, deviations and requirements so far."""

    done: int
    total: int
    suite: str
    deviations: int


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run ended with. record is None when nothing could be recorded; sentence says why a run has no verdicts."""

    exit_code: ExitCode
    folder: Path
    record: Run | None
    sentence: str | None = None


def run(
    *,
    adapter: str = "embedded",
    suites: str | None = None,
    profile: str | None = None,
    level: str = "must",
    readings: str = "windows",
    chosen: Sequence[str] = (),
    seed: int = 0,
    out: Path | None = None,
    max_examples: int = 30,
    steps: int = 30,
    budget_s: float | None = None,
    in_process: bool = False,
    deadline_ms: int = 10_000,
    disable: Sequence[str] = (),
    fail_fast: bool = False,
    pytest_args: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> RunResult:
    """Judge an implementation. `suites` is a comma-separated list (None: all); `pytest_args` are pytest's own.

    chosen: `ID=alternative` for each reading decided apart from the reading set.

    Raises BadInput for a word that names nothing, and for an output folder that cannot be written.
    """
    from conformance.adapter.errors import ConnectorError
    from conformance.suites.connecting import check_connector

    check_words(profile=profile, level=level, readings=readings)
    check_chosen(chosen)
    try:
        wanted = select(suites)
        check_connector(adapter, in_process=in_process)
    except UnknownSuite as error:
        raise BadInput(str(error)) from None
    except ConnectorError as error:
        raise BadInput(error.sentence) from None
    folder = prepare_folder(out)
    arguments = [
        *(str(module) for modules in wanted.values() for module in modules),
        "-c=/dev/null",
        f"--rootdir={suites_folder()}",
        "-p",
        "conformance.plugin",
        "-p",
        "no:cacheprovider",
        f"--mq-adapter={adapter}",
        f"--mq-level={level}",
        f"--mq-readings={readings}",
        *(f"--mq-reading={word}" for word in chosen),
        f"--mq-seed={seed}",
        f"--mq-out={folder}",
        f"--mq-max-examples={max_examples}",
        f"--mq-steps={steps}",
        f"--mq-deadline={deadline_ms}",
        *([f"--mq-profile={profile}"] if profile else []),
        *([f"--mq-budget={budget_s}"] if budget_s is not None else []),
        *(["--mq-in-process"] if in_process else []),
        *([f"--mq-disable={','.join(disable)}"] if disable else []),
        *(["-x"] if fail_fast else []),
        *pytest_args,
    ]
    status, log = _drive_pytest(arguments, folder, bool(pytest_args), on_progress)
    return _conclude(status, log, folder, readings)


def check_words(*, profile: str | None, level: str, readings: str) -> None:
    """Raise BadInput, with the nearest word, for a profile, level or reading set that does not exist."""
    _known("profile", profile, PROFILES)
    _known("level", level, LEVELS)
    _known("reading set", readings, READING_SETS)


def check_chosen(words: Sequence[str]) -> dict[str, str]:
    """`ID=alternative` words as reading id to alternative. Raises BadInput, with the nearest word, for a wrong one."""
    try:
        return chosen_readings(words)
    except CatalogueError as error:
        raise BadInput(f"There is {error}" if str(error).endswith("?") else f"There is {error}.") from None


def _known(what: str, value: str | None, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        hint = did_you_mean(value, known) or "."
        raise BadInput(f"There is no {what} {value!r}{hint} Known: {', '.join(known)}.")


def prepare_folder(out: Path | None, *, kind: str = "run") -> Path:
    """The run folder, ready to be written. An earlier record in it moves to `earlier/`, it is never overwritten.

    Raises BadInput when it cannot be made or written.
    """
    from conformance.suites.run_hooks import new_run_folder

    folder = (out or new_run_folder(kind)).absolute()
    try:
        while out is None:  # two runs that begin at once must not share a folder
            try:
                folder.mkdir(parents=True)
                break
            except FileExistsError:
                folder = new_run_folder(kind).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        old = [
            *folder.glob("run-*.ndjson"),
            *(folder / name for name in ("report.html", "repros", "pytest.log")),
            *folder.glob("driver-*.log"),
        ]
        if any(path.suffix == ".ndjson" for path in old):
            keep = folder / "earlier" / time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            number = 1
            while keep.exists():
                number += 1
                keep = keep.with_name(f"{keep.name.split('_')[0]}_{number}")
            keep.mkdir(parents=True)
            for path in old:
                if path.exists():
                    path.rename(keep / path.name)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadInput(
            f"The output folder {folder} cannot be written ({error.strerror}); name another one with --out."
        ) from None
    return folder


class _Watcher:
    """A plugin of the process that drives pytest: counts tests as they end."""

    def __init__(self, report: Callable[[Progress], None] | None) -> None:
        self._report = report
        self._total = 0
        self._done = 0
        self._deviations = 0

    def pytest_collection_finish(self, session: Any) -> None:
        self._total = len(session.items)

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._total = len(ids)

    pytest_xdist_node_collection_finished.optionalhook = True  # type: ignore[attr-defined]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.failed:
            self._deviations += 1
        if report.when == "teardown":
            self._done += 1
            if self._report is not None:
                suite = report.nodeid.split("/")[0]
                self._report(Progress(self._done, self._total, suite, self._deviations))


class _Tail(io.TextIOBase):
    """A text stream that writes to a file and remembers the last lines, to explain pytest's own complaints."""

    def __init__(self, file: io.TextIOBase) -> None:
        self._file = file
        self.text = ""

    def write(self, text: str) -> int:
        self._file.write(text)
        self.text = (self.text + text)[-4000:]
        return len(text)

    def flush(self) -> None:
        self._file.flush()

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True


def _drive_pytest(
    arguments: list[str], folder: Path, loud: bool, on_progress: Callable[[Progress], None] | None
) -> tuple[int, str]:
    """Run pytest with its output in `pytest.log`, or on stderr when the caller passed options of pytest."""
    import pytest

    from conformance.suites.collecting import rarely_collecting

    with (
        _log(folder, loud) as tail,
        contextlib.redirect_stdout(tail),
        contextlib.redirect_stderr(tail),
        rarely_collecting(),
    ):
        status = pytest.main(arguments, plugins=[_Watcher(on_progress)])
    return int(status), tail.text


@contextlib.contextmanager
def _log(folder: Path, loud: bool) -> Iterator[_Tail]:
    if loud:
        yield _Tail(sys.stderr)  # type: ignore[arg-type]
        return
    with (folder / "pytest.log").open("w", encoding="utf-8", errors="backslashreplace") as file:
        yield _Tail(file)


def _conclude(status: int, log: str, folder: Path, readings: str) -> RunResult:
    """Map pytest's status and the run record to our exit code. pytest's own codes are never passed through."""
    try:
        record = read_run(folder)
    except RunRecordError as error:
        complaint = _complaint(log)
        if status == 4:
            return RunResult(ExitCode.BAD_INPUT, folder, None, complaint or str(error))
        return RunResult(ExitCode.HARNESS_ERROR, folder, None, complaint or str(error))
    code = exit_code((entry.verdict.outcome for entry in record.verdicts), strict=readings == "strict")
    reason = record.footer.stop_reason if record.footer else "error"
    if reason == "interrupted":
        return RunResult(ExitCode.INTERRUPTED, folder, record, "The run was interrupted; what was judged is kept.")
    if reason == "driver-unusable" and code in (ExitCode.NOTHING_JUDGED, ExitCode.CONFORMS):
        said = [event.text for event in record.driver if event.what == "unusable"]
        sentence = said[-1] if said else "The driver could not be used."
        refused = status == ExitCode.BAD_INPUT and record.hello is None
        return RunResult(ExitCode.BAD_INPUT if refused else ExitCode.UNUSABLE, folder, record, sentence)
    if status == 4:
        return RunResult(ExitCode.BAD_INPUT, folder, record, _complaint(log) or "pytest refused its arguments.")
    unproven = code in (ExitCode.CONFORMS, ExitCode.NOTHING_JUDGED)
    if unproven and (status in (1, 2, 3) or not record.complete):
        kept = folder / "pytest.log"
        where = str(kept) if kept.exists() else "the output of pytest"
        what = "A test failed without saying what is wrong" if status == 1 else "The run did not finish"
        return RunResult(ExitCode.HARNESS_ERROR, folder, record, f"{what}; see {where}.")
    if code is ExitCode.NOTHING_JUDGED:
        why = "no test was selected" if status == 5 else "every test was skipped or inconclusive"
        return RunResult(code, folder, record, f"Nothing was judged: {why}.")
    return RunResult(code, folder, record)


def _complaint(log: str) -> str | None:
    """pytest's own error line, without its usage text."""
    for line in reversed(log.splitlines()):
        found = line.strip()
        for mark in ("ERROR: ", "error: "):
            if mark in found:
                return found.split(mark, 1)[1]
    return None
