"""The live judge beside a proxy: it says what `replay` says of the recording, and the traffic does not wait for it."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from dialogues import CONSISTENT, frames
from small_manager import FRAMES, manager, turns

from conformance.captures import replay
from conformance.command_options import BadInput
from conformance.live import judge_client as judge_module
from conformance.live.judge_client import Deviation, Judging
from conformance.live.proxy import Passed, Ready, Wanted, Watch, proxy, serve
from conformance.net.addresses import Permit, Place, target
from conformance.net.proxy import Proxy
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode, Outcome

HERE = target("127.0.0.1", Permit())
WRONG = b"\x10\x00\x0b\x00RIOL" + FRAMES[0].data[8:]
"""A first packet with the signature backwards."""


@dataclass
class Run:
    """A proxy at work. over: is set at its end, and passed then."""

    place: Place
    deviations: list[Deviation] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def running(to: Place, tmp_path: Path, **judging: object) -> Iterator[Run]:
    ready: list[Ready] = []
    there, over = threading.Event(), threading.Event()
    found: list[Deviation] = []
    done: list[Passed] = []
    watch = Watch(lambda told: (ready.append(told), there.set()), on_deviation=found.append)
    how = Judging(out=str(tmp_path / "out"), **judging)  # type: ignore[arg-type]

    def go() -> None:
        record = tmp_path / "said.pcapng"
        done.append(proxy(Place("127.0.0.1", 0), HERE, to.port, judging=how, watch=watch, record=record))
        over.set()

    thread = threading.Thread(target=go)
    thread.start()
    assert there.wait(30)
    run = Run(ready[0].listen, found, done, over)
    try:
        yield run
    finally:
        watch.stop.set()
        thread.join()


def talk(place: Place, address: str = "127.0.0.5") -> None:
    """The initiator of the fixture, as far as the small manager answers."""
    with socket.create_connection(place.pair, 20, source_address=(address, 0)) as client:
        for said, answer in zip(turns("initiator"), turns("acceptor"), strict=False):
            client.sendall(said)
            left = len(answer)
            while left:
                left -= len(client.recv(left))


def of_record(tmp_path: Path) -> dict[str, int]:
    """The outcomes of a replay of the recording."""
    said = replay([tmp_path / "said.pcapng"], profile="msmq-4.0", readings=assignment("windows"))
    return {outcome.value: number for outcome, number in said.outcomes.items()}


def test_it_says_what_a_replay_of_the_recording_says(tmp_path: Path) -> None:
    with manager() as server, running(server, tmp_path) as run:
        talk(run.place)
        talk(run.place)
    (passed,) = run.passed
    assert dict(passed.now.state.outcomes) == of_record(tmp_path)
    failed = "fail" in passed.now.state.outcomes
    assert passed.exit_code is (ExitCode.DEVIATES if failed else ExitCode.CONFORMS)
    assert (passed.now.connections, passed.now.left_out, passed.now.problems) == (2, 0, ())
    assert passed.now.state.packets == len(frames(tmp_path / "said.pcapng"))
    assert {row.ends.split(" - ")[1] for row in passed.now.state.rows} == {"127.0.0.1:1801"}
    assert (tmp_path / "out").is_dir()


def test_what_conforms_ends_so(tmp_path: Path) -> None:
    with (
        manager() as server,
        running(server, tmp_path) as run,
        socket.create_connection(run.place.pair, 20) as client,
    ):
        client.sendall(turns("initiator")[0])
        assert client.recv(100_000)
    assert (run.passed[0].exit_code, run.passed[0].sentence) == (ExitCode.CONFORMS, None)


def test_a_deviation_is_told_while_it_goes_on(tmp_path: Path) -> None:
    with manager() as server, running(server, tmp_path) as run, socket.create_connection(run.place.pair, 20) as client:
        client.sendall(WRONG)
        client.shutdown(socket.SHUT_WR)
        while client.recv(1_000):
            pass
    (passed,) = run.passed
    assert passed.exit_code is ExitCode.DEVIATES and passed.now.state.deviations
    assert any("MQMQ-2.2.19.1.signature" in each.outcomes for each in run.deviations)


def test_nothing_is_nothing(tmp_path: Path) -> None:
    with manager() as server, running(server, tmp_path) as run:
        pass
    assert run.passed[0].exit_code is ExitCode.NOTHING_JUDGED
    assert "no connection came" in (run.passed[0].sentence or "")


def test_a_proxy_that_breaks_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise ValueError("no such side")

    monkeypatch.setattr(Proxy, "_ready", breaks)
    with manager() as server, running(server, tmp_path) as run, socket.create_connection(run.place.pair, 20):
        assert run.over.wait(30)
    assert run.passed[0].exit_code is ExitCode.HARNESS_ERROR and "no such side" in (run.passed[0].sentence or "")


def failing(tmp_path: Path, clients_of: str | None, wrong: bytes) -> bool:
    """Whether something fails when both sides of a connection send this, and the verdicts are on clients alone."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        running(Place(*listener.getsockname()), tmp_path, clients_of=clients_of) as run,
        socket.create_connection(run.place.pair, 20, source_address=("127.0.0.8", 0)) as client,
    ):
        made, _ = listener.accept()
        with made:
            client.sendall(FRAMES[0].data)
            made.recv(100_000)
            made.sendall(wrong)
            client.recv(100_000)
    return Outcome.FAIL.value in run.passed[0].now.state.outcomes


def test_clients_are_judged_and_their_server_is_not(tmp_path: Path) -> None:
    assert failing(tmp_path, None, WRONG)
    assert not failing(tmp_path, "127.0.0.1", WRONG)


def test_a_judge_that_falls_behind_slows_nothing_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_module, "MAX_QUEUED", -1)
    with manager() as server, running(server, tmp_path) as run:
        talk(run.place)
    (passed,) = run.passed
    assert passed.now.left_out and passed.now.state.packets == 0
    assert len(frames(tmp_path / "said.pcapng")) > 5


def test_what_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    watch = Watch(lambda ready: None, budget_s=0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = Place(*taken.getsockname())
        with pytest.raises(BadInput, match="cannot be listened at"):
            proxy(place, HERE, 1801, judging=Judging(), watch=watch)
    free = Place("127.0.0.1", 0)
    with pytest.raises(BadInput, match="cannot be written"):
        proxy(free, HERE, 1801, judging=Judging(), watch=watch, record=tmp_path / "no" / "such.pcapng")
    with pytest.raises(BadInput, match="profile"):
        proxy(free, HERE, 1801, judging=Judging(profile="msmq-9"), watch=watch)
    with pytest.raises(BadInput, match="this machine alone"):
        serve(Place("10.0.0.1", 1801), wanted=Wanted(), judging=Judging(), watch=watch)


def test_the_same_fixture_passes_alone() -> None:
    """The fixture is what the tests above take it for: nothing of it fails."""
    said: Counter[Outcome] = Counter(replay([CONSISTENT], profile="msmq-4.0", readings=assignment("windows")).outcomes)
    assert set(said) == {Outcome.PASS}
