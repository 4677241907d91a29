"""A served manager, and kits of others that speak to it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from dialogues import events
from ruamel.yaml import YAML
from small_manager import FRAMES, manager, turns

from conformance.capture import Opened
from conformance.live import proxy
from conformance.live.judge_client import Judging
from conformance.live.proxy import Wanted, Watch, serve
from conformance.live.wire_check import wire_check
from conformance.net.addresses import Permit, Place, target
from conformance.net.connector import understood
from conformance.verdict import ExitCode

SERVED = importlib.util.find_spec("conformance.embedded.network") is not None
served = pytest.mark.skipif(not SERVED, reason="this checkout has no embedded queue manager on the network")


@contextmanager
def command(
    *words: str, folder: Path, descriptors: int | None = None
) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A command that is ready; it is ended as a shell ends it. descriptors: how many it may have."""
    line = [sys.executable, "-m", "conformance", *words, "--json", "--out", str(folder / "out")]
    if descriptors is not None:
        line = ["sh", "-c", f'ulimit -n {descriptors} && exec "$@"', "sh", *line]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = process.stdout.readline()
    try:
        yield process, json.loads(first)["ready"] if first else {}
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM) -> tuple[ExitCode, dict[str, Any]]:
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err, err
    return ExitCode(process.returncode), json.loads(out)


