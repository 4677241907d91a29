"""The process: lines in and out, bad requests, several connections, a real clock, a user's mistakes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-m", "conformance.embedded"]
NAME = "DIRECT=OS:HOST\\private$\\q"


def request(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def hello(state_dir: Path) -> bytes:
    return request(1, "hello", versions=["1.0"], harness="test", state_dir=str(state_dir))


def run(lines: list[bytes], *options: str) -> tuple[int, list[dict[str, Any]], str]:
    done = subprocess.run([*COMMAND, *options], input=b"".join(lines), capture_output=True, timeout=60, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def test_bad_lines_get_errors_and_the_next_is_answered(tmp_path: Path) -> None:
    code, answers, errors = run(
        [
            hello(tmp_path),
            b"not json\n",
            b"[" * 100_000 + b"\n",
            b"[]\n",
            b'{"jsonrpc":"1.0","id":2,"method":"reset"}\n',
            b'{"jsonrpc":"2.0","id":"x","method":"reset"}\n',
            request(3, "no.such"),
            request(4, "messages.receive", queue="h1"),
            request(5, "messages.receive", queue="h1", timeout_ms=-1),
            request(6, "messages.receive", queue="h1", timeout_ms=0),
            b"\n",
            request(7, "clock.now"),
        ],
        "--stdio",
    )
    assert (code, errors) == (0, "")
    told = [answer.get("error", {}).get("code", "result") for answer in answers]
    assert told == ["result", -32700, -32700, -32600, -32600, -32600, -32601, -32602, -32602, "result", "result"]
    assert answers[-2]["result"] == {"status": 0xC00E0007}


def test_a_blocked_read_is_announced_and_answered_later(tmp_path: Path) -> None:
    _, answers, _ = run(
        [
            hello(tmp_path),
            request(2, "queues.create", path_name="HOST\\private$\\q"),
            request(3, "queues.open", format_name=NAME, access="receive"),
            request(4, "messages.receive", queue="h1", timeout_ms=4294967295),
            request(5, "messages.receive", queue="h1", timeout_ms=10),
            request(6, "clock.advance", by_ms=10),
            request(7, "messages.cancel", request=4),
            request(8, "stop"),
            request(9, "clock.now"),
        ],
        "--stdio",
    )
    shown = [answer.get("id") or ("pending", answer["params"]["id"]) for answer in answers]
    assert shown == [1, 2, 3, ("pending", 4), ("pending", 5), 5, 6, 4, 7, 8]


def test_a_real_clock_ends_a_wait(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--stdio", "--clock", "real"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (
            hello(tmp_path),
            request(2, "queues.create", path_name="HOST\\private$\\q"),
            request(3, "queues.open", format_name=NAME, access="receive"),
            request(4, "messages.receive", queue="h1", timeout_ms=30),
            request(5, "clock.advance", by_ms=1),
        ):
            process.stdin.write(line)
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(6)]
        process.stdin.close()
    assert answers[0]["result"]["clock"] == "real"
    assert answers[4]["error"]["code"] == -32601
    assert answers[5] == {"jsonrpc": "2.0", "id": 4, "result": {"status": 0xC00E001B}}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--stdio", "--fault", "ignores-prority"], "did you mean ignores-priority"),
        (["--stdio", "--profile", "msmq-9.0"], "there is no profile"),
        (["--tcp", "nowhere"], "HOST:PORT"),
        ([], "--stdio"),
    ],
)
def test_a_users_mistake_gets_a_sentence(options: list[str], says: str) -> None:
    code, _, errors = run([], *options)
    assert code == 2
    assert says in errors
    assert "Traceback" not in errors


def test_an_unusable_state_folder_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    _, answers, errors = run([hello(tmp_path / "file" / "state")], "--stdio")
    assert "cannot be used" in answers[0]["error"]["message"]
    assert errors == ""


class Connection:
    def __init__(self, port: int, state_dir: Path) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.lines = self.socket.makefile("rb")
        self.number = 0
        self("hello", versions=["1.0"], harness="test", state_dir=str(state_dir))

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        self.socket.sendall(request(self.number, method, **params))
        answer: dict[str, Any] = json.loads(self.lines.readline())
        return answer.get("result", answer)

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


@pytest.fixture
def server() -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    with subprocess.Popen([*COMMAND, "--tcp", "127.0.0.1:0"], stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        yield int(process.stderr.readline().rsplit(b":", 1)[1]), process
        process.kill()


def test_connections_share_a_manager_and_leave_nothing_open(
    server: tuple[int, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    port, process = server
    one, two = Connection(port, tmp_path), Connection(port, tmp_path)
    one("queues.create", path_name="HOST\\private$\\q")
    one("queues.open", format_name=NAME, access="receive", share="deny_receive")
    assert two("queues.open", format_name=NAME, access="receive")["status"] == 0xC00E0009
    one.close()
    for _ in range(1000):  # the server learns of the end of a connection in its own time
        opened = two("queues.open", format_name=NAME, access="receive")
        if opened["status"] == 0:
            break
    assert opened["status"] == 0
    two("attach", namespace="other")
    assert two("queues.open", format_name=NAME, access="receive")["status"] == 0xC00E0003
    assert two("stop") == {"status": 0}
    two.close()
    assert process.wait(20) == 0
