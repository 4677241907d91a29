"""Clients that nobody here wrote, over `libmqrt.so` and a session: each deviation would be theirs, ours or a fault.

Their assemblies are not part of this project. MQ_CLIENTS names a folder that has them; without it these tests are
skipped. Each program in `clients` uses one of them by its public members.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import pytest
from dotnet import need_mono

from conformance.live.mqrt import Session, Told, Wanted
from conformance.verdict import ExitCode

PROGRAMS = Path(__file__).parent / "clients"
LIBRARY = Path(__file__).parents[2] / "adapters" / "mqrt"
MAPPED = "".join(f'<dllmap dll="{name}.dll" target="{{library}}"/>' for name in ("mqrt", "kernel32"))


@dataclass(frozen=True)
class Client:
    """A client. cases: of its program; relied: a requirement that it needs; left: what it leaves undone, by itself."""

    assembly: str
    program: str
    cases: int
    relied: frozenset[str]
    left: tuple[str, ...] = ()


CLIENTS = {
    "MSMQ.Messaging": Client(
        "MSMQ.Messaging.dll", "Messaging.cs", 16,
        frozenset({"MQMQ-2.3.1.4.journal-copy", "MQMQ-2.2.19.1.higher-priority-nearer-front"}),
    ),
    "BusterWood.Msmq": Client(
        "BusterWood.Msmq.dll", "BusterWood.cs", 10,
        frozenset({"MQMQ-2.2.19.1.higher-priority-nearer-front"}),
        # Its fields for "no transaction" and "a transaction of one message" each begin a real one.
        ("program 1 ended with 2 open transactions",),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, so that workers do not build in the same folder; made."""
    need_mono()
    if not (LIBRARY / "Makefile").exists():
        pytest.skip("adapters/mqrt is not here")
    copy = tmp_path_factory.mktemp("mqrt") / "mqrt"
    shutil.copytree(LIBRARY, copy, ignore=shutil.ignore_patterns("build"))
    subprocess.run(["make"], cwd=copy, check=True, capture_output=True, timeout=300)
    return copy / "build" / "libmqrt.so"


def compiled(client: Client, library: Path, folder: Path) -> Path:
    """The program beside the assembly that it uses, which finds the library by its configuration."""
    given = os.environ.get("MQ_CLIENTS")
    if given is None or not (Path(given) / client.assembly).is_file():
        pytest.skip(f"MQ_CLIENTS names no folder with {client.assembly}")
    shutil.copy(Path(given) / client.assembly, folder)
    mapped = f"<configuration>{MAPPED.format(library=library)}</configuration>"
    (folder / f"{client.assembly}.config").write_text(mapped)
    sources = [PROGRAMS / "Smoke.cs", PROGRAMS / client.program]
    command = ["mcs", "-langversion:latest", f"-r:{client.assembly}", "-out:program.exe", *map(str, sources)]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    return folder / "program.exe"


@contextmanager
def session(folder: Path, *faults: str) -> Iterator[tuple[str, Told]]:
    stop = Event()
    with Session(str(folder / "s"), Wanted(out=folder / "out", faults=faults)) as serving:
        thread = Thread(target=serving.run, args=(stop, 300))
        thread.start()
        try:
            yield serving.address, serving.told
        finally:
            stop.set()
            thread.join()


def run(program: Path, address: str) -> list[str]:
    """What the program told of its cases."""
    environment = {**os.environ, "MQCONFORM_MQRT": address}
    done = subprocess.run(["mono", str(program)], env=environment, capture_output=True, text=True, timeout=240)
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_works_as_documented(name: str, library: Path, tmp_path: Path) -> None:
    client = CLIENTS[name]
    program = compiled(client, library, tmp_path)
    with session(tmp_path) as (address, told):
        lines = run(program, address)
    assert [line for line in lines if not line.startswith("ok ")] == []
    assert len(lines) == client.cases
    assert (told.exit_code, told.why, told.deviations) == (ExitCode.CONFORMS, None, [])
    assert client.relied <= told.relied.keys()
    assert tuple(told.findings) == client.left


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("fault", ["delivers-twice", "ignores-priority", "uncommitted-receive-visible"])
def test_what_deviates_under_a_client_is_told(name: str, fault: str, library: Path, tmp_path: Path) -> None:
    program = compiled(CLIENTS[name], library, tmp_path)
    with session(tmp_path, fault) as (address, told):
        run(program, address)
    assert told.exit_code is ExitCode.DEVIATES
