"""`mqconform wire`: a look at hosts of all kinds, and what an owner of a Windows server is given."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dialogues import shown
from documents import WITHOUT
from peer_on_sockets import sends_on_sessions_that_exist
from small_manager import manager

from conformance.cli.network import check_command
from conformance.live import wire_check as module
from conformance.live.wire_check import Checked, wire_check
from conformance.net.addresses import Permit, Place, target
from conformance.net.connector import QUEUES, SWITCHES, Switch, removal_script, setup_script, understood
from conformance.net.ends import MAX_MESSAGE_S, refusal
from conformance.suites.sessions.rejudge import CASES
from conformance.verdict import ExitCode
from conformance.wire import dissect

PAGE = Path(__file__).parents[2] / "docs" / "wire.md"
NOTES = "siblings/MS-MQQB.md"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEP_S", 0.5)
    monkeypatch.setattr(module, "BACK_S", 0.2)


def checked(place: Place, record: Path | None = None) -> Checked:
    _, declared = understood(f":127.0.0.1?qm={place.port}&ping={place.port}")
    return wire_check(target("127.0.0.1", Permit()), declared, record=record)


@contextmanager
def host(act: Callable[[socket.socket], object]) -> Iterator[Place]:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    made, _ = listener.accept()
                    with made:
                        act(made)
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield Place(*listener.getsockname())
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("act", "named"),
    [
        (lambda made: made.recv(1_000) and made.recv(1), "within"),
        (lambda made: made.recv(1_000) and made.sendall(b"SSH-2.0-OpenSSH_9.6\r\n"), "no packet"),
        (lambda made: None, "connection"),
    ],
    ids=["silent", "another protocol", "closes"],
)
def test_a_host_that_is_no_queue_manager(act: Callable[[socket.socket], object], named: str) -> None:
    with host(act) as place:
        found = checked(place)
    assert found.exit_code is ExitCode.UNUSABLE
    assert named in (found.sentence or "") and "\n" not in (found.sentence or "")
    assert [step.what for step in found.findings if step.state == "ok"] == ["address"]


def test_what_is_sent_leaves_nothing_behind(tmp_path: Path) -> None:
    """Were the host elsewhere, every packet would be one that may be sent there; and the message lives a minute."""
    record = tmp_path / "said.pcapng"
    with manager() as place:
        found = checked(place, record)
    assert {"session", "parameters"} <= {step.what for step in found.findings if step.state == "ok"}
    far = target("10.1.2.3", Permit(owned="10.1.2.3"))
    sent = [data for transport, side, data in shown(record) if transport == "tcp" and side == "initiator"]
    assert len(sent) == 3 and not any(refusal(data, far, "correct") for data in sent)
    assert dissect(sent[-1]).fields["UserHeader.TimeToBeReceived"] == MAX_MESSAGE_S


@pytest.mark.parametrize("word", ["{}:{}", "wire:{}:{}", "{}?qm={}"])
def test_the_host_is_taken_as_people_type_it(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with manager() as place, pytest.raises(SystemExit):
        check_command(word.format(place.host, place.port), owned=None, record=None)
    assert f"TCP port {place.port} is open" in capsys.readouterr().out


def test_acknowledgments_on_the_session_of_the_message_are_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """MS-MQQB 1.3.5.2: no connection back is needed for them."""
    monkeypatch.setattr(module, "STEP_S", 5.0)
    with sends_on_sessions_that_exist() as place:
        found = checked(place)
    assert found.exit_code is ExitCode.CONFORMS
    assert [step.text for step in found.findings if step.what == "administration"] == ["MQMSG_CLASS_ACK_REACH_QUEUE"]


def test_what_hides_something_is_told_with_its_registry_value() -> None:
    with manager() as place:
        told = {step.what: step.text for step in checked(place).findings if step.state == "missing"}
    assert "EnablePingService" in told["ping"]


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda each: each.name)
def test_the_notes_name_each_value(switch: Switch, documents: Path) -> None:
    if not (documents / NOTES).is_file():
        pytest.skip(WITHOUT)
    text = (documents / NOTES).read_text(encoding="utf-8")
    note = text[text.index(f"\n<{switch.note}> ") : text.index(f"\n<{switch.note + 1}> ")]
    assert f"\\{switch.name}".lower() in note.lower()


def test_the_scripts_name_all_queues_and_values_and_the_page_all_values() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for script in (setup_script(), removal_script()):
        assert script.isascii() and script.count("{") == script.count("}")
        assert all(name in script for name in QUEUES) and all(each.name in script for each in SWITCHES)
        live = [line for line in script.splitlines() if line and not line.startswith("#")]
        assert not any("ItemProperty" in line for line in live), "the registry is the owner's to change"
    assert all(f"`{each.name}`" in page for each in SWITCHES)
    assert set(re.findall(r"mqconform-[a-z]+", setup_script())) == set(QUEUES)
    assert "not tried on Windows" in page.replace("\n", " ")


_SETS = {
    "CleanupInterval": "session-cleanup",
    "QosCleanupIntervalMultiplier": "session-ack-wait",
    "RemoveDuplicateCleanup": "message-id-history-cleanup",
    "SeqResend13Time": "transactional-ack-wait",
}


@pytest.mark.parametrize("value", _SETS)
def test_the_page_promises_no_timer_that_is_skipped(value: str) -> None:
    """The longest that is judged, which is what Windows can be set to at least."""
    (row,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{value}` |")]
    most_ms = {case.timers[_SETS[value]] for case in CASES.values() if _SETS[value] in case.timers}
    assert row.split("|")[5].strip() == f"{min(most_ms) // 1000} s"


def test_setup_as_a_command() -> None:
    line = [sys.executable, "-m", "conformance", "wire", "setup"]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == setup_script()
    assert subprocess.run([*line, "--remove"], capture_output=True, text=True, check=True).stdout == removal_script()


def test_a_host_that_was_not_named_twice() -> None:
    line = [sys.executable, "-m", "conformance", "wire", "check", "mq.lab"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.BAD_INPUT and "--i-own-this mq.lab" in done.stderr and not done.stdout
