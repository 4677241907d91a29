"""Runs `mqconform` against one driver under measurement: how it ends, what it costs, and what it leaves behind.

As a script it prints a table, one line a driver: `python tests/adapter/hostile.py [--budget SECONDS] [DRIVER...]`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = (HERE / "fakes", HERE.parent / "cli" / "fakes")
BLIND = HERE / "fakes" / "blind"
NO_DRIVERS = {"honest", "hosted", "over_tcp", "defects"}  # a base, a server; others and a table

MAX_MEMORY = 600 << 20
MAX_DISK = 100 << 20
OVERTIME_S = 30.0
CODES = frozenset({0, 1, 3, 5})

_TAG = "MQCONFORM_TEST_RUN"
_NAP_S = 0.05
_STATE = "mqconform-state-"


@dataclass(frozen=True, slots=True)
class Process:
    """A process as /proc tells of it."""

    pid: int
    parent: int
    group: int
    session: int
    state: str

    @property
    def command(self) -> str:
        """Its command line, on one line."""
        try:
            raw = Path(f"/proc/{self.pid}/cmdline").read_bytes()
        except OSError:
            return "(gone)"
        return raw.replace(b"\0", b" ").decode("utf-8", "replace").strip()


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. code: None when it had to be killed. memory, disk: most bytes at any time.

    left: what lived on in a driver's process group. outlived: what lived on elsewhere. outcomes: verdicts by outcome.
    """

    code: int | None
    seconds: float
    allowed: float
    memory: int
    disk: int
    left: tuple[str, ...]
    outlived: Mapping[int, str]
    said: str
    outcomes: Mapping[str, int]

    def broken(self) -> list[str]:
        """The criteria it does not meet, each in a few words."""
        # One that forks on all the time has another number by now, and the same command.
        named = self.said.partition("live on outside")[2] + self.said.partition("lives on outside")[2]
        unnamed = [
            pid for pid, command in self.outlived.items() if f"{pid} (" not in named and command[:100] not in named
        ]
        found = {
            f"exit code {self.code}": self.code not in CODES,
            f"{self.seconds:.0f} s of {self.allowed:.0f}": self.seconds > self.allowed,
            f"{self.memory >> 20} MB of memory": self.memory > MAX_MEMORY,
            f"{self.disk >> 20} MB of disk": self.disk > MAX_DISK,
            "a traceback": "Traceback (most recent call last)" in self.said.splitlines(),
            f"left in the group: {', '.join(self.left)}": bool(self.left),
            f"outlived and not named: {unnamed}": bool(unnamed),
        }
        return [what for what, true in found.items() if true]


def drivers() -> dict[str, str]:
    """How every driver there is starts, by `folder/name`. Most stand in a table by their names."""
    files = {
        f"{path.parents[1].name}/{path.stem}": ["sh" if path.suffix == ".sh" else sys.executable, str(path)]
        for folder in FOLDERS
        for path in sorted(folder.glob("*"))
        if path.is_file() and path.stem not in NO_DRIVERS and path.suffix in (".py", ".sh")
    }
    defects = HERE / "fakes" / "defects.py"
    for folder, place, listed, pattern in (
        ("adapter", defects, defects, r"^class (\w+)\("),
        ("blind", BLIND, BLIND / "README.md", r"^\| `(\w+)` \|"),
    ):
        for name in re.findall(pattern, listed.read_text("utf-8"), re.MULTILINE):
            files[f"{folder}/{name}"] = [sys.executable, str(place), name]
    return {name: "stdio:" + shlex.join(command) for name, command in files.items()}


