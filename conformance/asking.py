"""What is the same for every command that judges: its words are checked, its record has a folder, it ends somehow."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.runlog import Run
from conformance.runlog.events import REFUTING
from conformance.runlog.folder import new_run_folder
from conformance.spec.catalogue import CatalogueError, chosen_readings, did_you_mean
from conformance.spec.versions import LEVELS, PROFILES, READING_SETS
from conformance.verdict import ExitCode, Outcome, Verdict


class BadInput(ValueError):
    """The caller asked for something that does not exist or cannot be done; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run ended with. record is None when nothing could be recorded; sentence says why a run has no verdicts.

    folder: where the run record and all that belongs to it was written.
    """

    exit_code: ExitCode
    folder: Path
    record: Run | None
    sentence: str | None = None

    @property
    def conforms(self) -> bool:
        """Whether something was judged and nothing deviates."""
        return self.exit_code is ExitCode.CONFORMS

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts, those seen several times once."""
        return tuple(each.verdict for each in self.record.verdicts) if self.record is not None else ()

    @property
    def deviations(self) -> tuple[Verdict, ...]:
        """The verdicts that refute: fail, crash, timeout, flaky."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome in REFUTING)

    @property
    def counts(self) -> dict[Outcome, int]:
        """Verdicts by outcome, repetitions included, worst first."""
        return self.record.counts if self.record is not None else {}


_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str | None) -> float | None:
    """`30s`, `5m` or `2h` in seconds; a bare number is seconds. Raises BadInput for anything else."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip(), re.ASCII)
    if match is None:
        raise BadInput(f"{text!r} is no time; write for example 30s, 5m or 2h.")
    return float(match[1]) * _UNITS[match[2] or "s"]


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


def prepare_folder(out: Path | str | None, *, kind: str = "run") -> Path:
    """The run folder, ready to be written. An earlier record in it moves to `earlier/`, it is never overwritten.

    Raises BadInput when it cannot be made or written.
    """
    folder = (Path(out) if out else new_run_folder(kind)).absolute()
    try:
        while not out:  # two runs that begin at once must not share a folder
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
