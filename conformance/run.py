"""`mqconform run` as a function: drive pytest over the suites, and say what came of it."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from conformance.asking import BadInput, RunResult, check_chosen, check_words, prepare_folder
from conformance.calling import calls
from conformance.runlog import RunRecordError, read_run
from conformance.suites.registry import UnknownSuite, select, suites_folder
from conformance.verdict import ExitCode, exit_code
from conformance.watching import Progress, Watcher

__all__ = ["BadInput", "Progress", "RunResult", "check_chosen", "check_words", "prepare_folder", "run"]


def run(
    *,
    adapter: str = "embedded",
    suites: str | Sequence[str] | None = None,
    profile: str | None = None,
    level: str = "must",
    readings: str = "windows",
    chosen: Sequence[str] = (),
    seed: int = 0,
    out: Path | str | None = None,
    max_examples: int = 30,
    steps: int = 30,
    budget_s: float | None = None,
    in_process: bool = False,
    deadline_ms: int = 10_000,
    disable: Sequence[str] = (),
    fail_fast: bool = False,
    max_failures: int | None = None,
    workers: int = 1,
    pytest_args: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> RunResult:
    """Judge an implementation, and record it.

    adapter: a connector, `embedded`, `stdio:COMMAND`, ... suites: their names, or a comma-separated list of them (None:
    all). profile: `msmq-1.0` to `msmq-6.0`. level: `must`, `should` or `may`. readings: `windows`, `strict` or
    `permissive`. chosen: `ID=alternative` for each reading decided apart from the reading set. max_examples, steps:
    generated examples a test, steps of a stateful one. budget_s: seconds after which no further test begins.
    fail_fast, max_failures: end at the first test that finds a deviation, or after so many. workers: tests at once,
    each with a driver of its own. disable: requirements whose check is switched off. pytest_args: pytest's own
    arguments. on_progress: called as each test ends.

    Raises BadInput for a word that names nothing, and for an output folder that cannot be written. Whatever becomes of
    the run itself, a driver that cannot be used among it, is told by what is returned.
    """
    from conformance.adapter.errors import ConnectorError
    from conformance.suites.connecting import check_connector

    check_words(profile=profile, level=level, readings=readings)
    check_chosen(chosen)
    try:
        wanted = select(suites if suites is None or isinstance(suites, str) else ",".join(suites))
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
        *([f"--maxfail={1 if fail_fast else max_failures}"] if fail_fast or max_failures else []),
        *(["-n", str(workers)] if workers > 1 else []),
        *pytest_args,
    ]
    status, log = _drive_pytest(arguments, folder, bool(pytest_args), Watcher(on_progress, budget_s))
    return _conclude(status, log, folder, readings)


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


def _drive_pytest(arguments: list[str], folder: Path, loud: bool, watcher: Watcher) -> tuple[int, str]:
    """Run pytest with its output in `pytest.log`, or on stderr when the caller passed options of pytest."""
    import pytest

    from conformance.suites.collecting import rarely_collecting

    with (
        _log(folder, loud) as tail,
        contextlib.redirect_stdout(tail),
        contextlib.redirect_stderr(tail),
        rarely_collecting(),
    ):
        status = pytest.main(arguments, plugins=[watcher])
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


calls(__name__, "run")