def place(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_proxy_ends_with_what_was_judged(number: signal.Signals, tmp_path: Path) -> None:
    with manager() as server:
        words = ["proxy", "--listen", "127.0.0.1:0", "--to", str(server)]
        with command(*words, folder=tmp_path) as (process, ready):
            with socket.create_connection(place(ready["listen"]), 20) as client:
                client.sendall(turns("initiator")[0])
                assert client.recv(100_000)
            code, said = ended(process, number)
    assert code == said["exit_code"] and said["connections"] == 1 and said["packets"] >= 2
    assert said["outcomes"]["pass"] > 10


@pytest.mark.parametrize("descriptors", [40, 67])
def test_connections_wait_when_no_descriptor_is_left(descriptors: int, tmp_path: Path) -> None:
    hello = turns("initiator")[0]
    with manager() as server:
        words = ["proxy", "--listen", "127.0.0.1:0", "--to", str(server)]
        with command(*words, folder=tmp_path, descriptors=descriptors) as (process, ready):
            clients = [socket.create_connection(place(ready["listen"]), 20) for _ in range(60)]
            for client in clients:
                client.sendall(hello)
            answered = 0
            for client in clients:
                with client, suppress(ConnectionResetError):
                    answered += bool(client.recv(100_000))
            code, said = ended(process)
    assert code is ExitCode.CONFORMS and said["connections"] == answered and answered + said["refused"] == 60
    assert answered > 50
    assert any("ulimit -n" in each for each in said["problems"])


def test_a_host_elsewhere_is_refused(tmp_path: Path) -> None:
    words = ["proxy", "--listen", "127.0.0.1:0", "--to", "mq.lab", "--budget", "1s"]
    line = [sys.executable, "-m", "conformance", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == ExitCode.BAD_INPUT and "--i-own-this mq.lab" in done.stderr and not done.stdout


@served
def test_a_client_is_judged_by_the_server_it_talks_to(tmp_path: Path) -> None:
    record = tmp_path / "said.pcapng"
    words = ["serve", "--listen", "127.0.0.1:0", "--ping-port", "0", "--record", str(record)]
    with command(*words, "--timer", "session-cleanup=30s", folder=tmp_path) as (process, ready):
        assert set(ready) == {"listen", "ping", "guid"}
        with socket.create_connection(place(ready["listen"]), 20) as client:
            client.sendall(FRAMES[0].data)
            assert client.recv(100_000)[4:8] == b"LIOR"
            client.sendall(FRAMES[0].data.replace(b"LIOR", b"RIOL"))
            while client.recv(100_000):
                pass
        code, said = ended(process)
    assert code is ExitCode.DEVIATES
    assert all(each["direction"].endswith(":1801") for each in said["deviations"])
    line = [sys.executable, "-m", "conformance", "replay", str(record), "--json", "--out", str(tmp_path / "again")]
    again = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == ExitCode.DEVIATES


@served
def test_what_the_server_says_to_its_clients_goes_through_and_is_recorded(tmp_path: Path) -> None:
    record = tmp_path / "said.pcapng"
    words = ["serve", "--listen", "127.0.0.1:0", "--ping-port", "0", "--record", str(record)]
    with command(*words, folder=tmp_path) as (process, ready):
        (_, port), (_, pinged) = place(ready["listen"]), place(ready["ping"])
        _, declared = understood(f":127.0.0.1?qm={port}&ping={pinged}")
        checked = wire_check(target("127.0.0.1", Permit()), declared)
        code, said = ended(process)
    assert {step.what: step.state for step in checked.findings} == {
        **dict.fromkeys(
            ("address", "ping", "session", "parameters", "acknowledgment", "connection back", "administration"), "ok"
        ),
        "remote read": "missing",
    }
    assert code is ExitCode.CONFORMS, said
    acceptors = {event.acceptor.address for event in events(record) if isinstance(event, Opened)}
    assert len(acceptors) == 2 and "127.0.0.1" in acceptors


@served
def test_connections_back_that_are_not_seen_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.3", 0)) as taken:
        monkeypatch.setattr(proxy, "_free", lambda host, kind: taken.getsockname()[1])
        told: list[str] = []
        watch = Watch(lambda ready: None, lambda now: told.extend(now.problems), budget_s=0)
        serve(Place("127.0.0.1", 0), wanted=Wanted(), judging=Judging(out=str(tmp_path)), watch=watch, ping_port=0)
        assert f"127.0.0.3:{taken.getsockname()[1]} is taken" in told[0]


@served
def test_serve_tells_where_it_is_called(tmp_path: Path) -> None:
    words = ("serve", "--listen", "127.0.0.1:0", "--ping-port", "0", "--rpc", "0", "--fault", "server-port-zero")
    with command(*words, folder=tmp_path) as (process, ready):
        socket.create_connection(place(ready["rpc"]), 20).close()
        assert ended(process)[0] is ExitCode.NOTHING_JUDGED


@served
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--fault", "no-such-fault"], "There is no fault no-such-fault; serve --faults lists them."),
        (["--fault", "ping-cooky"], "did you mean ping-cookie?"),
        (["--way", "no-such-way"], "There is no way no-such-way; serve --help lists them."),
        (["--way", "bussy"], "did you mean busy?"),
        (["--consume", "mqconform-plian=2s"], "did you mean mqconform-plain?"),
        (["--consume", "nope=2s"], "it has mqconform-"),
        (["--timer", "session-cleanup=0s"], "more than 0"),
        (["--listen", "nosuch.invalid:1801"], "127.0.0.1:1801"),
        (["--timer", "no-such-timer=2s"], "no-such-timer"),
        (["--timer", "session-cleanup=soon"], "session-cleanup=soon"),
        (["--listen", "10.0.0.1:1801"], "loopback"),
        (["--rpc", "10.0.0.1:2103"], "loopback"),
        (["--rpc", "nonsense"], "[HOST:]PORT"),
        (["--rpc-epm", "135"], "--rpc-epm needs --rpc"),
    ],
)
def test_a_mistake_is_one_sentence(words: list[str], named: str, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "conformance", "serve", "--listen", "127.0.0.1:0", "--ping-port", "0", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    assert named in done.stderr and len(done.stderr.splitlines()) == 1


@served
def test_what_serve_can_have_and_a_run_cannot_is_told(tmp_path: Path) -> None:
    line = [
        sys.executable,
        "-m",
        "conformance",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--ping-port",
        "0",
        "--budget",
        "0s",
    ]
    told = {}
    for words in ("order-ack-send=300ms", "order-ack-send=500ms", "session-cleanup=2s"):
        done = subprocess.run(
            [*line, "--timer", words], capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path
        )
        told[words] = "MS-MQQB 3.1.3.2 says 500 ms" in done.stderr
    line += ["--queue", "foo", "--queue", "mqconform-foo,transactional"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert done.stderr.count("The queue ") == 1 and "The queue foo is for your own clients" in done.stderr
    assert told == {"order-ack-send=300ms": True, "order-ack-send=500ms": False, "session-cleanup=2s": False}


@served
def test_the_faults_are_listed() -> None:
    line = [sys.executable, "-m", "conformance", "serve", "--faults", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    assert all({"name", "breaks", "says"} <= set(each) for each in json.loads(done.stdout))


ROOT = Path(__file__).parents[2]
GITHUB, GITLAB = ROOT / "ci/github/serve/action.yml", ROOT / "ci/gitlab/mqconform-serve.gitlab-ci.yml"
CLIENT = f"{sys.executable} {Path(__file__).with_name('one_client.py')}"


def script(kit: str) -> tuple[list[str], str]:
    """The shell of a kit, and its part that serves."""
    loaded = YAML(typ="safe").load(GITHUB if kit == "github" else GITLAB)
    if kit == "github":
        (step,) = [each for each in loaded["runs"]["steps"] if each.get("name") == "Serve and test"]
        assert "${{" not in step["run"], "an input reaches a script as a variable"
        return ["bash", "--noprofile", "--norc", "-eo", "pipefail"], step["run"]
    return ["sh", "-e"], loaded[".mqconform-serve"]["script"][0]


@pytest.mark.parametrize(
    ("schema", "path", "options"),
    [("github-actions", GITHUB, ()), ("gitlab-ci", GITLAB, ("--data-transform", "gitlab-ci"))],
    ids=["github", "gitlab"],
)
def test_the_kits_hold_to_their_servers_schemas(schema: str, path: Path, options: tuple[str, ...]) -> None:
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *options]
    line += ["--regex-variant", "nonunicode", str(path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not SERVED, reason="this checkout has no embedded queue manager on the network")
@pytest.mark.parametrize("kit", ["github", "gitlab"])
@pytest.mark.parametrize(
    ("client", "arguments", "code"),
    [("right", "", 0), ("wrong", "", 1), ("silent", "", 5), ("failing", "", 7), ("right", "--fault no-such-fault", 2)],
)
def test_a_job_ends_as_the_client_or_the_judge_does(
    kit: str, client: str, arguments: str, code: int, tmp_path: Path
) -> None:
    shell, text = script(kit)
    folder = tmp_path / "check out"
    folder.mkdir()
    (folder / "job.sh").write_text(text, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests/net")]),
        "MQ_CLIENT": f"{CLIENT} {client}",
        "MQ_SERVE_ARGUMENTS": f"--listen 127.0.0.1:0 --ping-port 0 {arguments}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    done = subprocess.run(
        [*shell, "job.sh"], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    if code in (0, 1):
        assert re.search(r"packets? judged", done.stdout)
        assert (folder / "msmq-serve" / "junit.xml").is_file() and (folder / "msmq-serve.pcapng").is_file()
