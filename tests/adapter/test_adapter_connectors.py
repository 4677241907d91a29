"""Connector texts: the good ones give a client, a bad one gives one sentence with the nearest valid name."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.adapter.check import check_adapter
from conformance.adapter.connectors import connect, names
from conformance.adapter.errors import ConnectorError, DriverCrashed, DriverUnusable
from conformance.adapter.process import TcpLink
from conformance.adapter.templates import write_template

FAKES = Path(__file__).parent / "fakes"


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.syspath_prepend(str(FAKES))


@pytest.mark.parametrize(
    ("connector", "says"),
    [
        ("embeded", "no connector embeded; did you mean embedded"),
        ("embedded:x", "write embedded or"),
        ("embedded+", "write embedded or"),
        ("embedded+ignore-priority", "no fault 'ignore-priority'; did you mean ignores-priority"),
        ("embedded+ignores-priority,", "no fault ''"),
        ("", "is not a connector: write one of embedded"),
        ("/usr/bin/driver", "is not a connector"),
        ("stdio:", "names no command"),
        ("stdio", "names no command"),
        ("stdio:'half", "quote the command"),
        ("tcp:localhost", "write tcp:HOST:PORT"),
        ("tcp:localhost:0", "write tcp:HOST:PORT"),
        ("tcp:localhost:70000", "write tcp:HOST:PORT"),
        ("python:nothing", "write python:pkg.mod:Class"),
        ("python:no_such_module:Class", "there is no module no_such_module"),
        ("python:hosted:NoSuchClass", "has no class NoSuchClass"),
        ("python:hosted:NoHandle", "has no method handle"),
    ],
)
@pytest.mark.usefixtures("hosted")
def test_a_bad_connector_is_one_sentence(connector: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=says) as caught:
        connect(connector, state_dir=tmp_path / "state", known_faults=["ignores-priority", "loses-message-on-abort"])
    assert "\n" not in caught.value.sentence


@pytest.mark.parametrize("in_process", [False, True])
def test_an_unknown_fault_is_refused_by_whoever_knows_them(in_process: bool, tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=r"no fault '?no-such-fault") as caught:
        connect("embedded+no-such-fault", state_dir=tmp_path / "state", in_process=in_process)
    assert "\n" not in caught.value.sentence


@pytest.mark.parametrize("in_process", [False, True])
def test_the_embedded_driver_passes_the_check(in_process: bool, tmp_path: Path) -> None:
    steps = check_adapter("embedded", state_dir=tmp_path, in_process=in_process)
    assert [step for step in steps if step.state == "wrong"] == []


@pytest.mark.parametrize("connector", ["stdio:/bin/cat", "tcp:localhost:1"])
def test_in_process_is_refused_where_it_has_no_meaning(connector: str, tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=r"--in-process is for"):
        connect(connector, state_dir=tmp_path, in_process=True)


def test_a_missing_driver_and_one_without_the_right_to_run(tmp_path: Path) -> None:
    plain = tmp_path / "driver"
    plain.write_text("#!/bin/sh\n")
    with pytest.raises(DriverUnusable, match=r"may not be executed: make it executable"):
        connect(f"stdio:{plain}", state_dir=tmp_path / "state")
    with pytest.raises(DriverUnusable, match=r"does not exist"):
        connect(f"stdio:{tmp_path}/none", state_dir=tmp_path / "state")
    plain.write_text("neither a script nor a program")
    plain.chmod(0o755)
    with pytest.raises(DriverUnusable, match=r"could not be started"):
        connect(f"stdio:{plain}", state_dir=tmp_path / "state")


def test_a_folder_stands_for_the_driver_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "my driver"
    write_template("python", folder)
    client = connect(f"stdio:'{folder}'", state_dir=tmp_path / "state")
    assert client.call("stop").ok
    client.close()


def test_a_folder_without_a_driver_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with pytest.raises(DriverUnusable, match=r"is a folder: name the program in it"):
        connect(f"stdio:{folder}", state_dir=tmp_path / "state")
    write_template("csharp", folder / "sharp")
    with pytest.raises(ConnectorError, match=r"not compiled yet: mcs -out:"):
        connect(f"stdio:{folder}/sharp", state_dir=tmp_path / "state")


def test_a_state_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DriverUnusable, match=r"state folder"):
        connect("embedded", state_dir=tmp_path / "file" / "state")


def test_the_built_in_connectors_are_named() -> None:
    assert {"embedded", "python", "stdio", "tcp", "wire"} <= set(names())


@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize("name", ["Hosted", "Chatty"])
@pytest.mark.usefixtures("hosted")
def test_a_class_is_hosted(name: str, in_process: bool, tmp_path: Path) -> None:
    with connect(f"python:hosted:{name}", state_dir=tmp_path / "state", in_process=in_process) as client:
        assert client.hello.name == "hosted"
        waiting = client.start("clock.now")
        assert client.wait_blocked_or_done(waiting, 5000) and not waiting.done
        assert client.call("clock.advance", by_ms=1).values == {"time_ms": 2}
        assert waiting.done and waiting.result().values == {"time_ms": 1}
        assert client.restart(kill=True) and client.restart(kill=False)
        assert client.epoch == 3 and client.call("reset").ok


@pytest.mark.usefixtures("hosted")
def test_the_host_refuses_what_was_not_declared(tmp_path: Path) -> None:
    with connect("python:hosted:Hosted", state_dir=tmp_path / "state") as client:
        assert client.probe("queues.nothing")["code"] == -32601


@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.usefixtures("hosted")
def test_an_exception_of_the_class_is_its_crash(in_process: bool, tmp_path: Path) -> None:
    with connect("python:hosted:Raises", state_dir=tmp_path / "state", in_process=in_process) as client:
        with pytest.raises(DriverCrashed, match=r"ended during reset.*KeyError: 'no such queue'"):
            client.call("reset")
        assert client.call("clock.advance", by_ms=1).ok and client.epoch == 2
    with pytest.raises(DriverUnusable, match=r"disk full"):
        connect("python:hosted:RaisesWhenMade", state_dir=tmp_path / "state", in_process=in_process)


@pytest.fixture
def port() -> Iterator[int]:
    command = [sys.executable, str(FAKES / "over_tcp.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.kill()


def test_tcp_reconnects_into_a_new_namespace(port: int, tmp_path: Path) -> None:
    with connect(f"tcp:127.0.0.1:{port}", state_dir=tmp_path / "state") as client:
        name = client.call("queues.create", path_name="q").values["format_name"]
        assert client.call("queues.open", format_name=name, access="send").ok
        assert not client.keeps_state
        client.restart(kill=True)
        assert client.epoch == 2
        assert not client.call("queues.open", format_name=name, access="send").ok
    with connect(f"tcp:127.0.0.1:{port}", state_dir=tmp_path / "state") as client:
        assert client.hello.name == "over-tcp"


def test_a_server_that_goes_away_is_a_crash_and_then_unusable(tmp_path: Path) -> None:
    command = [sys.executable, str(FAKES / "over_tcp.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with connect(f"tcp:127.0.0.1:{port}", state_dir=tmp_path / "state") as client:
            server.kill()
            server.wait()
            with pytest.raises(
                DriverCrashed, match=r"the driver over-tcp (ended during|closed its input before) reset"
            ):
                client.call("reset")
            with pytest.raises(DriverUnusable, match="no driver answers"):
                client.call("reset")


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(DriverUnusable, match=r"no driver answers at 127.0.0.1:1 .*start it, or correct the connector"):
        connect("tcp:127.0.0.1:1", state_dir=tmp_path / "state")


@pytest.mark.parametrize("escaped", [False, True])
def test_a_token_that_the_driver_quotes_is_kept_nowhere(escaped: bool) -> None:
    token = "s3cr\u00e9t-word"
    with socket.create_server(("127.0.0.1", 0)) as server:
        link = TcpLink("127.0.0.1", server.getsockname()[1], max_line_bytes=1 << 20, within=60, token=token)
        driver, _ = server.accept()
        answer = {"id": 1, "result": {"name": f"I know {token}", token: [f"<{token}>"]}}
        with driver:
            driver.sendall(json.dumps(answer, ensure_ascii=escaped).encode() + b"\n")
            found = link.receive(time.monotonic() + 60)
        link.kill()
    assert found == {"id": 1, "result": {"name": "I know ***", "***": ["<***>"]}}
