"""The .NET driver as a process that speaks the protocol, without a broker, or with one that goes away."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from dotnet import PORT, Wire, broker, compiled, listens, need_rabbitmq, the_port

from conformance.adapter import protocol

UNKNOWN, BROKEN, NO_REQUEST = -32601, -32700, -32600


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("dotnet"))


@pytest.fixture
def wire(driver: Path) -> Iterator[Wire]:
    wire = Wire("mono", driver)
    yield wire
    wire.close()


@pytest.fixture
def greeted(wire: Wire, tmp_path: Path) -> Wire:
    wire.hello(tmp_path)
    return wire


@contextlib.contextmanager
def a_port_of_ours() -> Iterator[None]:
    with the_port():
        if listens():
            pytest.skip(f"port {PORT} is used by something else on this machine")
        yield


def create(wire: Wire, name: str = "q") -> str:
    made = wire.call("queues.create", path_name=f".\\private$\\{name}", deadline_ms=10_000)
    assert made["status"] == 0
    text: str = made["format_name"]
    return text


def opened(wire: Wire, access: str = "send") -> str:
    result = wire.call("queues.open", format_name=create(wire), access=access, deadline_ms=10_000)
    text: str = result["queue"]
    return text


def test_it_says_what_monos_library_can_do(wire: Wire, tmp_path: Path) -> None:
    hello = wire.hello(tmp_path)
    protocol.validator("hello", "result")(hello)
    assert hello["protocol"] == "1.1" and hello["name"] == "mono-system-messaging"
    assert hello["facets"] == {
        "manager": ["hello", "attach", "reset", "stop"],
        "queues": ["create", "open", "close", "delete", "purge", "get", "set"],
        "messages": ["send", "receive", "peek", "peek_next"],
        "cursors": ["open", "close"],
        "transactions": ["begin", "commit", "abort"],
    }
    accepts = hello["accepts"]
    assert "PROPID_Q_QUOTA" in accepts["properties"] and "PROPID_Q_LABEL" not in accepts["properties"]
    assert "class" not in accepts["message"] and "move" not in accepts["access"]
    assert accepts["format_names"] == ["journal", "dead_letter", "remote"]


def test_a_harness_of_the_first_version_is_answered_in_it(wire: Wire, tmp_path: Path) -> None:
    hello = wire.hello(tmp_path, "1.0")
    assert hello["protocol"] == "1.0" and "accepts" not in hello


def test_a_version_it_does_not_speak_is_refused(wire: Wire, tmp_path: Path) -> None:
    refused = wire.hello(tmp_path, "9.9")
    assert refused["status"] is None and "1.1, 1.0" in refused["failure"]["text"]


def test_before_hello_nothing_else_is_known(wire: Wire) -> None:
    wire.request("reset")
    assert wire.receive()["error"]["code"] == UNKNOWN


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("no JSON", BROKEN),
        ('{"jsonrpc":"2.0","id":1,"method":"reset","params":{}} {}', BROKEN),
        ('{"id":1,"method":"reset",}', BROKEN),
        ('"\\ud8', BROKEN),
        ('"', BROKEN),
        ("[" * 100_000, BROKEN),
        ("[]", NO_REQUEST),
        ('{"jsonrpc":"2.0","method":"reset"}', NO_REQUEST),
        ('{"jsonrpc":"2.0","id":"a","method":"reset"}', NO_REQUEST),
        ('{"jsonrpc":"2.0","id":7,"method":"reset","params":[]}', NO_REQUEST),
        ('{"jsonrpc":"2.0","id":7,"method":"queues.counts","params":{}}', UNKNOWN),
        ('{"jsonrpc":"2.0","id":7,"method":"messages.cancel","params":{}}', UNKNOWN),
    ],
)
def test_a_bad_request_is_told_and_the_driver_goes_on(greeted: Wire, line: str, code: int) -> None:
    greeted.send(line)
    assert greeted.receive()["error"]["code"] == code
    assert greeted.call("reset", deadline_ms=10_000) == {"status": 0}


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("queues.open", {}, "ArgumentException"),
        ("queues.open", {"format_name": 5, "access": "send"}, "ArgumentException"),
        ("queues.open", {"format_name": "DIRECT=OS:.\\private$\\q;part", "access": "send"}, "NotExpressible"),
        ("queues.open", {"format_name": "DIRECT=OS:.\\private$\\q;part;journal", "access": "send"}, "NotExpressible"),
        ("queues.create", {"path_name": ".\\private$\\q", "properties": {"PROPID_Q_TRANSACTION": 2}}, "NotExpressible"),
        ("queues.create", {"path_name": ".\\private$\\q", "properties": {"PROPID_Q_QUOTA": "7"}}, "NotExpressible"),
        ("queues.open", {"format_name": "DIRECT=OS:\\q", "access": "send"}, "NotExpressible"),
        ("queues.open", {"format_name": "DIRECT=OS:A\\q,DIRECT=OS:B\\q", "access": "send"}, "NotExpressible"),
        (
            "queues.open",
            {"format_name": "PUBLIC=0123abcd-4567-89ab-cdef-0123456789ab", "access": "send"},
            "NotExpressible",
        ),
        ("queues.open", {"format_name": "DIRECT=OS:elsewhere\\q", "access": "move"}, "NotExpressible"),
        ("queues.purge", {"queue": "q99"}, "NoSuchHandle"),
        ("messages.receive", {"queue": 7, "timeout_ms": 0}, "NoSuchHandle"),
        ("transactions.commit", {"transaction": "t99"}, "NoSuchHandle"),
        ("cursors.close", {"cursor": "c99"}, "NoSuchHandle"),
    ],
)
def test_what_cannot_be_done_is_a_failure_in_words(
    greeted: Wire, method: str, params: dict[str, object], kind: str
) -> None:
    result = greeted.call(method, **params, deadline_ms=10_000)
    assert result["status"] is None and result["failure"]["kind"] == kind
    protocol.validator(method, "result")(result)


@pytest.mark.parametrize("name", ["nowhere", "nowhere;journal", "SYSTEM$;DEADXACT", "SYSTEM$;JOURNAL"])
def test_what_is_not_there_is_the_librarys_to_refuse(greeted: Wire, name: str) -> None:
    """Mono's refuses nothing: its constructor looks at nothing, and the driver asks nothing before."""
    path = name if name.startswith("SYSTEM$") else f"private$\\{name}"
    result = greeted.call("queues.open", format_name=f"DIRECT=OS:.\\{path}", access="receive", deadline_ms=10_000)
    assert result["status"] == 0


