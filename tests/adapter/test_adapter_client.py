"""The client against an honest driver: calls, waiting reads, restarts, the user's own mistakes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.errors import DriverUnusable, NotOffered

FAKES = Path(__file__).parent / "fakes"
EMPTY, CANCELLED = 0xC00E001B, 0xC00E0008


@pytest.fixture
def client(tmp_path: Path):  # type: ignore[no-untyped-def]
    command = shlex.join([sys.executable, str(FAKES / "honest.py")])
    with connect(f"stdio:{command}", state_dir=tmp_path / "state") as made:
        yield made


def opened(client: Client) -> str | int:
    name = client.call("queues.create", path_name="HOST\\private$\\q").values["format_name"]
    handle: str | int = client.call("queues.open", format_name=name, access="receive").values["queue"]
    return handle


def test_hello_is_read(client: Client) -> None:
    assert (client.hello.name, client.hello.clock, client.hello.profile) == ("honest", "virtual", "msmq-4.0")
    assert client.offers("messages.send") and not client.offers("cursors.open")
    with pytest.raises(ValueError, match=r"no method messages.sendd; nearest: messages.send"):
        client.offers("messages.sendd")


def test_a_call_is_answered(client: Client) -> None:
    queue = opened(client)
    assert client.call("messages.send", queue=queue, message={"label": "a"}).ok
    result = client.call("messages.receive", queue=queue, timeout_ms=0)
    assert result.ok and result.values["message"]["label"] == "a"
    empty = client.call("messages.receive", queue=queue, timeout_ms=0)
    assert (empty.ok, empty.status, empty.values, empty.failure) == (False, EMPTY, {}, None)


def test_a_waiting_read_stays_open_while_others_run(client: Client) -> None:
    queue = opened(client)
    read = client.start("messages.receive", queue=queue, timeout_ms=1000)
    assert client.wait_blocked_or_done(read, 5000)
    assert read.blocked and not read.done
    assert not client.wait_done(read, 0)
    client.call("messages.send", queue=queue, message={"label": "b"})
    assert client.wait_done(read, 5000)
    assert read.result().values["message"]["label"] == "b"


def test_a_waiting_read_ends_when_time_passes(client: Client) -> None:
    queue = opened(client)
    read = client.start("messages.peek", queue=queue, timeout_ms=1000)
    client.call("clock.advance", by_ms=999)
    assert read.blocked and not read.done
    client.call("clock.advance", by_ms=1)
    assert read.done and read.result().status == EMPTY


def test_a_waiting_read_is_cancelled(client: Client) -> None:
    queue = opened(client)
    read = client.start("messages.receive", queue=queue, timeout_ms=0xFFFFFFFF)
    assert "deadline_ms" not in read.params
    client.call("messages.cancel", request=read.id)
    assert read.result().status == CANCELLED


def test_a_restart_finds_the_state_and_counts_an_epoch(client: Client) -> None:
    name = client.call("queues.create", path_name="q").values["format_name"]
    for epoch, kill in enumerate([True, False], start=2):
        assert client.restart(kill=kill)
        assert client.epoch == epoch
        assert client.call("queues.open", format_name=name, access="receive").ok


def test_a_large_request_and_answer_pass(client: Client) -> None:
    queue = opened(client)
    body = "AAAA" * 500_000
    for _ in range(2):
        client.call("messages.send", queue=queue, message={"body": body})
    assert client.call("messages.receive", queue=queue, timeout_ms=0).values["message"]["body"] == body


def test_any_text_goes_there_and_back(client: Client) -> None:
    label = '\ud800 \x00 \u2028 \U0001f600 "\\ \n'
    queue = opened(client)
    client.call("messages.send", queue=queue, message={"label": label})
    assert client.call("messages.receive", queue=queue, timeout_ms=0).values["message"]["label"] == label


def test_the_suites_own_mistakes_are_not_the_drivers(client: Client) -> None:
    with pytest.raises(NotOffered, match=r"the driver honest does not offer cursors.open"):
        client.call("cursors.open", queue="h1")
    with pytest.raises(ValueError, match=r"timeout_ms"):
        client.call("messages.receive", queue="h1")
    with pytest.raises(ValueError, match=r"nearest: clock.now"):
        client.call("clock.noww")
    assert client.epoch == 1 and client.call("clock.now").ok


def test_an_unknown_method_is_refused_by_an_error(client: Client) -> None:
    assert client.probe("queues.no_such_method")["code"] == -32601
    assert client.call("clock.now").ok


def test_a_closed_client_says_so(client: Client) -> None:
    assert client.close()
    with pytest.raises(DriverUnusable, match=r"was closed"):
        client.call("clock.now")
