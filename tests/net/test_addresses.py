"""Addresses that may be used, and pings that are heard."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from small_manager import manager

from conformance.adapter.connectors import connect
from conformance.cli.network import permit_connector
from conformance.net import addresses
from conformance.net.addresses import AddressError, Permit, Place, UnresolvedError, place, target
from conformance.verdict import ExitCode


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that were resolved; `lab.test` is a private address, `net.test` a public one, others have none."""
    asked: list[str] = []
    known = {"lab.test": "10.1.2.3", "net.test": "8.8.4.4", "localhost": "127.0.0.1", "many.test": "224.0.0.1"}

    def resolve(word: str, *_: object, **__: object) -> list[object]:
        asked.append(word)
        if word not in known:
            raise socket.gaierror(-2, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[word], 0))]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", resolve)
    return asked


@pytest.mark.parametrize("word", ["127.0.0.1", "127.9.8.7", "::1", "localhost"])
def test_loopback_needs_nothing(word: str, book: list[str]) -> None:
    found = target(word, Permit())
    assert found.loopback and not found.public


@pytest.mark.parametrize(
    "word",
    [
        "10.0.0.0/8", "10.0.0.1-9", "10.0.0.1,10.0.0.2", "10.0.0.*", "a.test b.test", "127.1", "0x7f.1", "2130706433",
        "", "-x", "a..b", "a" * 300, "a\nb",
    ],
)  # fmt: skip
def test_a_range_or_a_list_is_no_host(word: str, book: list[str]) -> None:
    with pytest.raises(AddressError):
        target(word, Permit(owned=word))
    assert not book


@pytest.mark.parametrize("owned", [None, "other.test", "LAB.test"])
def test_another_host_needs_the_same_word_again_before_it_is_resolved(owned: str | None, book: list[str]) -> None:
    with pytest.raises(AddressError, match=r"lab\.test"):
        target("lab.test", Permit(owned=owned))
    assert not book


def test_a_named_host_is_resolved_once(book: list[str]) -> None:
    found = target("lab.test", Permit(owned="lab.test"))
    assert (found.address, found.loopback, found.public, book) == ("10.1.2.3", False, False, ["lab.test"])


def test_worker_processes_use_the_address_that_the_command_found(book: list[str]) -> None:
    moved = Permit(owned="lab.test", found="10.9.9.9")
    assert target("lab.test", moved).address == "10.9.9.9" and not book
    assert target("10.1.2.3", Permit(owned="10.1.2.3", found="10.9.9.9")).address == "10.1.2.3"
    assert target("localhost", moved).loopback and book == ["localhost"]
    with pytest.raises(AddressError, match="typed yes"):
        target("lab.test", Permit(owned="lab.test", found="8.8.8.8"))


def test_a_command_tells_its_workers_what_it_found(book: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    environment: dict[str, str] = {}
    monkeypatch.setattr("conformance.cli.network.os.environ", environment)
    permit_connector("wire:lab.test", "lab.test", False)
    assert Permit.of_environment(environment) == Permit("lab.test", found="10.1.2.3") and book == ["lab.test"]


@pytest.mark.parametrize("lab", [False, True])
def test_malformed_packets_are_refused_before_anything_is_made(
    lab: bool, book: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.cli.network.os.environ", {})
    word = "wire:lab.test?packets=malformed"
    if lab:
        permit_connector(word, "lab.test", lab)
        return
    with pytest.raises(SystemExit) as ended:
        permit_connector(word, "lab.test", lab)
    assert ended.value.code == ExitCode.BAD_INPUT and "--lab" in capsys.readouterr().err


def test_a_public_address_needs_a_typed_yes(book: list[str]) -> None:
    permit, shown = Permit(owned="net.test"), []
    with pytest.raises(AddressError, match="typed yes"):
        target("net.test", permit)
    with pytest.raises(AddressError, match="typed yes"):
        target("net.test", permit, lambda text: bool(shown.append(text)))
    assert "8.8.4.4" in shown[0]
    assert target("net.test", permit, lambda text: True).public
    assert target("net.test", Permit(owned="net.test", yes="8.8.4.4")).public
    with pytest.raises(AddressError):
        target("net.test", Permit(owned="net.test", yes="8.8.8.8"))


def test_a_name_without_an_address_and_one_of_many_hosts(book: list[str]) -> None:
    with pytest.raises(UnresolvedError):
        target("gone.test", Permit(owned="gone.test"))
    with pytest.raises(AddressError, match="one host"):
        target("many.test", Permit(owned="many.test"))


def test_localhost_that_is_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 0))]
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda *_, **__: answer)
    with pytest.raises(AddressError):
        target("localhost", Permit())


def test_places() -> None:
    assert place("127.0.0.1") == Place("127.0.0.1", 1801)
    assert place("mq.lab:99") == Place("mq.lab", 99)
    assert place("[::1]:99") == Place("::1", 99) == place(str(Place("::1", 99)))
    assert place("::1") == Place("::1", 1801)
    assert place("127.0.0.1:0", free=True).port == 0
    for wrong in ("127.0.0.1:0", "a:70000", "a:b", "a:1:b"):
        with pytest.raises(AddressError):
            place(wrong)


def test_a_permit_goes_through_the_environment() -> None:
    for permit in (Permit(), Permit("a", True, "8.8.8.8", "10.1.2.3")):
        assert Permit.of_environment(permit.to_environment()) == permit


SCRIPT = Path(__file__).with_name("elsewhere.py")
HOST, OURS = "10.77.0.1", "10.77.0.2"
_SET_UP = f"ip link set lo up && ip addr add {HOST}/32 dev lo && ip addr add {OURS}/32 dev lo"


def test_a_host_elsewhere_needs_its_word_and_gets_little() -> None:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("there are no network namespaces without unshare and ip")
    tried = subprocess.run(["unshare", "-rn", "sh", "-c", _SET_UP], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("this user may make no network namespace")
    path = os.pathsep.join([str(SCRIPT.parent), str(SCRIPT.parents[2]), str(SCRIPT.parents[2] / "fixtures")])
    line = ["unshare", "-rn", "sh", "-c", f'{_SET_UP} && exec "$@"', "sh", sys.executable, str(SCRIPT), HOST, OURS]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr


PING = struct.Struct("<HHI16s")


@pytest.mark.parametrize("taken", [False, True])
def test_pings_are_counted_where_they_are_heard(taken: bool, tmp_path: Path) -> None:
    with manager() as place, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with connect(f"wire:127.0.0.1?qm={place.port}&ping={port}", state_dir=tmp_path) as client:
            ours = client.call("sessions.about").values["listener"]
            answers: list[bytes] = []

            def come() -> None:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
                    asking.settimeout(0.1)
                    while not answers and not taken:
                        asking.sendto(PING.pack(0, 0x5548, 7, bytes(16)), (ours, port))
                        try:
                            answers.append(asking.recv(100))
                        except OSError:
                            continue
                socket.create_connection((ours, place.port)).close()

            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                if taken:
                    other.bind((ours, port))
                thread = threading.Thread(target=come)
                thread.start()
                opened = client.call("sessions.open", role="acceptor", ping=True, deadline_ms=20_000)
                thread.join()
    assert opened.ok and ("pings" in opened.values) is not taken
    if not taken:
        assert opened.values["pings"] >= 1 and PING.unpack(answers[0])[2] == 7