def run(
    adapter: str, folder: Path, *, budget_s: float = 10, arguments: Sequence[str] = (), patience: float = 1
) -> Ending:
    """`mqconform run` against `adapter`, watched. folder: an empty one for all that is written.

    patience: how many times as long as on an idle machine it may take.
    """
    out, temporary = folder / "out", folder / "tmp"
    temporary.mkdir(parents=True)
    tag = uuid.uuid4().hex
    command = ["run", "--adapter", adapter, "--out", str(out), "--budget", f"{budget_s:g}s", *arguments]
    allowed = (budget_s + OVERTIME_S) * patience
    said_path = folder / "said"
    began = time.monotonic()
    with said_path.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "conformance", *command],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env={**os.environ, "TMPDIR": str(temporary), _TAG: tag},
            start_new_session=True,
        )
    memory: dict[int, int] = {}
    disk, naps = 0, 0
    groups: set[int] = set()
    try:
        while process.poll() is None and time.monotonic() - began < allowed + 60:
            _look(process.pid, memory, groups)
            naps += 1
            if naps % 10 == 1:
                disk = max(disk, _size(folder, but=_STATE))
            time.sleep(_NAP_S)
        code = process.poll()
        seconds = time.monotonic() - began
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    disk = max(disk, _size(folder))
    rest = _living(tag, within=2.0, groups=groups)
    text = said_path.read_text("utf-8", "replace")
    # A daemon that leads its group becomes a child of the harness when its parent ends, and is then named.
    outlived = {each.pid: each.command for each in rest if each.group not in groups or f"{each.pid} (" in text}
    left = tuple(f"{each.pid} {each.command}" for each in rest if each.pid not in outlived)
    for each in rest:
        with contextlib.suppress(OSError):
            os.kill(each.pid, signal.SIGKILL)
    return Ending(code, seconds, allowed, sum(memory.values()), disk, left, outlived, text, outcomes(out))


def outcomes(out: Path) -> Mapping[str, int]:
    """The verdicts of a run record by outcome; of one that cannot be read, why."""
    from conformance.runlog import RunRecordError, read_run

    try:
        record = read_run(out)
    except RunRecordError as error:
        return {f"unreadable: {error}"[:60]: 1}
    return Counter(entry.verdict.outcome.value for entry in record.verdicts if not entry.provisional)


def _look(harness: int, memory: dict[int, int], groups: set[int]) -> None:
    """The memory of the harness's own processes, and the groups of the drivers it started."""
    ours = {harness}
    for each in _processes():
        if each.parent in ours:
            if each.session == harness:  # a pytest worker: drivers have sessions of their own
                ours.add(each.pid)
            elif each.group == each.pid:
                groups.add(each.pid)
    for pid in ours:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    memory[pid] = int(line.split()[1]) << 10


def _processes() -> Iterator[Process]:
    for entry in sorted(int(each.name) for each in os.scandir("/proc") if each.name.isdigit()):
        with contextlib.suppress(OSError):
            state, parent, group, session = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:4]
            yield Process(entry, int(parent), int(group), int(session), state)


def _living(tag: str, *, within: float, groups: set[int]) -> list[Process]:
    """What was started in the run and lives still, once what was just killed has had time to go."""
    until = time.monotonic() + within
    mark = f"{_TAG}={tag}".encode()
    while True:
        found = []
        for each in _processes():
            if each.state not in "ZX" and each.pid != os.getpid():
                with contextlib.suppress(OSError):
                    if each.group in groups or mark in Path(f"/proc/{each.pid}/environ").read_bytes():
                        found.append(each)
        if not found or time.monotonic() > until:
            return found
        time.sleep(_NAP_S)


def _size(folder: Path, *, but: str | None = None) -> int:
    """Bytes on disk below a folder, however deep; but: folders whose names begin so are left out."""
    command = ["du", "-s", "-B1", *([f"--exclude={but}*"] if but else []), str(folder)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    return int(told[0]) if told else 0


@contextlib.contextmanager
def emptied() -> Iterator[Path]:
    """A temporary folder that is removed whatever a driver has made in it."""
    folder = tempfile.mkdtemp(prefix="mq-hostile-")
    try:
        yield Path(folder)
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", folder], check=False)


def _told(name: str, ending: Ending) -> str:
    worst = " ".join(f"{outcome}:{count}" for outcome, count in sorted(ending.outcomes.items()))
    last = [line for line in ending.said.splitlines() if line.startswith("mqconform: ") and ": run: " not in line]
    return (
        f"{name:42} {ending.code!s:>4} {ending.seconds:6.1f} {ending.memory >> 20:6} {ending.disk / (1 << 20):7.1f} "
        f"{len(ending.left):4} {len(ending.outlived):4}  {worst[:70]:70} {'; '.join(ending.broken()) or 'ok'}"
        f" | {last[-1][:160] if last else ''}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=10)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pass", dest="more", default="", help="more arguments of mqconform run")
    given = parser.parse_args()
    print(f"{'driver':42} code      s     MB    disk left out   outcomes", flush=True)
    for name, adapter in drivers().items():
        if given.names and not any(word in name for word in given.names):
            continue
        with emptied() as folder:
            ending = run(adapter, folder, budget_s=given.budget, arguments=shlex.split(given.more))
            print(_told(name, ending), flush=True)


if __name__ == "__main__":
    main()
