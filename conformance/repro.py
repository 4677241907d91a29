"""`mqconform repro` as a function: run deviations again. An answer is FIXED only without a `_doubt`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.files import UnfitError, json_value, text_of
from conformance.harness.guarded_client import DriverGone
from conformance.harness.recorder import RunOptions
from conformance.harness.repro_files import (
    NOBODY,
    Antecedents,
    Asked,
    EndedEarly,
    NotRepeatable,
    alone,
    antecedents_of,
    asked_of,
    by_calls_alone,
    without_secrets,
)
from conformance.harness.run_session import REPRO_FORMAT
from conformance.report.text import inline_text
from conformance.runlog.events import stored_verdict
from conformance.spec.catalogue import CatalogueError, assignment, in_current_words, requirement
from conformance.spec.versions import LEVELS, PROFILES
from conformance.suggest import near_file
from conformance.verdict import ExitCode, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.adapter.protocol import Hello

MAX_FILE = 64 << 20
FIXED, FAILED, ERROR, NOT_REPRODUCED = "FIXED", "FAILED", "ERROR", "not reproduced"


class ReproError(ValueError):
    """A repro file cannot be used; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Repro:
    """The content of a repro file. `data` is in the suite's own format; `verdict` is the deviation of who was asked.

    alone: the run saw it again by itself, in a new process, with the same readings.
    """

    path: Path
    suite: str
    options: RunOptions
    verdict: Verdict
    data: Mapping[str, Any]
    asked: Asked
    before: Antecedents
    alone: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one repro file, with a one-line reason. exit_code is for this file alone. recorded: the file's."""

    path: Path
    requirement: str
    answer: str
    text: str
    exit_code: ExitCode
    verdicts: tuple[Verdict, ...] = ()
    asked: Asked = NOBODY
    recorded: Asked = NOBODY


def load(path: Path, chosen: Mapping[str, str] | None = None) -> Repro:
    """Read a repro file. chosen: readings that replace those decided by the run. Raises ReproError."""
    return understood(stored(path), path, chosen)


def stored(path: Path) -> Any:
    """Return the JSON value of a file. Raises ReproError."""
    try:
        return json_value(text_of(path, MAX_FILE))
    except OSError as error:
        raise ReproError(f"{path} cannot be read ({error.strerror}).") from None
    except UnfitError as unfit:
        raise ReproError(f"{path} is not a repro file: it {unfit}.") from None


def understood(content: Any, path: Path, chosen: Mapping[str, str] | None = None) -> Repro:
    """Check the content of a repro file. path: the file, for messages. Raises ReproError."""
    try:
        if content["format"] != REPRO_FORMAT:
            raise ReproError(f"{path} has format {content['format']!r}; this version reads format {REPRO_FORMAT}.")
        if "cut" in content:
            size = f"{int(content['cut']):,} characters"
            raise ReproError(f"{path} cannot be repeated: its example was too long to be stored ({size}).")
        content = in_current_words(content)
        verdict = stored_verdict(content["verdict"])
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
            chosen=decided,
        )
        asked, before = asked_of(content.get("asked") or {}), antecedents_of(content.get("before") or {})
        once = content.get("alone") is True and decided == content.get("chosen", {})
        return Repro(path, str(content["suite"]), options, verdict, dict(content["repro"]), asked, before, once)
    except CatalogueError as error:
        raise ReproError(f"{path} was written by another version of mqconform: {error}.") from None
    except ReproError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
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
        raise ReproError(f"There is no file or folder {path}{near_file(path)}")
    return [path]


