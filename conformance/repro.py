"""`mqconform repro` as a function: run recorded deviations again. Each answer is FIXED, FAILED or ERROR."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.harness.guarded_client import DriverGone
from conformance.harness.recorder import RunOptions
from conformance.harness.rejudge import EndedEarly, NotRepeatable, rejudge
from conformance.harness.run_session import REPRO_FORMAT
from conformance.report.text import spoken
from conformance.scratch import new_scratch, remove_tree
from conformance.spec.catalogue import CatalogueError, assignment, requirement
from conformance.spec.renaming import in_current_words
from conformance.spec.versions import LEVELS, PROFILES
from conformance.verdict import ExitCode, Outcome, Verdict

MAX_FILE = 64 << 20
FIXED, FAILED, ERROR = "FIXED", "FAILED", "ERROR"


class ReproError(ValueError):
    """A repro file cannot be used; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Repro:
    """The content of a repro file. `data` is in the suite's own format; `verdict` is the deviation found."""

    path: Path
    suite: str
    options: RunOptions
    verdict: Verdict
    story: tuple[str, ...]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """FIXED, FAILED or ERROR for one repro file, with a one-line reason. exit_code is for this file alone."""

    path: Path
    requirement: str
    answer: str
    text: str
    exit_code: ExitCode
    verdicts: tuple[Verdict, ...] = ()


def load(path: Path, chosen: Mapping[str, str] | None = None) -> Repro:
    """Read a repro file. chosen: readings that replace those decided by the run. Raises ReproError."""
    return understood(stored(path), path, chosen)


def stored(path: Path) -> Any:
    """Return the JSON value of a file. Raises ReproError."""
    try:
        if path.stat().st_size > MAX_FILE:
            raise ReproError(f"{path} is larger than any repro file ({MAX_FILE >> 20} MiB).")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReproError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        raise ReproError(f"{path} is not a repro file: it is not JSON.") from None


def understood(content: Any, path: Path, chosen: Mapping[str, str] | None = None) -> Repro:
    """Check the content of a repro file. path: the file, for messages. Raises ReproError."""
    try:
        if content["format"] != REPRO_FORMAT:
            raise ReproError(f"{path} has format {content['format']!r}; this version reads format {REPRO_FORMAT}.")
        if "cut" in content:
            size = f"{int(content['cut']):,} characters"
            raise ReproError(f"{path} cannot be repeated: its example was too long to be stored ({size}).")
        content = in_current_words(content)
        verdict = Verdict.from_json(content["verdict"])
        requirement(verdict.requirement)
        if content["profile"] not in PROFILES or content["level"] not in LEVELS:
            raise ValueError("profile or level")
        decided = {**content.get("chosen", {}), **(chosen or {})}
        options = RunOptions(
            profile=content["profile"],
            level=content["level"],
            readings=assignment(content["reading_set"], decided),
            reading_set=content["reading_set"],
            seed=int(content["seed"]),
            max_examples=1,
            stateful_steps=1,
            chosen=decided,
        )
        story = tuple(map(str, content["story"]))
        return Repro(path, str(content["suite"]), options, verdict, story, dict(content["repro"]))
    except CatalogueError as error:
        raise ReproError(f"{path} was written by another version of mqconform: {error}.") from None
    except ReproError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise ReproError(f"{path} is not a repro file: members are missing or of the wrong type.") from None


def find(path: Path) -> list[Path]:
    """Return the repro files at a path: a file, a folder, or a run folder with `repros/`. Raises ReproError if none."""
    if path.is_dir():
        inner = path / "repros"
        files = sorted((inner if inner.is_dir() else path).glob("*.json"))
        if not files:
            raise ReproError(f"The folder {path} holds no repro file.")
        return files
    if not path.exists():
        raise ReproError(f"There is no file or folder {path}.")
    return [path]


