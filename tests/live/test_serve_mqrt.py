"""`serve --mqrt`: programs share one manager, every call is judged, and what breaks is told."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from mqrt_program import Program, session, usual_work

from conformance.embedded.faults import EVERY_FAULT
from conformance.live.mqrt import MAX_LINE, Session, Wanted
from conformance.runlog import read_run
from conformance.verdict import ExitCode

IO_TIMEOUT, CANCELLED = 0xC00E001B, 0xC00E0008
LONG_MS = 600_000
FOUND = (
    "abort-commits-last-receive", "abort-returns-only-first", "body-cut-short", "commit-loses-last-send",
    "commit-reverses-sends", "delivers-twice", "handle-outlives-close", "ignores-priority", "lookup-id-not-increasing",
    "move-loses-message", "next-skips-one", "peek-removes-message", "purge-leaves-last", "uncommitted-receive-visible",
)  # fmt: skip


def both(address: str) -> tuple[Program, Program]:
    return Program(address), Program(address)


def test_usual_work_is_judged_and_recorded(tmp_path: Path) -> None:
    with session(tmp_path) as (address, told):
        one, other = both(address)
        usual_work(one, other)
        one.close()
        other.close()
    assert told.exit_code is ExitCode.CONFORMS
    assert (told.programs, told.not_judged, told.why) == (2, 0, None)
    assert {"MQMQ-2.2.19.1.higher-priority-nearer-front", "MQDMPR-3.1.4.5.receives-return"} <= told.relied.keys()
    recorded = read_run(tmp_path / "out")
    assert {one.verdict.requirement for one in recorded.verdicts} == told.relied.keys()


@pytest.mark.parametrize("fault", FOUND)
def test_a_fault_is_found_and_blamed(fault: str, tmp_path: Path) -> None:
    with session(tmp_path, faults=(fault,)) as (address, told):
        usual_work(*both(address))
    assert told.exit_code is ExitCode.DEVIATES
    assert told.deviations[0].requirement in EVERY_FAULT[fault].breaks


@pytest.mark.parametrize("fault", [None, "journals-twice"])
def test_what_is_set_of_a_queue_is_followed(fault: str | None, tmp_path: Path) -> None:
    with session(tmp_path, faults=(fault,) if fault else ()) as (address, told):
        program = Program(address)
        name = program.queue("orders")
        to, of = program.opened(name, "send"), program.opened(name, "receive")
        for properties in ({"PROPID_Q_LABEL": "a label"}, {"PROPID_Q_JOURNAL": 1, "PROPID_Q_QUOTA": 4}):
            program.call("queues.set", format_name=name, properties=properties)
        assert [program.send(to, bytes(3_000), label=str(at))["status"] == 0 for at in range(2)] == [True, False]
        program.receive(of)
        journal = program.opened(f"{name};JOURNAL", "receive")
        assert [program.receive(journal)["status"] == 0 for _ in range(2)] == [True, fault is not None]
    assert told.exit_code is (ExitCode.DEVIATES if fault else ExitCode.CONFORMS)
    if not fault:
        assert told.why is None
        assert {"MQMQ-2.3.1.4.journal-copy", "MQDMPR-3.1.7.1.9.queue-quota"} <= told.relied.keys()


def test_times_are_those_of_the_day(tmp_path: Path) -> None:
    with session(tmp_path) as (address, told):
        program = Program(address)
        name = program.queue("orders")
        program.send(program.opened(name, "send"), b"now")
        message = program.receive(program.opened(name, "receive"))["message"]
        assert abs(message["arrival_time"] - time.time()) < 300
    assert told.exit_code is ExitCode.CONFORMS


def test_a_name_that_is_refused_accuses_nobody(tmp_path: Path) -> None:
    with session(tmp_path) as (address, told):
        program = Program(address)
        assert program.queue("orders")
        for name in ("a;b", "a+b", "a,b", "", "x" * 130):
            assert program.call("queues.create", path_name=f".\\private$\\{name}", properties={})["status"] != 0
            assert program.call("queues.open", format_name=f"DIRECT=OS:.\\private$\\{name}", access="send")["status"]
        assert program.opened("DIRECT=OS:.\\private$\\", "receive") is None
    assert (told.exit_code, told.why) == (ExitCode.CONFORMS, None)


def test_a_read_waits_for_another_program(tmp_path: Path) -> None:
    with session(tmp_path) as (address, told):
        one, other = both(address)
        name = one.queue("orders")
        of = other.opened(name, "receive")
        waiting = other.start("messages.receive", queue=of, timeout_ms=LONG_MS)
        assert other.told()["method"] == "pending"
        one.send(one.opened(name, "send"), b"at last", label="late")
        assert other.answer(waiting)["message"]["label"] == "late"
        waiting = other.start("messages.receive", queue=of, timeout_ms=50)
        assert other.answer(waiting)["status"] == IO_TIMEOUT
        waiting = other.start("messages.receive", queue=of, timeout_ms=LONG_MS)
        other.call("messages.cancel", request=waiting)
        assert other.answer(waiting)["status"] == CANCELLED
    assert told.exit_code is ExitCode.CONFORMS
    assert told.not_judged == 0


def test_a_virtual_clock_passes_while_all_wait(tmp_path: Path) -> None:
    with session(tmp_path, clock="virtual") as (address, told):
        program = Program(address)
        of = program.opened(program.queue("orders"), "receive")
        began = time.monotonic()
        assert program.receive(of, LONG_MS)["status"] == IO_TIMEOUT
        assert time.monotonic() - began < LONG_MS / 2000
    assert "MQDMPR-3.1.2.3.expires" in told.relied


def test_what_a_program_leaves_open_is_closed(tmp_path: Path) -> None:
    with session(tmp_path) as (address, told):
        one, other = both(address)
        name = one.queue("jobs", PROPID_Q_TRANSACTION=1)
        into = one.opened(name, "send")
        within = one.call("transactions.begin")["transaction"]
        one.send(into, b"job", transaction=within)
        one.call("transactions.commit", transaction=within)
        taken = other.call("transactions.begin")["transaction"]
        of = other.opened(name, "receive")
        assert other.receive(of, transaction=taken)["status"] == 0
        other.start("messages.receive", queue=of, timeout_ms=LONG_MS)
        assert other.told()["method"] == "pending"
        other.close()
        mine = one.opened(name, "receive")
        assert one.receive(mine, 5_000)["status"] == 0  # the abort has brought it back
    assert told.findings == ["program 2 ended with 1 open transactions and 1 waiting reads"]
    assert told.exit_code is ExitCode.CONFORMS


def test_handles_are_of_one_program(tmp_path: Path) -> None:
    with session(tmp_path) as (address, told):
        one, other = both(address)
        to = one.opened(one.queue("orders"), "send")
        assert "code" in other.send(to, b"not mine")
        assert one.send(to, b"mine")["status"] == 0
        assert "code" in one.call("reset")
        assert "code" in one.call("queues.create", nonsense=1)
    assert told.exit_code is ExitCode.CONFORMS


def test_many_programs_at_once(tmp_path: Path) -> None:
    with session(tmp_path, at="127.0.0.1:0") as (address, told):

        def work(number: int) -> None:
            program = Program(address)
            name = program.queue(f"q{number}")
            to, of = program.opened(name, "send"), program.opened(name, "receive")
            for at in range(5):
                program.send(to, b"%d" % at)
            assert [program.receive(of)["status"] for _ in range(5)] == [0] * 5
            program.close()

        threads = [Thread(target=work, args=(number,)) for number in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (told.programs, told.calls, told.not_judged) == (64, 64 * 13, 0)
    assert told.exit_code is ExitCode.CONFORMS


HOSTILE: dict[str, bytes] = {
    "no JSON": b"hello\n", "no object": b"[1]\n", "no id": b'{"method":"hello"}\n', "deep": b"[" * 9_000 + b"\n",
    "twice": b'{"id":1,"id":2,"method":"hello"}\n', "nan": b'{"id":NaN,"method":"hello"}\n',
    "bytes": bytes(range(128, 256)) + b"\n", "list as id": b'{"id":[],"method":"hello"}\n',
    "params": b'{"id":1,"method":"hello","params":3}\n', "no end": b"x" * (MAX_LINE + 2),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_ends_alone(name: str, tmp_path: Path) -> None:
    with session(tmp_path) as (address, told):
        hostile, program = Program(address, greets=False), Program(address)
        hostile.socket.sendall(HOSTILE[name])
        assert hostile.told()["error"]["code"] == -32600
        with pytest.raises((EOFError, OSError)):
            hostile.told()
        to = program.opened(program.queue("orders"), "send")
        assert program.send(to, b"still there")["status"] == 0
    assert "broke the protocol" in told.findings[0]
    assert told.exit_code is ExitCode.CONFORMS


def test_silent_programs_keep_nobody_out(tmp_path: Path) -> None:
    with session(tmp_path) as (address, told):
        silent = [Program(address, greets=False) for _ in range(300)]
        program = Program(address)
        assert program.queue("orders")
        for one in silent:
            one.close()
    assert told.programs == 301


def test_the_manager_dies(tmp_path: Path) -> None:
    dies = tmp_path / "dies.py"
    dies.write_text(
        "import json, sys\n"
        "from conformance.embedded.driver import EmbeddedDriver\n"
        "driver = EmbeddedDriver()\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['method'] == 'messages.send':\n"
        "        sys.exit(3)\n"
        "    def answer(result):\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)\n"
        "    driver.handle(asked['method'], asked.get('params', {}), answer, lambda: None)\n"
    )
    with session(tmp_path, connector=f"stdio:{sys.executable} {dies}") as (address, told):
        program = Program(address)
        to = program.opened(program.queue("orders"), "send")
        program.start("messages.send", queue=to, message={"body": ""})
        with pytest.raises((EOFError, OSError)):
            while True:
                program.told()
    assert told.gone is not None
    assert told.exit_code is ExitCode.UNUSABLE


def test_the_command(tmp_path: Path) -> None:
    at, out = str(tmp_path / "s"), str(tmp_path / "out")
    command = [sys.executable, "-m", "conformance", "serve", "--mqrt", at, "--out", out, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        assert json.loads(serving.stdout.readline()) == {"ready": {"mqrt": at}}
        program = Program(at)
        program.receive(program.opened(program.queue("orders"), "receive"))
        program.close()
        serving.send_signal(signal.SIGTERM)
        told: dict[str, Any] = json.loads(serving.stdout.read())
    assert serving.returncode == told["exit_code"] == 0
    assert told["failures"][0]["status"].startswith("MQ_ERROR_IO_TIMEOUT")
    assert not Path(at).exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--to", "embedded+ignores-priority"), "--mqrt SOCKET"),
        (("--mqrt", "192.0.2.1:4000"), "no loopback"),
        (("--mqrt", "s", "--to", "nothing"), "nothing"),
        (("--mqrt", "s", "--fault", "ignores-priorty"), "ignores-priority"),
        (("--mqrt", "/nowhere/at/all/s"), "another path"),
        (("--mqrt", "s", "--clock", "fast"), "virtual"),
    ],
)
def test_a_mistake_is_one_sentence(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", "serve", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == ExitCode.BAD_INPUT
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_is_judged_without_programs(tmp_path: Path) -> None:
    with Session(str(tmp_path / "s"), Wanted(out=tmp_path / "out")) as serving:
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(serving.address)
            serving.run(Event(), 0.5)
        assert serving.told.exit_code is ExitCode.NOTHING_JUDGED
