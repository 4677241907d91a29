"""The driver for ActiveX objects, under Mono, with an object model in plain C# in the place of MSMQ's."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dotnet import SHARED, Wire, need_mono

from conformance.adapter import protocol
from conformance.adapter.connectors import connect
from conformance.adapter.errors import ConnectorError, DriverUnusable

SOURCES = SHARED.parent / "activex"
MODEL = Path(__file__).parent / "object_model"
QUEUE_INFO = "d7d6e07c-dccd-11d0-aa4b-0060970debae"
EVENTS = "d7d6e078-dccd-11d0-aa4b-0060970debae"
LEFT_OUT = {"vt": "ERROR", "value": 0x80020004}
TOKEN = "a-word-of-ours"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of driver.exe and fake.dll, compiled as the README says, without a warning."""
    need_mono()
    folder = tmp_path_factory.mktemp("activex")
    compiler = ["mcs", "-langversion:5", "-warnaserror"]
    sources = [*SOURCES.glob("*.cs"), *SHARED.glob("*.cs")]
    subprocess.run([*compiler, f"-out:{folder / 'driver.exe'}", *sources], check=True, timeout=60)
    library = ["-target:library", f"-r:{folder / 'driver.exe'}", f"-out:{folder / 'fake.dll'}"]
    subprocess.run([*compiler, *library, *MODEL.glob("*.cs")], check=True, timeout=60)
    return folder


def command(built: Path) -> list[str]:
    return ["mono", str(built / "driver.exe"), "--library", str(built / "fake.dll")]


@pytest.fixture
def wire(built: Path, tmp_path: Path) -> Iterator[Wire]:
    wire = Wire(*command(built))
    hello = wire.hello(tmp_path, "1.2")
    protocol.validator("hello", "result")(hello)
    yield wire
    wire.close()


def made(wire: Wire, name: str) -> str:
    handle: str = wire.call("objects.create", **{"class": name})["object"]
    return handle


def invoke(wire: Wire, handle: str, member: str, *arguments: Any, kind: str = "method") -> dict[str, Any]:
    return wire.call("objects.invoke", object=handle, member=member, kind=kind, arguments=list(arguments))


def bstr(text: str | None) -> dict[str, Any]:
    return {"vt": "BSTR", "value": text}


def i4(number: int) -> dict[str, Any]:
    return {"vt": "I4", "value": number}


def a_queue(wire: Wire, path: str = ".\\private$\\q") -> tuple[str, str]:
    """A new queue: the handles of its information and of the open queue."""
    info = made(wire, "MSMQQueueInfo")
    assert invoke(wire, info, "PathName", bstr(path), kind="put")["status"] == 0
    assert invoke(wire, info, "Create")["status"] == 0
    opened = invoke(wire, info, "Open", i4(1), i4(0))
    return info, opened["value"]["value"]


VALUES = [
    {"vt": "EMPTY"},
    {"vt": "NULL"},
    {"vt": "I1", "value": -128},
    {"vt": "I2", "value": -32768},
    {"vt": "I4", "value": 2147483647},
    {"vt": "I8", "value": "-9223372036854775808"},
    {"vt": "INT", "value": -1},
    {"vt": "UI1", "value": 255},
    {"vt": "UI2", "value": 65535},
    {"vt": "UI4", "value": 4294967295},
    {"vt": "UI8", "value": "18446744073709551615"},
    {"vt": "UINT", "value": 4294967295},
    {"vt": "R4", "value": "1.5"},
    {"vt": "R8", "value": "-Infinity"},
    {"vt": "R8", "value": "1e+100"},
    {"vt": "CY", "value": "-1.25"},
    {"vt": "DATE", "value": "36526.5"},
    {"vt": "DECIMAL", "value": "79228162514264337593543950335"},
    {"vt": "BSTR", "value": "\u00e4\U0001f600\u0000x"},
    {"vt": "BOOL", "value": True},
    {"vt": "ERROR", "value": 0xC00E0008},
    {"vt": "UNKNOWN", "value": None},
    {"vt": "ARRAY", "of": "UI1", "value": "AAEC"},
    {"vt": "ARRAY", "of": "UI1", "value": ""},
    {"vt": "ARRAY", "of": "I4", "value": [{"vt": "I4", "value": 7}]},
    {"vt": "ARRAY", "of": "BSTR", "value": [{"vt": "BSTR", "value": "a"}]},
    {"vt": "ARRAY", "of": "VARIANT", "value": [{"vt": "I2", "value": 1}, {"vt": "EMPTY"}]},
]