def repro(
    path: Path,
    *,
    adapter: str = "embedded",
    deadline_ms: int = 10_000,
    in_process: bool = False,
    chosen: Mapping[str, str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Answer]:
    """Run every repro file at `path` again. chosen: reading id to the one accepted alternative.

    Raises ReproError if there is no file, ConnectorError for a bad connector, DriverUnusable for a missing driver.
    """
    from conformance.harness.connecting import check_connector

    check_connector(adapter, in_process=in_process)
    files = find(path)
    answers = []
    for number, file in enumerate(files):
        answers.append(_again(file, adapter, deadline_ms, in_process, chosen))
        if on_progress is not None:
            on_progress(number + 1, len(files))
    return answers


def again(
    content: Mapping[str, Any],
    *,
    adapter: str = "embedded",
    deadline_ms: int = 10_000,
    in_process: bool = False,
    chosen: Mapping[str, str] | None = None,
) -> Answer:
    """Run the content of a repro file again. The pytest files that `write_tests` makes call this.

    Raises ConnectorError for a bad connector, DriverUnusable for a missing driver.
    """
    from conformance.harness.connecting import check_connector

    check_connector(adapter, in_process=in_process)
    try:
        found = understood(content, Path("this repro"), chosen)
    except ReproError as error:
        return Answer(Path("this repro"), "", ERROR, str(error), ExitCode.BAD_INPUT)
    return _run_again(found, adapter, deadline_ms, in_process)


def write_tests(path: Path) -> list[Path]:
    """Write a pytest file and a sequence diagram beside each repro file at `path`. Raises ReproError."""
    from conformance.harness.repro_files import write_beside

    written: list[Path] = []
    for file in find(path):
        content = stored(file)
        understood(content, file)
        try:
            written += write_beside(file, content)
        except OSError as error:
            raise ReproError(f"Nothing can be written beside {file} ({error.strerror}).") from None
    return written


def _again(path: Path, adapter: str, deadline_ms: int, in_process: bool, chosen: Mapping[str, str] | None) -> Answer:
    try:
        found = load(path, chosen)
    except ReproError as error:
        return Answer(path, "", ERROR, str(error), ExitCode.BAD_INPUT)
    return _run_again(found, adapter, deadline_ms, in_process)


def _run_again(found: Repro, adapter: str, deadline_ms: int, in_process: bool) -> Answer:
    from conformance.adapter.errors import AdapterError, DriverFault
    from conformance.harness.connecting import open_client
    from conformance.harness.guarded_client import GuardedClient

    path, name = found.path, found.verdict.requirement
    state = new_scratch("mqconform-repro-")
    try:
        client = open_client(
            adapter,
            state_dir=state,
            in_process=in_process,
            deadline_ms=deadline_ms,
            profile=found.options.profile,
        )
        try:
            if client.offers("reset"):
                client.call("reset")
            guarded = GuardedClient(client)
            verdicts = rejudge(found.suite, found.data, guarded, found.options)
        finally:
            client.close()
    except DriverGone as gone:
        if found.verdict.outcome in (Outcome.CRASH, Outcome.TIMEOUT):
            return Answer(path, name, FAILED, gone.fault.sentence, ExitCode.DEVIATES)
        return Answer(path, name, ERROR, gone.fault.sentence, ExitCode.UNUSABLE)
    except DriverFault as fault:
        return Answer(path, name, ERROR, fault.sentence, ExitCode.UNUSABLE)
    except AdapterError as error:
        return Answer(path, name, ERROR, error.sentence, ExitCode.UNUSABLE)
    except EndedEarly as error:
        return Answer(path, name, ERROR, str(error), ExitCode.NOTHING_JUDGED)
    except NotRepeatable as error:
        return Answer(path, name, ERROR, str(error), ExitCode.BAD_INPUT)
    finally:
        remove_tree(state)
    return _answer(path, found, verdicts)


def _answer(path: Path, found: Repro, verdicts: list[Verdict]) -> Answer:
    name = found.verdict.requirement
    failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    if failed:
        other = "" if failed[0].requirement == name else f" (now {failed[0].requirement})"
        text = f"expected {spoken(failed[0].expected)}, got {spoken(failed[0].actual)}{other}"
        return Answer(path, name, FAILED, text, ExitCode.DEVIATES, tuple(verdicts))
    if not verdicts:
        return Answer(path, name, ERROR, "The example judged nothing on this implementation.", ExitCode.NOTHING_JUDGED)
    return Answer(path, name, FIXED, f"{len(verdicts)} verdicts, none fails", ExitCode.CONFORMS, tuple(verdicts))