def test_an_ended_transaction_is_the_librarys_to_refuse(greeted: Wire) -> None:
    """Mono's aborts an ended one again; forgotten by the driver, it would be no handle."""
    transaction = greeted.call("transactions.begin")["transaction"]
    for _ in range(2):
        assert greeted.call("transactions.abort", transaction=transaction, deadline_ms=10_000)["status"] == 0


def test_properties_go_there_and_back(greeted: Wire) -> None:
    name = create(greeted)
    assert greeted.call("queues.set", format_name=name, properties={"PROPID_Q_QUOTA": 77})["status"] == 0
    told = greeted.call("queues.get", format_name=name, properties=["PROPID_Q_QUOTA", "PROPID_Q_PATHNAME"])
    assert told["properties"]["PROPID_Q_QUOTA"] == 77
    assert told["properties"]["PROPID_Q_PATHNAME"].endswith("\\private$\\q")
    assert "mqc-" not in told["properties"]["PROPID_Q_PATHNAME"]


def test_it_ends_with_its_input(greeted: Wire) -> None:
    assert greeted.process.stdin is not None
    greeted.process.stdin.close()
    greeted.ended()


def test_it_ends_after_stop(greeted: Wire) -> None:
    assert greeted.call("stop") == {"status": 0}
    greeted.ended()


