"""The driver for the flat API, under Mono, over the library that stands for mqrt.dll, and a session that judges it."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dotnet import SHARED, Wire, need_mono

import conformance
from conformance.adapter import protocol
from conformance.verdict import Outcome

PLACE = SHARED.parent / "mqrt"
LINES = 1_800  # of C#
NOT_FOUND, CANCELLED, TIMED_OUT = 0xC0000225, 0xC00E0008, 0xC00E001B
CONFIGURATION = """<configuration>
  <dllmap dll="mqrt.dll" target="{library}"/>
  <dllmap dll="kernel32.dll" target="{library}"/>
</configuration>
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver, compiled as the README says, without a warning, and the library beside it."""
    need_mono()
    for program, package in (("gcc", "gcc libc6-dev"), ("make", "make")):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (sudo apt-get install {package})")
    folder = tmp_path_factory.mktemp("mqrt-driver")
    shutil.copytree(PLACE, folder / "mqrt", ignore=shutil.ignore_patterns("build"))
    subprocess.run(["make", "-s"], cwd=folder / "mqrt", check=True, timeout=200)
    sources = [*(PLACE / "driver").glob("*.cs"), *SHARED.glob("*.cs")]
    compiler = ["mcs", "-langversion:5", "-warnaserror", f"-out:{folder / 'driver.exe'}"]
    subprocess.run([*compiler, *sources], check=True, timeout=60)
    configuration = CONFIGURATION.format(library=folder / "mqrt" / "build" / "libmqrt.so")
    (folder / "driver.exe.config").write_text(configuration, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def session(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a session with the embedded queue manager."""
    out = tmp_path_factory.mktemp("session")
    address = str(out / "socket")
    command = [sys.executable, "-m", "conformance", "serve", "--mqrt", address, "--out", str(out / "served")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        assert serving.stdout.readline().startswith("ready:")
        yield address
        serving.terminate()
        said, _ = serving.communicate(timeout=60)
        assert "answered as documented" in said or "is as documented" in said, said


@pytest.fixture
def wire(built: Path, session: str, tmp_path: Path) -> Iterator[Wire]:
    wire = Wire("env", f"MQCONFORM_MQRT={session}", "mono", str(built / "driver.exe"))
    hello = wire.hello(tmp_path, "1.3")
    protocol.validator("hello", "result")(hello)
    wire.call("reset")
    wire.call("queues.create", path_name=f"{hello['computer']}\\private$\\q")
    yield wire
    wire.call("reset")
    wire.close()


def test_the_driver_is_as_long_as_it_may_be() -> None:
    assert sum(len(path.read_bytes().splitlines()) for path in (PLACE / "driver").glob("*.cs")) <= LINES


def test_suites_through_driver_library_and_session_find_nothing(built: Path, session: str, tmp_path: Path) -> None:
    adapter = f"stdio:env MQCONFORM_MQRT={session} mono {built / 'driver.exe'}"
    done = conformance.run(adapter=adapter, suites="transactions,cursors", out=tmp_path / "out")
    assert done.exit_code == 0, done
    assert done.counts[Outcome.PASS] > 250, done.counts


def opened(wire: Wire, access: str) -> str:
    handle: str = wire.call("queues.open", format_name="DIRECT=OS:.\\private$\\q", access=access)["queue"]
    return handle


def test_a_long_list_of_response_queues_comes_whole(wire: Wire) -> None:
    names = ",".join(f"DIRECT=OS:OTHER\\private$\\answers-{number:03}" for number in range(60))
    assert len(names) > 1_024
    body = base64.b64encode(os.urandom(100)).decode()
    wire.call("messages.send", queue=opened(wire, "send"), message={"body": body, "response_queue": names})
    reader = opened(wire, "receive")
    cursor = wire.call("cursors.open", queue=reader)["cursor"]
    for method, more in (("peek", {"cursor": cursor}), ("receive", {})):
        message = wire.call(f"messages.{method}", queue=reader, timeout_ms=0, **more)["message"]
        assert (message["body"], message["response_queue"]) == (body, names)


def test_a_read_that_waits_is_told_cancelled_and_then_no_longer_there(wire: Wire) -> None:
    reader = opened(wire, "receive")
    waiting = wire.request("messages.receive", queue=reader, timeout_ms=0xFFFFFFFF)
    assert wire.receive()["params"] == {"id": waiting}
    cancelling = wire.request("messages.cancel", request=waiting)
    answers = [wire.receive(), wire.receive()]
    assert {one["id"]: one["result"]["status"] for one in answers} == {waiting: CANCELLED, cancelling: 0}
    assert wire.call("messages.cancel", request=waiting) == {"status": NOT_FOUND}
    assert wire.call("messages.receive", queue=reader, timeout_ms=0) == {"status": TIMED_OUT}


def test_without_the_library_one_sentence_says_so(built: Path, tmp_path: Path) -> None:
    shutil.copy(built / "driver.exe", tmp_path)
    done = subprocess.run(["mono", tmp_path / "driver.exe"], input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (3, "")
    assert "driver.exe.config" in done.stderr