def test_each_type_of_value_comes_back_as_it_went(wire: Wire) -> None:
    echo = made(wire, "Echo")
    for value in VALUES:
        answer = invoke(wire, echo, "Same", value)
        assert answer == {"status": 0, "value": value}
        protocol.value_validator("typed_value")(answer["value"])


def test_what_the_runtime_cannot_pass_is_not_expressible(wire: Wire) -> None:
    echo = made(wire, "Echo")
    for value in (
        {"vt": "BOOL", "value": 2},
        {"vt": "DATE", "value": "1e300"},
        {"vt": "ARRAY", "of": "CY", "value": []},
    ):
        answer = invoke(wire, echo, "Same", value)
        assert (answer["status"], answer["failure"]["kind"]) == (None, "NotExpressible")


def test_nothing_is_told_by_the_declared_type(wire: Wire) -> None:
    echo = made(wire, "Echo")
    assert invoke(wire, echo, "Anything")["value"] == {"vt": "EMPTY"}
    assert invoke(wire, echo, "Text")["value"] == bstr(None)
    assert invoke(wire, echo, "Queue")["value"] == {"vt": "DISPATCH", "value": None}
    assert "value" not in invoke(wire, echo, "Nothing")
    assert invoke(wire, echo, "Missed", LEFT_OUT)["value"] == bstr("left out")
    assert invoke(wire, echo, "Missed")["value"] == bstr("left out")
    assert invoke(wire, echo, "Missed", i4(1))["value"] == bstr("given")


def test_failures_have_the_code_of_the_object(wire: Wire) -> None:
    echo = made(wire, "Echo")
    assert invoke(wire, echo, "Fail", i4(0xC00E0008 - (1 << 32)))["status"] == 0xC00E0008
    assert invoke(wire, echo, "NotThere")["status"] == 0x80004001
    assert invoke(wire, echo, "Refuse")["status"] == 0x80070057
    assert invoke(wire, echo, "NoSuchMember")["status"] == 0x80020006
    assert wire.call("objects.create", **{"class": "MSMQNothing"})["status"] == 0x80040154
    assert wire.call("objects.query", object=echo, iid=EVENTS)["status"] == 0x80004002
    assert invoke(wire, "o999", "Same")["failure"]["kind"] == "NoSuchHandle"


def test_one_object_has_one_handle_until_it_is_released(wire: Wire) -> None:
    info, queue = a_queue(wire)
    values = wire.call("objects.get", object=queue, members=["QueueInfo", "IsOpen2", "Nonsense"])["values"]
    assert values[0] == {"status": 0, "value": {"vt": "DISPATCH", "value": info}}
    assert values[1:] == [{"status": 0, "value": {"vt": "BOOL", "value": True}}, {"status": 0x80020006}]
    assert wire.call("objects.release", objects=[info]) == {"status": 0}
    assert wire.call("objects.get", object=info, members=["Label"])["status"] is None
    again = wire.call("objects.get", object=queue, members=["QueueInfo"])["values"][0]["value"]["value"]
    assert again not in (info, queue)


def test_a_read_waits_and_a_close_ends_it(wire: Wire) -> None:
    _, queue = a_queue(wire)
    arguments = [i4(0), LEFT_OUT, LEFT_OUT]
    waiting = wire.request("objects.invoke", object=queue, member="Receive", kind="method", arguments=arguments)
    assert wire.receive() == {"jsonrpc": "2.0", "method": "pending", "params": {"id": waiting}}
    closing = wire.request("objects.invoke", object=queue, member="Close", kind="method", arguments=[])
    answers = {message["id"]: message["result"] for message in (wire.receive(), wire.receive())}
    assert answers == {waiting: {"status": 0xC00E0008}, closing: {"status": 0}}


def test_events_reach_the_sink_until_it_is_let_go(wire: Wire) -> None:
    _, queue = a_queue(wire)
    source, message = made(wire, "MSMQEvent"), made(wire, "MSMQMessage")
    cookie = wire.call("objects.advise", object=source, sink="events", iid=EVENTS)["cookie"]
    invoke(wire, queue, "EnableNotification", {"vt": "DISPATCH", "value": source})
    sent = wire.request(
        "objects.invoke", object=message, member="Send", kind="method", arguments=[{"vt": "DISPATCH", "value": queue}]
    )
    event, answer = sorted((wire.receive(), wire.receive()), key=lambda message: "id" in message)
    assert event["params"] == {
        "object": source,
        "name": "Arrived",
        "arguments": [{"vt": "DISPATCH", "value": queue}, i4(0)],
    }
    assert answer["id"] == sent
    assert wire.call("objects.unadvise", object=source, cookie=cookie, iid=EVENTS) == {"status": 0}
    assert wire.call("objects.unadvise", object=source, cookie=cookie, iid=EVENTS)["status"] == 0x80040200
    assert wire.call("objects.advise", object=source, sink="other", iid=EVENTS)["status"] == 0x80040202
    assert wire.call("objects.advise", object=source, sink="null", iid=EVENTS)["status"] == 0x80004003
    assert wire.call("objects.advise", object=queue, sink="events", iid=EVENTS)["status"] == 0x80004002


