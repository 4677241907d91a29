"""The library of Message Queuing's C functions: its C tests, with 64 and 32 bits, under sanitizers and valgrind."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import amount, nightly_only

PLACE = Path(__file__).parents[2] / "adapters" / "mqrt"
LINES = 3_500  # of C, without the tests
EXPORTS = {
    *("MQOpenQueue", "MQCloseQueue", "MQCreateQueue", "MQDeleteQueue", "MQGetQueueProperties", "MQSetQueueProperties"),
    *("MQPurgeQueue", "MQCreateCursor", "MQCloseCursor", "MQSendMessage", "MQReceiveMessage", "MQMoveMessage"),
    *("MQReceiveMessageByLookupId", "MQMarkMessageRejected", "MQGetOverlappedResult", "MQBeginTransaction"),
    *("MQPathNameToFormatName", "MQHandleToFormatName", "MQInstanceToFormatName", "MQADsPathToFormatName"),
    *("MQLocateBegin", "MQLocateNext", "MQLocateEnd", "MQGetMachineProperties", "MQGetPrivateComputerInformation"),
    *("MQMgmtGetInfo", "MQMgmtAction", "MQGetQueueSecurity", "MQSetQueueSecurity", "MQGetSecurityContext"),
    *("MQGetSecurityContextEx", "MQRegisterCertificate", "MQFreeSecurityContext", "MQFreeMemory"),
}
WINDOWS = {"CancelIoEx", "GetComputerNameW", "GetHandleInformation", "FormatMessageW"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, so that workers do not build in the same folder."""
    for program, package in (("gcc", "gcc libc6-dev"), ("make", "make")):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (sudo apt-get install {package})")
    copy = tmp_path_factory.mktemp("mqrt") / "adapters" / "mqrt"
    shutil.copytree(PLACE, copy, ignore=shutil.ignore_patterns("build"))
    return copy


def made(place: Path, *targets: str) -> str:
    done = subprocess.run(
        ["make", f"PYTHON={sys.executable}", *targets], cwd=place, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def need_32_bits(place: Path) -> None:
    source = place / "build" / "empty.c"
    source.parent.mkdir(exist_ok=True)
    source.write_text("#include <stdint.h>\nint main(void) { return 0; }\n")
    tried = subprocess.run(["gcc", "-m32", "-o", str(source.with_suffix("")), str(source)], capture_output=True)
    if tried.returncode:
        pytest.skip("gcc makes no 32-bit programs here (sudo apt-get install gcc-multilib)")


def test_it_compiles_without_a_warning_and_exports_the_functions(place: Path) -> None:
    told = made(place, "CFLAGS=-std=c11 -O2 -Wall -Wextra -Wconversion -Werror")
    assert "warning" not in told
    library = place / "build" / "libmqrt.so"
    symbols = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in symbols.stdout.splitlines()}
    assert EXPORTS - names == set()
    assert {name for name in names - EXPORTS if not name.startswith("mqrt_")} == WINDOWS


def test_it_needs_only_the_c_library(place: Path) -> None:
    made(place)
    needed = subprocess.run(
        ["readelf", "-d", str(place / "build" / "libmqrt.so")], capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in needed.stdout.splitlines() if "(NEEDED)" in line] == ["[libc.so.6]"]


def test_it_is_short() -> None:
    assert sum(len(file.read_text().splitlines()) for file in PLACE.glob("*.[ch]")) <= LINES


def test_each_function(place: Path) -> None:
    assert made(place, "check").count(" 0 failed") == 3


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has 32-bit programs beside it")
def test_each_function_with_32_bits(place: Path) -> None:
    need_32_bits(place)
    assert made(place, "check32").count(" 0 failed") == 3


def test_each_function_under_sanitizers(place: Path) -> None:
    assert made(place, "asan").count(" 0 failed") == 2


def test_random_property_arrays(place: Path) -> None:
    rounds = amount("adapter.rounds-of-random-properties")
    assert f"{rounds} rounds" in made(place, "fuzz", f"ROUNDS={rounds}")


@nightly_only("adapter.mqrt-watched")
def test_each_function_under_valgrind(place: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed (sudo apt-get install valgrind)")
    assert made(place, "valgrind").count(" 0 failed") == 2


@nightly_only("adapter.mqrt-watched")
def test_threads_race_for_nothing(place: Path) -> None:
    assert made(place, "tsan").count(" 0 failed") == 2
