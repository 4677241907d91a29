"""Option checks, output folders and the result type shared by every command that judges."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from conformance.files import GONE, NoScratch, make_folder, new_scratch, remove_tree, working_folder_gone, write_bytes
from conformance.interrupts import work_begins
from conformance.runlog import Run
from conformance.runlog.events import REFUTING
from conformance.runlog.folder import new_run_folder
from conformance.spec.catalogue import CatalogueError, chosen_readings, did_you_mean
from conformance.spec.versions import LEVELS, PROFILES, READING_SETS
from conformance.verdict import ExitCode, Outcome, Verdict


class BadInput(ValueError):
    """An argument names something that does not exist, or asks for the impossible; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    folder: holds the run record and its other files. record: None when nothing could be recorded. sentence: why a run
    has no verdicts, or how it ended early.
    """

    exit_code: ExitCode
    folder: Path
    record: Run | None
    sentence: str | None = None

    def __repr__(self) -> str:
        counts = ", ".join(f"{number:,} {outcome.value}" for outcome, number in self.counts.items())
        told = f": {counts}" if counts else ""
        return f"<Run {self.exit_code.name.lower().replace('_', '-')}{told}, in {self.folder}>"

    @property
    def conforms(self) -> bool:
        """True if something was judged and nothing deviates."""
        return self.exit_code is ExitCode.CONFORMS

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts; equal ones once."""
        return tuple(each.verdict for each in self.record.verdicts) if self.record is not None else ()

    @property
    def deviations(self) -> tuple[Verdict, ...]:
        """The verdicts with outcome fail, crash, timeout or flaky."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome in REFUTING)

    @property
    def counts(self) -> dict[Outcome, int]:
        """Number of verdicts by outcome, repetitions included, worst first."""
        return self.record.counts if self.record is not None else {}


LONGEST = 64
"""Characters of the longest path below a run folder: the draft of a test beside a repro file."""
LONGEST_S = 90 * 24 * 3600
"""Seconds of the longest budget: 90 days."""
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """Convert `30s`, `5m` or `2h` to seconds; a bare number is seconds. Raises BadInput for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip(), re.ASCII)
    if match is None:
        raise BadInput(f"Invalid duration {text!r} (for example: 30s, 5m, 8h).")
    found = float(match[1]) * _UNITS[match[2] or "s"]
    if found > LONGEST_S:
        raise BadInput(f"Invalid duration {text!r}: the longest is {LONGEST_S // 3600}h.")
    return found


def check_words(*, profile: str | None, level: str, readings: str) -> None:
    """Raise BadInput, with the nearest word, for a profile, level or reading set that does not exist."""
    _check_known("profile", profile, PROFILES)
    _check_known("level", level, LEVELS)
    _check_known("reading set", readings, READING_SETS)


def check_situations(words: str) -> str:
    """Return the words for the planned situations to play. Raises BadInput for others."""
    number = words.isascii() and words.isdecimal() and 0 < len(words) < 10 and int(words) > 0
    if number or words in ("default", "all", "pairs"):
        return words
    raise BadInput(f"--situations takes all, pairs or a number of situations, not {words[:40]!r}.")


MAX_LABEL = 80
"""Characters of the label of a run."""


def check_label(text: str) -> str:
    """Return the label, stripped. Raises BadInput unless it has 1 to MAX_LABEL characters, all printable."""
    label = text.strip()
    if not label or len(label) > MAX_LABEL or not label.isprintable():
        shown = ascii(text if len(text) <= MAX_LABEL else f"{text[:MAX_LABEL]}...")
        raise BadInput(f"Invalid label {shown}: give 1 to {MAX_LABEL} printable characters (for example: nightly 4.2).")
    return label


def check_chosen(words: Sequence[str]) -> dict[str, str]:
    """Parse `ID=alternative` words to reading id -> alternative. Raises BadInput, with the nearest name, for others."""
    try:
        return chosen_readings(words)
    except CatalogueError as error:
        raise BadInput(f"There is {error}" if str(error).endswith("?") else f"There is {error}.") from None


def _check_known(what: str, value: str | None, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        hint = did_you_mean(value, known) or "."
        raise BadInput(f"There is no {what} {value!r}{hint} Known: {', '.join(known)}.")


def check_places() -> None:
    """Raise BadInput if no temporary folder can be made or the working folder is gone."""
    if working_folder_gone():
        raise BadInput(GONE)
    try:
        remove_tree(new_scratch("mqconform-"))
    except NoScratch as error:
        raise BadInput(str(error.strerror)) from None


def check_folder(out: Path | str | None) -> None:
    """Raise BadInput if `prepare_folder` could not make or write this folder. Makes and moves nothing."""
    if not out:
        return
    try:
        folder = Path(out).absolute()
    except OSError as error:  # the working folder is gone
        raise _unwritable(out, error.strerror) from None
    there = next((one for one in (folder, *folder.parents) if os.path.lexists(one)), folder)
    if not there.is_dir():
        raise _unwritable(folder, os.strerror(errno.EEXIST if there == folder else errno.ENOTDIR))
    if not os.access(there, os.W_OK | os.X_OK):
        raise _unwritable(folder, os.strerror(errno.EACCES))


def _unwritable(folder: Path | str, why: str | None) -> BadInput:
    return BadInput(f"The output folder {folder} cannot be written ({why}); name another one with --out.")


def prepare_folder(out: Path | str | None, *, kind: str = "run") -> Path:
    """Make the run folder. Files of an earlier run in it move to `earlier/`; nothing is overwritten.

    Raises BadInput when the folder cannot be made or written.
    """
    work_begins()
    folder = Path(out) if out else new_run_folder(kind)
    try:
        folder = folder.absolute()
        while not out:  # Two runs that begin at the same time must not share a folder.
            try:
                make_folder(folder.parent)
                folder.mkdir()
                break
            except FileExistsError:
                folder = new_run_folder(kind).absolute()
        make_folder(folder)
        probe = folder / ".writable"
        write_bytes(probe, b"\n")  # Before anything moves. An empty file could be made even on a full disk.
        probe.unlink()
        old = [
            *folder.glob("run-*.ndjson"),
            *(folder / name for name in ("report.html", "repros", "pytest.log")),
            *folder.glob("driver-*.log"),
        ]
        if any(os.path.lexists(path) for path in old):
            keep = folder / "earlier" / time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            number = 1
            while keep.exists():
                number += 1
                keep = keep.with_name(f"{keep.name.split('_')[0]}_{number}")
            make_folder(keep)
            for path in old:
                if os.path.lexists(path):
                    path.rename(keep / path.name)
        with suppress(FileNotFoundError):
            (folder / ("x" * LONGEST)).lstat()  # raises OSError if the path is too long
    except OSError as error:
        raise _unwritable(folder, error.strerror) from None
    return folder
