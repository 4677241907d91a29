"""`adapter check` finds what a driver lacks, and says how to mend it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fake_drivers import fake as connector
from suites.session_peer import Peer

from conformance.adapter import process
from conformance.adapter.check import check_adapter
from conformance.adapter.check_calls import CheckStep
from conformance.adapter.errors import ConnectorError, DriverUnusable


def walked(fake: str, tmp_path: Path, deadline_ms: int = 5000) -> list[CheckStep]:
    return check_adapter(connector(fake), state_dir=tmp_path, deadline_ms=deadline_ms, hello_ms=5000, patience_ms=500)


def test_an_honest_driver_has_nothing_wrong(tmp_path: Path) -> None:
    steps = walked("honest", tmp_path)
    assert [step for step in steps if step.state == "wrong"] == []
    good = {step.what for step in steps if step.state == "ok"}
    assert good >= {
        "hello", "unknown method", "reset", "clock.now", "clock.advance", "queues.create", "queues.open",
        "queues.close", "queues.delete", "messages.send", "messages.receive", "messages.peek", "messages.cancel",
        "pending", "waiting read", "calls beside a waiting read", "readers in line", "reads that a call ends",
        "graceful restart", "kill and restart", "stop",
    }  # fmt: skip
    missing = {step.what: step.text for step in steps if step.state == "missing"}
    assert missing["cursors"].endswith("skipped: open, close")


@pytest.mark.parametrize(
    ("fake", "step", "says"),
    [
        ("answers_with_error", "clock.now", "JSON-RPC error"),
        ("answers_the_wrong_shape", "clock.now", "has time_ms"),
        ("prints_garbage", "clock.now", "not JSON"),
        ("answers_unknown_id", "clock.now", "never made"),
        ("answers_twice", "clock.now", "twice"),
        ("half_a_line", "clock.now", "middle of a line"),
        ("hangs_mid_run", "clock.now", "did not answer"),
        ("never_stops", "stop", "did not end in time"),
        ("forgets_its_queues", "kill and restart", "is not found again"),
        ("waits_in_silence", "waiting read", "still not answered"),
        ("waits_in_silence", "messages.cancel", "was not answered within"),
        ("answers_the_unknown", "unknown method", "with a result, not an error"),
        ("misspells_a_facet", "hello.facets", "offers messages.peak, .* did you mean messages.peek"),
        ("cannot_send", "messages.send", "valid parameters must succeed; it answered NotSupported: read-only"),
    ],
)
def test_each_defect_is_met_and_named(
    fake: str, step: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STOP_MS", 500)
    monkeypatch.setattr(process, "CLOSE_MS", 500)
    steps = walked(fake, tmp_path, 500 if fake == "hangs_mid_run" else 5000)
    wrong = [found for found in steps if found.state == "wrong" and found.what == step]
    assert wrong, steps
    assert any(re.search(says, found.text) for found in wrong), wrong
    assert all("\n" not in found.text for found in steps)


def test_what_could_not_be_tried_is_said(tmp_path: Path) -> None:
    steps = {found.what: found for found in walked("cannot_send", tmp_path)}
    assert steps["messages.receive"].state == "missing"
    assert "could not be tried after messages.send went wrong" in steps["messages.receive"].text


def test_without_a_hello_there_is_no_walk(tmp_path: Path) -> None:
    with pytest.raises(DriverUnusable):
        walked("exits_at_once", tmp_path)
    with pytest.raises(ConnectorError):
        check_adapter("stdoi:x", state_dir=tmp_path)


def test_a_driver_that_says_pending_from_a_timer_is_told_so(tmp_path: Path) -> None:
    steps = walked("pends_from_a_timer", tmp_path)
    assert not [step for step in steps if step.state == "wrong"]
    (timer,) = [step for step in steps if step.what == "pending" and step.state == "doubt"]
    assert "does it come from a timer?" in timer.text
    assert not [step for step in walked("honest", tmp_path / "other") if "timer" in step.text]


def test_a_driver_that_puts_readers_in_another_line_is_told_so(tmp_path: Path) -> None:
    steps = {step.what: step for step in walked("serves_the_last_reader", tmp_path)}
    assert steps["readers in line"].state == "doubt" and "10 of 10 tries" in steps["readers in line"].text


class Nameless(Peer):
    """Gives no session a name of its own."""

    def sessions_open(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**super().sessions_open(params), "session": "S1"}


class Denying(Peer):
    """Answers another failure where nobody connects."""

    def sessions_open(self, params: dict[str, Any]) -> dict[str, Any]:
        made = super().sessions_open(params)
        return made if "session" in made else {"status": 0xC00E0006}


class Telling(Peer):
    """Tells of packets that never came."""

    def sessions_received(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**super().sessions_received(params), "packets": [{"bytes": "AAAA", "at_ms": 1}]}


def steps(driver: type[Peer], tmp_path: Path) -> list[CheckStep]:
    found = check_adapter(
        f"python:{driver.__module__}:{driver.__name__}", state_dir=tmp_path, in_process=True, patience_ms=50
    )
    return [one for one in found if one.what.startswith("sessions.")]


def test_each_method_is_tried(tmp_path: Path) -> None:
    found = steps(Peer, tmp_path)
    names = ("about", "open", "send", "received", "close", "ping")
    assert {one.what: one.state for one in found} == {f"sessions.{name}": "ok" for name in names}


@pytest.mark.parametrize(
    ("driver", "method", "told"),
    [
        (Nameless, "sessions.open", "a name of its own"),
        (Denying, "sessions.open", "MQ_ERROR_IO_TIMEOUT"),
        (Telling, "sessions.received", "on which nothing was sent"),
    ],
)
def test_what_is_wrong_is_told(driver: type[Peer], method: str, told: str, tmp_path: Path) -> None:
    wrong = [one for one in steps(driver, tmp_path) if one.state == "wrong"]
    assert [one.what for one in wrong] == [method] and told in wrong[0].text