@pytest.fixture
def posting(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the driver whose user32 is ours, and whose events come by window messages."""
    folder = tmp_path / "posting"
    shutil.copytree(built, folder)
    library = folder / "libuser32.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, MODEL / "user32.c"], check=True, timeout=60)
    for name in ("driver.exe", "fake.dll"):
        mapped = f'<configuration><dllmap dll="user32.dll" target="{library}"/></configuration>'
        (folder / f"{name}.config").write_text(mapped)
    monkeypatch.setenv("FAKE_EVENTS", "posted")
    return folder


def test_events_that_come_by_window_messages_are_dispatched(posting: Path, tmp_path: Path) -> None:
    wire = Wire(*command(posting))
    try:
        wire.hello(tmp_path, "1.2")
        test_events_reach_the_sink_until_it_is_let_go(wire)
    finally:
        wire.close()


def test_it_describes_what_the_type_information_has(wire: Wire) -> None:
    told = wire.call("objects.describe", **{"class": "MSMQQueueInfo"})
    protocol.validator("objects.describe", "result")(told)
    first = told["interfaces"][0]
    assert [each["name"] for each in told["interfaces"]] == ["IMSMQQueueInfo4", "IMSMQQueueInfo2", "IMSMQQueueInfo"]
    assert first["iid"] == "eba96b21-2168-11d3-898c-00e02c074f6b"
    members = {(each["name"], each["kind"]): each for each in first["members"]}
    assert members["PathName", "get"]["slot"] == 7
    assert members["PathName", "put"]["arguments"] == [{"name": "value", "vt": "BSTR", "flags": ["in"]}]
    assert members["Open", "method"]["arguments"][-1] == {"name": "value", "vt": "DISPATCH", "flags": ["out", "retval"]}
    assert members["Create", "method"]["arguments"][0]["flags"] == ["in", "optional"]
    assert told["constants"]["MQACCESS"]["MQ_PEEK_ACCESS"] == 32
    assert told["clsid"] == QUEUE_INFO
    echo = wire.call("objects.describe", **{"class": "Echo"})
    assert echo["failure"]["kind"] == "NotExpressible"


def test_a_reset_leaves_no_queue(wire: Wire) -> None:
    a_queue(wire)
    assert wire.call("reset") == {"status": 0}
    a_queue(wire)


def first_message(wire: Wire, format_name: str) -> Any:
    """The handle of the first message of a queue; None where it is empty."""
    info = made(wire, "MSMQQueueInfo")
    invoke(wire, info, "FormatName", bstr(format_name), kind="put")
    queue = invoke(wire, info, "Open", i4(1), i4(0))["value"]["value"]
    return invoke(wire, queue, "Peek", LEFT_OUT, LEFT_OUT, i4(0))["value"].get("value")


@pytest.mark.parametrize("name", ["JOURNAL", "DEADLETTER", "DEADXACT"])
@pytest.mark.parametrize("may_be_lost", [False, True])
def test_a_reset_empties_the_queues_of_the_computer_where_their_owner_lets_it(
    may_be_lost: bool, name: str, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FILLED", name)
    wire = Wire(*command(built), *(["--dead-letters-may-be-lost"] if may_be_lost else []))
    try:
        wire.hello(tmp_path, "1.2")
        assert wire.call("reset") == {"status": 0}
        assert (first_message(wire, f"DIRECT=OS:.\\SYSTEM$;{name}") is None) == may_be_lost
    finally:
        wire.close()


def test_what_a_killed_driver_made_is_remembered(wire: Wire, built: Path, tmp_path: Path) -> None:
    a_queue(wire)
    wire.process.kill()
    assert (tmp_path / "queues.txt").read_text().splitlines() == [".\\private$\\q"]
    again = Wire(*command(built))
    try:
        again.hello(tmp_path, "1.2")
        again.call("reset")
        assert (tmp_path / "queues.txt").read_text() == ""
    finally:
        again.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--library", "nothing.dll"],
        ["--sideways"],
        ["--listen", "0.0.0.0:0"],
        ["--listen", "1:2:x"],
        ["--listen", "0", "--connections", "0"],
        ["--listen", "0", "--token-file", "no-such-file"],
    ],
)
def test_a_wrong_command_line_is_one_sentence(arguments: list[str], built: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "MQCONFORM_TOKEN"}
    done = subprocess.run(
        ["mono", str(built / "driver.exe"), *arguments], capture_output=True, text=True, timeout=30, env=environment
    )
    assert done.returncode == 2
    assert done.stderr and "   at " not in done.stderr


@pytest.fixture
def listening(built: Path, tmp_path: Path) -> Iterator[int]:
    """The port of a driver that asks for a token."""
    word = tmp_path / "token.txt"
    word.write_text(TOKEN + "\n")
    arguments = ["--listen", "127.0.0.1:0", "--token-file", str(word)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*command(built), *arguments], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], 30)[0]
        ready = process.stdout.readline().decode()
        try:
            yield int(ready.rpartition(":")[2])
        finally:
            process.kill()


def greeting(token: str | None) -> bytes:
    params = {
        "versions": ["1.2"],
        "harness": "test",
        "state_dir": "/nowhere",
        **({} if token is None else {"token": token}),
    }
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hello", "params": params}).encode() + b"\n"


def answered(port: int, line: bytes) -> dict[str, Any]:
    with socket.create_connection(("127.0.0.1", port), 10) as link:
        link.sendall(line)
        return json.loads(link.makefile().readline())  # type: ignore[no-any-return]


def test_a_connection_without_the_token_is_refused(listening: int) -> None:
    for token in (None, "", "a-word-of-other", TOKEN + "x", TOKEN * 2):
        error = answered(listening, greeting(token))["error"]
        assert error["code"] == -32001
        assert "token" in error["message"] and TOKEN not in error["message"]
    assert answered(listening, b"GET / HTTP/1.1\r\n")["error"]["code"] == -32001
    assert answered(listening, greeting(TOKEN))["result"]["protocol"] == "1.2"


def test_one_connection_at_a_time_and_a_lost_one_returns(listening: int) -> None:
    with socket.create_connection(("127.0.0.1", listening), 10) as first:
        first.sendall(greeting(TOKEN))
        lines = first.makefile()
        assert "result" in json.loads(lines.readline())
        assert "1 connection at a time" in answered(listening, greeting(TOKEN))["error"]["message"]
        first.sendall(b'{"jsonrpc":"2.0","id":2,"method":"stop","params":{}}\n')
        assert json.loads(lines.readline())["result"] == {"status": 0}
        assert lines.readline() == ""
    assert "result" in answered(listening, greeting(TOKEN))


def test_the_harness_reaches_it_over_tcp(listening: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MQCONFORM_TOKEN", raising=False)
    connector = f"tcp:127.0.0.1:{listening}"
    with pytest.raises(DriverUnusable, match="refuses: the token in hello is missing"):
        connect(connector, state_dir=tmp_path / "state")
    word = tmp_path / "word.txt"
    with pytest.raises(ConnectorError, match="can't be read"):
        connect(f"{connector}?token-file={word}", state_dir=tmp_path / "state")
    word.write_text(TOKEN)
    with pytest.raises(ConnectorError, match=r"takes \?token-file=FILE"):
        connect(f"{connector}?token={TOKEN}", state_dir=tmp_path / "state")
    client = connect(f"{connector}?token-file={word}", state_dir=tmp_path / "state")
    try:
        made_info = client.call("objects.create", **{"class": "MSMQQueueInfo"})
        assert made_info.ok
    finally:
        client.close()


# A planted mistake, and a requirement that it breaks.
MISTAKES = {
    "": None,
    "label-cut": "MQAC-3.10.4.1.5.input-ref-queue-label-bstr-label",
    "created-twice": "MQAC-3.10.4.1.26.check-owner-queue-manager-application-queue",
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake or "none")
def test_a_planted_mistake_is_judged(mistake: str, built: Path, tmp_path: Path) -> None:
    driver, out = "stdio:" + " ".join(command(built)), str(tmp_path / "run")
    judge = [sys.executable, "-m", "conformance", "run", "--adapter", driver, "--suite", "objects", "--out", out]
    done = subprocess.run(
        [*judge, "--", "-k", "kept-Label or creating-twice"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "FAKE_MISTAKE": mistake},
    )
    assert done.returncode == (1 if mistake else 0), done.stdout + done.stderr
    assert mistake == "" or f"FAIL {MISTAKES[mistake]}" in done.stdout