def repro(
    path: Path,
    *,
    adapter: str | None = None,
    deadline_ms: int = 10_000,
    in_process: bool = False,
    chosen: Mapping[str, str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Answer]:
    """Run every repro file at `path` again. chosen: reading id to the one accepted alternative.

    adapter: None asks the embedded implementation about its own deviations, and nobody else. Raises ReproError if there
    is no file, ConnectorError for a bad connector, DriverUnusable for a missing driver.
    """
    from conformance.harness.connecting import check_connector

    if adapter is not None:
        check_connector(adapter, in_process=in_process)
    files = find(path)
    answers = []
    for number, file in enumerate(files):
        answers.append(_again(file, partial(load, file, chosen), adapter, deadline_ms, in_process))
        if on_progress is not None:
            on_progress(number + 1, len(files))
    return answers


def again(
    content: Mapping[str, Any],
    *,
    adapter: str | None = None,
    deadline_ms: int = 10_000,
    in_process: bool = False,
    chosen: Mapping[str, str] | None = None,
) -> Answer:
    """Run the content of a repro file again. The pytest files that `write_tests` makes call this. adapter: see `repro`.

    Raises ConnectorError for a bad connector, DriverUnusable for a missing driver.
    """
    from conformance.harness.connecting import check_connector

    if adapter is not None:
        check_connector(adapter, in_process=in_process)
    path = Path("this repro")
    return _again(path, lambda: understood(content, path, chosen), adapter, deadline_ms, in_process)


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
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise ReproError(f"{file} is not a repro file: members are missing or of the wrong type.") from None
    return written


def _again(path: Path, loaded: Callable[[], Repro], adapter: str | None, deadline_ms: int, in_process: bool) -> Answer:
    try:
        found = loaded()
    except ReproError as error:
        return Answer(path, "", ERROR, str(error), ExitCode.BAD_INPUT)
    named = found.asked.connector
    if adapter is None and not re.fullmatch(r"embedded(?:\+[\w=,.-]+)?", named or ""):
        shown = named if named and named.isprintable() else "CONNECTOR"  # what could hide or move text is not shown
        command = f"mqconform repro {shlex.quote(str(path))} --adapter {shlex.quote(shown)}"
        text = f"say who is to be asked (MQCONFORM_ADAPTER in pytest): {command}"
        return Answer(path, found.verdict.requirement, ERROR, text, ExitCode.BAD_INPUT, recorded=found.asked)
    connector = adapter or named or ""
    greeted: list[Hello] = []
    answer = _played(found, connector, deadline_ms, in_process, greeted)
    asked = Asked(without_secrets(connector))
    for hello in greeted[-1:]:
        asked = asked._replace(name=hello.name, version=hello.version)
        doubt = _doubt(found, asked, hello, answer.verdicts) if answer.answer == FIXED else None
        if doubt is not None:
            answer = replace(answer, answer=NOT_REPRODUCED, text=doubt, exit_code=ExitCode.NOTHING_JUDGED)
    return replace(answer, asked=asked, recorded=found.asked)


def _played(found: Repro, connector: str, deadline_ms: int, in_process: bool, greeted: list[Hello]) -> Answer:
    """Play the example alone and, if it does not fail, after what went before it. The answer may be too sure."""
    from conformance.adapter.errors import AdapterError, ConnectorError
    from conformance.harness.connecting import open_client

    def opened(state: Path) -> Client:
        profile = found.options.profile
        asked = open_client(connector, state_dir=state, in_process=in_process, deadline_ms=deadline_ms, profile=profile)
        greeted.append(asked.hello)
        return asked

    path, name = found.path, found.verdict.requirement
    try:
        verdicts = alone(found.suite, found.data, opened, found.options)
        answer = _answer(path, found, verdicts)
        if answer.answer != FAILED and (found.before.starts or found.before.examples):
            verdicts = alone(found.suite, found.data, opened, found.options, found.before)
            answer = _answer(path, found, verdicts)
    except DriverGone as gone:
        if found.verdict.outcome in (Outcome.CRASH, Outcome.TIMEOUT):
            return Answer(path, name, FAILED, gone.fault.sentence, ExitCode.DEVIATES)
        return Answer(path, name, ERROR, gone.fault.sentence, ExitCode.UNUSABLE)
    except ConnectorError as error:
        return Answer(path, name, ERROR, error.sentence, ExitCode.BAD_INPUT)
    except AdapterError as error:
        return Answer(path, name, ERROR, error.sentence, ExitCode.UNUSABLE)
    except EndedEarly as error:
        return Answer(path, name, ERROR, str(error), ExitCode.NOTHING_JUDGED)
    except (NotRepeatable, RecursionError) as error:
        return Answer(path, name, ERROR, str(error), ExitCode.BAD_INPUT)
    return answer


def _doubt(found: Repro, asked: Asked, hello: Hello, verdicts: Sequence[Verdict]) -> str | None:
    """Return why an example that does not fail is no sign that something was mended; None where it is one."""
    name, outcome = found.verdict.requirement, found.verdict.outcome
    held = any(verdict.requirement == name and verdict.outcome is Outcome.PASS for verdict in verdicts)
    doubts = {
        f"it does not come again; a {outcome.value} need not come from the calls alone": outcome is not Outcome.FAIL,
        "it does not come here; the file does not say whose deviation it is": not found.asked.name,
        f"it does not come here; the deviation is of {found.asked}": not asked.is_of(found.asked),
        "it does not come again; it depends on time, or on clients at once": not by_calls_alone(found.data, hello),
        "nothing fails; but its requirement was not judged again": not held,
        "it does not come again; nor is it known to have come by itself, with these readings": not found.alone,
    }
    return next((why for why, so in doubts.items() if so), None)


def _answer(path: Path, found: Repro, verdicts: list[Verdict]) -> Answer:
    name = found.verdict.requirement
    failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    if failed:
        other = "" if failed[0].requirement == name else f" (now {failed[0].requirement})"
        text = f"expected {inline_text(failed[0].expected)}, got {inline_text(failed[0].actual)}{other}"
        return Answer(path, name, FAILED, text, ExitCode.DEVIATES, tuple(verdicts))
    if not verdicts:
        return Answer(path, name, ERROR, "The example judged nothing on this implementation.", ExitCode.NOTHING_JUDGED)
    return Answer(path, name, FIXED, f"verdicts: {len(verdicts)}, none fails", ExitCode.CONFORMS, tuple(verdicts))
