"""Every way a driver can break: what is raised, what the sentence says, and that the run can go on.

Real processes, each named after its one defect.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from fake_drivers import driver, ended

from conformance.adapter.connectors import connect
from conformance.adapter.errors import (
    CallIndeterminate,
    DriverCrashed,
    DriverTimeout,
    DriverUnusable,
    ProtocolViolation,
)


@pytest.mark.parametrize(
    ("fake", "says"),
    [
        ("exits_at_once", "exit status 7.*cannot open the broker.*never said hello"),
        ("wrong_version", "speaks adapter protocol 9.0, this harness speaks 1.4, 1.3, 1.2, 1.1, 1.0"),
        ("prints_a_banner", "not JSON: 'ExampleMQ 2.3 ready.'.*not a driver"),
        ("refuses_hello", "refused hello: LicenseError: the evaluation period is over"),
        ("hangs_on_hello", "no hello within 0.3 s"),
    ],
)
def test_without_a_good_hello_there_is_no_session(fake: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(DriverUnusable, match=says) as caught:
        driver(fake, tmp_path, hello_ms=300 if fake == "hangs_on_hello" else 10_000)
    assert "\n" not in caught.value.sentence


def test_nothing_is_relaunched_before_a_first_hello(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    script = f"echo started >> {shlex.quote(str(starts))}; exit 1"
    with pytest.raises(DriverUnusable):
        connect(f"stdio:sh -c {shlex.quote(script)}", state_dir=tmp_path / "state")
    assert starts.read_text().splitlines() == ["started"]


@pytest.mark.parametrize(
    ("fake", "kind", "says"),
    [
        ("prints_garbage", ProtocolViolation, "not JSON: 'DEBUG now called'"),
        ("prints_bytes", ProtocolViolation, "not UTF-8"),
        ("nests_deeply", ProtocolViolation, "nested too deeply"),
        ("answers_unknown_id", ProtocolViolation, "answered request 10.., which was never made"),
        ("answers_with_error", ProtocolViolation, "with a JSON-RPC error.*queue not found"),
        ("answers_the_wrong_shape", ProtocolViolation, "a successful clock.now has time_ms"),
        ("half_a_line", DriverCrashed, "in the middle of a line.*exit status 0"),
        ("endless_line", ProtocolViolation, "a line of more than 1000000 bytes"),
        ("hangs_mid_run", DriverTimeout, "did not answer clock.now in time and was killed"),
        ("floods", ProtocolViolation, "flooded the harness"),
        ("pending_twice", ProtocolViolation, "said twice that clock.now waits"),
    ],
)
def test_a_break_in_a_run_ends_the_session_and_the_next_call_has_a_new_one(
    fake: str, kind: type[Exception], says: str, tmp_path: Path
) -> None:
    deadline_ms = 400 if fake == "hangs_mid_run" else 10_000
    with driver(fake, tmp_path, deadline_ms=deadline_ms, max_line_bytes=1_000_000) as client:
        with pytest.raises(kind, match=says) as caught:
            client.call("clock.now")
        assert caught.value.method == "clock.now"  # type: ignore[attr-defined]
        assert client.epoch == 1
        assert client.call("reset").ok
        assert client.epoch == 2


def test_a_second_answer_is_noticed_at_the_next_call(tmp_path: Path) -> None:
    with driver("answers_twice", tmp_path) as client:
        client.call("clock.now")
        with pytest.raises(ProtocolViolation, match=r"answered request 2 twice"):
            client.call("reset")


def test_a_crash_tells_its_exit_status_and_last_words(tmp_path: Path) -> None:
    with driver("dies_mid_run", tmp_path) as client:
        client.call("clock.now")
        client.call("clock.now")
        with pytest.raises(DriverCrashed, match=r"ended during clock.now.*exit status 134.*assertion failed") as caught:
            client.call("clock.now")
        assert caught.value.returncode == 134
        assert caught.value.stderr == "assertion failed: queue != NULL"


def test_a_late_answer_is_never_read(tmp_path: Path) -> None:
    with driver("hangs_mid_run", tmp_path, deadline_ms=300) as client:
        with pytest.raises(DriverTimeout):
            client.call("clock.now")
        assert client.call("clock.advance", by_ms=5, deadline_ms=10_000).values == {"time_ms": 5}


def test_a_driver_that_does_not_read_is_a_timeout(tmp_path: Path) -> None:
    with driver("never_reads", tmp_path, deadline_ms=300) as client, pytest.raises(DriverTimeout, match=r"not read"):
        client.call("queues.create", path_name="x" * 1_000_000)


def test_stderr_never_blocks_a_driver_and_is_kept_within_bounds(tmp_path: Path) -> None:
    log = tmp_path / "driver.log"
    with driver("floods_stderr", tmp_path, log=log) as client:
        for _ in range(6):
            assert client.call("clock.now").ok
    assert log.stat().st_size == 16 << 20


def test_the_restart_budget_ends(tmp_path: Path) -> None:
    with driver("prints_garbage", tmp_path, restart_budget=2) as client:
        for _ in range(3):
            with pytest.raises(ProtocolViolation):
                client.call("clock.now")
        with pytest.raises(DriverUnusable, match=r"restart budget of 2 spent.*DEBUG now called"):
            client.call("reset")
        assert client.epoch == 3


def test_a_relaunch_that_fails_is_a_crash_and_at_last_unusable(tmp_path: Path) -> None:
    with driver("dies_on_relaunch", tmp_path, restart_budget=2) as client:
        with pytest.raises(DriverCrashed, match=r"ended during hello.*state is corrupt"):
            client.restart(kill=True)
        for _ in range(2):
            with pytest.raises(DriverCrashed):
                client.call("reset")
        with pytest.raises(DriverUnusable):
            client.call("reset")


def test_calls_in_flight_are_lost_with_a_crash(tmp_path: Path) -> None:
    with driver("prints_garbage", tmp_path) as client:
        name = client.call("queues.create", path_name="q").values["format_name"]
        queue = client.call("queues.open", format_name=name, access="receive").values["queue"]
        read = client.start("messages.receive", queue=queue, timeout_ms=0xFFFFFFFF)
        with pytest.raises(ProtocolViolation):
            client.call("clock.now")
        assert read.indeterminate and not read.done
        with pytest.raises(ProtocolViolation):
            read.result()


def test_calls_in_flight_are_indeterminate_after_our_own_restart(tmp_path: Path) -> None:
    with driver("honest", tmp_path) as client:
        name = client.call("queues.create", path_name="q").values["format_name"]
        queue = client.call("queues.open", format_name=name, access="receive").values["queue"]
        read = client.start("messages.receive", queue=queue, timeout_ms=1000)
        client.restart(kill=True)
        assert read.indeterminate
        with pytest.raises(CallIndeterminate, match=r"may have happened or not"):
            read.result()
        assert not client.wait_blocked_or_done(read, 0)


def test_a_kill_takes_the_whole_group(tmp_path: Path) -> None:
    with driver("leaves_a_child", tmp_path) as client:
        child = int((tmp_path / "state" / "child").read_text())
        os.kill(child, 0)
        client.restart(kill=True)
        assert ended(child)
        second = int((tmp_path / "state" / "child").read_text())
    assert ended(second)


def test_a_driver_that_will_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.adapter.process.CLOSE_MS", 300)
    assert driver("never_stops", tmp_path).close() is False
    assert driver("honest", tmp_path).close() is True