def test_it_ends_when_nobody_listens(greeted: Wire) -> None:
    assert greeted.process.stdout is not None
    greeted.process.stdout.close()
    greeted.request("reset")
    greeted.ended()


def test_a_missing_assembly_is_named_with_its_package(driver: Path, tmp_path: Path) -> None:
    """A driver compiled against an assembly nobody has: the name of the one it asks for is changed in it."""
    lonely = tmp_path / "driver.exe"
    code = driver.read_bytes()
    assert code.count(b"\0System.Messaging\0") == 1
    lonely.write_bytes(code.replace(b"\0System.Messaging\0", b"\0Absent.Messaging\0"))
    done = subprocess.run(["mono", lonely], input="", capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 3 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "System.Messaging is not installed" in done.stderr and "libmono-system-messaging4.0-cil" in done.stderr


@pytest.mark.parametrize("arguments", [["--port", "1"], ["--no-wait-ms"], ["--no-wait-ms", "-1"], ["--hide"]])
def test_an_argument_it_does_not_know_ends_it_with_its_usage(driver: Path, arguments: list[str]) -> None:
    done = subprocess.run(["mono", driver, *arguments], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2 and done.stderr.startswith("usage: driver.exe")


def test_without_a_broker_calls_fail_and_the_driver_goes_on(greeted: Wire) -> None:
    with a_port_of_ours():
        sender = opened(greeted)
        for _ in range(2):
            sent = greeted.call("messages.send", queue=sender, message={"body": "aGk="}, deadline_ms=10_000)
            assert sent["status"] is None or sent["status"] >= 0x80000000
        assert greeted.call("reset", deadline_ms=10_000) == {"status": 0}


def test_a_broker_that_never_answers_is_given_up_before_the_deadline(greeted: Wire) -> None:
    with a_port_of_ours(), socket.create_server(("127.0.0.1", PORT)):
        sent = greeted.call("messages.send", queue=opened(greeted), message={"body": "aGk="}, deadline_ms=2_000)
        assert sent["failure"]["kind"] == "NoAnswer"
        # What the call still does ends with the process; a reset needs the broker too, and ends it.
        assert greeted.call("reset", deadline_ms=2_000)["failure"]["kind"] == "NoAnswer"
        with pytest.raises(EOFError):
            greeted.receive()
        greeted.ended()


def test_a_broker_that_dies_is_a_failure_of_every_call(greeted: Wire, tmp_path: Path) -> None:
    need_rabbitmq()
    with a_port_of_ours():
        started = broker("start", tmp_path / "own")
        assert started.returncode == 0, started.stderr
        try:
            name = create(greeted)
            sender, reader = (
                greeted.call("queues.open", format_name=name, access=access)["queue"] for access in ("send", "receive")
            )
            assert greeted.call("messages.send", queue=sender, message={"body": ""}, deadline_ms=10_000)["status"] == 0
            assert greeted.call("queues.purge", queue=reader, deadline_ms=10_000)["status"] == 0
            waiting = greeted.request("messages.receive", queue=reader, timeout_ms=60_000, deadline_ms=70_000)
            assert greeted.receive()["method"] == "pending"
        finally:
            broker("stop", tmp_path / "own")
        answer = greeted.receive(within=30)
        assert answer["id"] == waiting and answer["result"]["status"] != 0
        assert greeted.call("messages.send", queue=sender, message={"body": ""}, deadline_ms=10_000)["status"] != 0
        assert greeted.call("reset", deadline_ms=10_000) == {"status": 0}


def test_a_busy_port_is_one_sentence(tmp_path: Path) -> None:
    need_rabbitmq()
    with the_port(), contextlib.ExitStack() as stack:
        if not listens():
            stack.enter_context(socket.create_server(("127.0.0.1", PORT)))
        done = broker("start", tmp_path)
        assert done.returncode == 3
        assert len(done.stderr.splitlines()) == 1 and "--broker existing" in done.stderr
