"""Drivers of our own that are forked: each is a process like one that was started, and none outlives its session."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from conformance.adapter import process
from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.errors import DriverCrashed
from conformance.adapter.forking import Forked, Parent

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks need a subreaper")


def driver(client: Client) -> process.ProcessLink:
    link = client._supervisor.session().link
    assert isinstance(link, process.ProcessLink)
    return link


def test_only_the_first_process_is_started(tmp_path: Path) -> None:
    with connect("embedded", state_dir=tmp_path) as client:
        first = driver(client)
        assert not isinstance(first._process, Forked)
        for kill in (True, False, True):
            name = client.call("queues.create", path_name=f".\\private$\\q{client.epoch}").values["format_name"]
            assert client.restart(kill=kill)
            forked = driver(client)._process
            assert isinstance(forked, Forked) and os.getsid(forked.pid) == forked.pid != os.getsid(0)
            assert client.call("queues.open", format_name=name, access="receive").ok
    with pytest.raises(ChildProcessError):  # it was waited for
        os.waitpid(forked.pid, os.WNOHANG)
    assert process.outliving() is None


def test_a_forked_process_deviates_as_the_first_does(tmp_path: Path) -> None:
    with connect("embedded+purge-leaves-last", state_dir=tmp_path) as client:
        left = []
        for number in range(2):
            name = client.call("queues.create", path_name=f".\\private$\\q{number}").values["format_name"]
            to = client.call("queues.open", format_name=name, access="send").values["queue"]
            queue = client.call("queues.open", format_name=name, access="receive").values["queue"]
            assert client.call("messages.send", queue=to, message={"label": "a"}).ok
            assert client.call("queues.purge", queue=queue).ok
            left.append(client.call("messages.receive", queue=queue, timeout_ms=0).ok)
            client.restart(kill=True)
    assert left == [True, True]


def test_the_end_of_a_forked_process_is_told(tmp_path: Path) -> None:
    with connect("embedded", state_dir=tmp_path) as client:
        client.restart(kill=True)
        os.kill(driver(client)._process.pid, signal.SIGTERM)
        with pytest.raises(DriverCrashed, match="killed by signal 15"):
            client.call("queues.create", path_name=".\\private$\\q")


def test_a_process_is_started_where_none_can_be_forked(tmp_path: Path) -> None:
    parent = Parent([sys.executable, "-c", "pass"], {})  # it ends, and forks nothing
    process.adopt()
    assert [parent.start() for _ in range(3)] == [None, None, None]
