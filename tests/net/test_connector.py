"""`wire:HOST`: what its text may say, what may be sent, and the facet `sessions` over real sockets."""

from __future__ import annotations

import socket
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dialogues import shown
from small_manager import FRAMES, manager, turns

from conformance.adapter.check import check_adapter
from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.judge.dialogues.packets import Ends, transactional_ack
from conformance.net.addresses import OWNED, Permit, Target
from conformance.net.connector import understood
from conformance.net.ends import MAX_BYTES, PER_SECOND, Pace, may_send, packets_in, refusal
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE, MQ_ERROR_IO_TIMEOUT
from conformance.wire import dissect, encode, patch, rebuild

FAR = Target("mq.lab", "10.1.2.3", loopback=False, public=False)
HERE = Target("127.0.0.1", "127.0.0.1", loopback=True, public=False)


def text(data: bytes) -> str:
    return b64encode(data).decode()


@contextmanager
def driver(connector: str, tmp_path: Path, **options: int) -> Iterator[Client]:
    client = connect(connector, state_dir=tmp_path / "state", log=tmp_path / "driver-main.stderr.log", **options)
    try:
        yield client
    finally:
        client.close()


def test_what_an_owner_declares() -> None:
    host, found = understood(
        ":mq.lab?qm=11801&ping=13527&timer.session-cleanup=2s&timer.ping-response=1500ms&consume.mqconform-plain=1s"
        "&queues=mqconform-plain,mqconform-journal&packets=odd&listener=10.0.0.9"
        "&reply.mqconform-transactional=&reports=3F0D2B61-7C58-4A93-8E14-D6B9A0C7E512"
        "&ack-timeout=20s&window-size=64&server-class=no"
    )
    assert found.settings == {"ack_timeout_ms": 20_000, "window_size": 64, "server_class": False}
    assert (host, found.qm, found.ping, found.peer, found.listeners) == ("mq.lab", 11801, 13527, 11801, ("10.0.0.9",))
    assert found.timers_ms == {"session-cleanup": 2_000, "ping-response": 1_500}
    assert found.consumes_ms == {"mqconform-plain": 1_000} and found.replies == ("mqconform-transactional",)
    assert found.reports == "3f0d2b61-7c58-4a93-8e14-d6b9a0c7e512"
    assert found.queues == ("mqconform-plain", "mqconform-journal") and found.packets == "odd"
    assert [(host, found.qm, found.peer) for host, found in map(understood, (":mq.lab:11801", ":[::1]:11801"))] == [
        ("mq.lab", 11801, 11801),
        ("::1", 11801, 11801),
    ]
    host, found = understood(":[::1]")
    assert (host, found.qm, found.ping, len(found.queues), found.packets) == ("::1", 1801, 3527, 5, "correct")


@pytest.mark.parametrize(
    ("rest", "named"),
    [
        ("", "wire:HOST"), (":", "wire:HOST"), ("+x", "wire:HOST"), (":a/b", "one host"), (":10.0.0.1-9", "one host"),
        (":a?qm=0", "port"), (":a?qm=x", "port"), (":a?qn=1", "qm"), (":a?timer.sesion-cleanup=2s", "session-cleanup"),
        (":a?timer.session-cleanup=soon", "duration"), (":a?consume.orders=1s", "mqconform-"),
        (":a?queues=orders", "mqconform-"), (":a?packets=bad", "malformed"), (":a?listener=1.2", "one host"),
        (":a?reports=here", "GUID"), (":a:0", "HOST:PORT"), (":a:x", "wire:HOST:1801"),
        (":127.0.0.1?listener=192.0.2.1", "no address of this machine"),
        (":a?qm", "KEY=VALUE"), (":a?reply.orders=", "mqconform-"), (":a?reply.mqconform-plain=1s", "has a value"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(rest: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(ConnectorError) as told, driver(f"wire{rest}", tmp_path):
        pass
    assert named in told.value.sentence and "\n" not in told.value.sentence


def test_another_host_is_refused_before_anything_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("something was sent or resolved")

    monkeypatch.setattr(socket, "getaddrinfo", never)
    monkeypatch.setattr(socket, "create_connection", never)
    for owned in ("", "other.lab"):
        monkeypatch.setenv(OWNED, owned)
        with pytest.raises(ConnectorError, match=r"mq\.lab"), driver("wire:mq.lab", tmp_path):
            pass


def test_a_host_that_nobody_listens_at_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        connector = f"wire:127.0.0.1?qm={taken.getsockname()[1]}"
        with pytest.raises(DriverUnusable, match="nothing speaks TCP"), driver(connector, tmp_path) as client:
            client.hello  # noqa: B018


def _answer(listener: socket.socket, said: bytes | None) -> None:
    """Take one connection after the other. said: what each is answered before it is closed; None: nothing, for ever."""
    open_ones = []
    while True:
        try:
            made, _ = listener.accept()
        except OSError:
            return
        if said is None:
            open_ones.append(made)
            continue
        with made:
            made.recv(4_096)
            made.sendall(said)


@pytest.mark.parametrize(
    ("said", "told"),
    [(None, "said nothing within 0.2 s"), (b"", "has closed"), (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no packet")],
    ids=["silent", "closes", "another protocol"],
)
def test_what_is_no_queue_manager_is_not_judged(
    said: bytes | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.net.driver._REACH_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer, args=(listener, said), daemon=True).start()
        connector = f"wire:127.0.0.1?qm={listener.getsockname()[1]}"
        with pytest.raises(DriverUnusable, match=told) as why, driver(connector, tmp_path) as client:
            client.hello  # noqa: B018
        assert "queue manager of MSMQ" in str(why.value) and "\n" not in str(why.value)
        listener.shutdown(socket.SHUT_RDWR)


def test_what_answers_wrongly_but_in_packets_is_judged(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer, args=(listener, encode("SessionAck", {})), daemon=True).start()
        with driver(f"wire:127.0.0.1?qm={listener.getsockname()[1]}", tmp_path) as client:
            assert client.call("sessions.about").ok
        listener.shutdown(socket.SHUT_RDWR)


def test_a_session_as_initiator(tmp_path: Path) -> None:
    with manager() as place, driver(f"wire:127.0.0.1?qm={place.port}", tmp_path) as client:
        assert client.hello.offers("sessions.open") and client.hello.clock == "real"
        about = client.call("sessions.about").values
        assert (about["host"], about["packets"], about["max_message_ms"]) == ("127.0.0.1", "correct", 60_000)
        opened = client.call("sessions.open", role="initiator", address="127.0.0.3").values
        assert opened["local"].startswith("127.0.0.3:") and opened["remote"] == str(place)
        before, sent_turns = 0, []
        for said, answer in zip(turns("initiator"), turns("acceptor"), strict=False):
            sent_turns.append(said)
            sent = client.call("sessions.send", session=opened["session"], bytes=text(said), pieces=[1, 15])
            got = b""
            while len(got) < len(answer):
                result = client.call("sessions.received", session=opened["session"], wait_ms=5_000).values
                got += b"".join(b64decode(each["bytes"]) for each in result["packets"])
                assert all(before <= sent.values["at_ms"] <= each["at_ms"] for each in result["packets"])
            before = result["packets"][-1]["at_ms"]
            assert got == answer
        assert client.call("sessions.close", session=opened["session"], how="close").ok
        again = client.call("sessions.send", session=opened["session"], bytes="")
        assert again.status == MQ_ERROR_INVALID_HANDLE
    kept = shown(tmp_path / "wire-main.pcapng")
    assert b"".join(data for _, side, data in kept if side == "initiator") == b"".join(sent_turns)
    assert {dissect(data).kind for _, _, data in kept} >= {"EstablishConnection", "UserMessage", "SessionAck"}


def test_the_walk_of_adapter_check_finds_nothing_wrong(tmp_path: Path) -> None:
    with manager() as place:
        steps = check_adapter(f"wire:127.0.0.1?qm={place.port}&ping={place.port}", state_dir=tmp_path)
    assert [step for step in steps if step.state == "wrong"] == []
    assert {step.what for step in steps if step.state == "ok"} >= {"unknown method", "sessions.open", "stop"}


@pytest.mark.parametrize("ahead_s", [0, 10_800, -10_800])
def test_the_clock_of_a_host_shows_in_its_messages(ahead_s: int, tmp_path: Path) -> None:
    message = next(frame.data for frame in FRAMES if dissect(frame.data).kind == "UserMessage")
    sent = patch(dissect(message), {"UserHeader.SentTime": int(time.time()) + ahead_s})
    with manager() as place, driver(f"wire:127.0.0.1?qm={place.port}", tmp_path) as client:
        listener = client.call("sessions.about").values["listener"]
        with socket.create_connection((listener, place.port)) as peer:
            peer.sendall(sent)
            opened = client.call("sessions.open", role="acceptor").values
            assert client.call("sessions.received", session=opened["session"], wait_ms=5_000).values["packets"]
        told = client.call("sessions.about").values.get("now_ms")
    assert (told is None) == (ahead_s == 0)
    assert told is None or abs(told / 1000 - time.time() - ahead_s) < 60


def test_a_session_as_acceptor(tmp_path: Path) -> None:
    with manager() as place, driver(f"wire:127.0.0.1?qm={place.port}", tmp_path) as client:
        listener = client.call("sessions.about").values["listener"]
        assert client.call("sessions.open", role="acceptor", deadline_ms=400).status == MQ_ERROR_IO_TIMEOUT
        with socket.create_connection((listener, place.port)) as peer:
            peer.sendall(turns("initiator")[0])
            opened = client.call("sessions.open", role="acceptor", ping=True).values
            assert opened["local"] == f"{listener}:{place.port}"
            got = client.call("sessions.received", session=opened["session"], wait_ms=5_000).values
            assert [b64decode(each["bytes"]) for each in got["packets"]] == [turns("initiator")[0]]
            assert client.call("sessions.close", session=opened["session"], how="reset").ok


def test_addresses_from_which_the_host_connects() -> None:
    _, found = understood(":mq.lab?from=10.0.0.7,fe80::1")
    assert found.others == ("10.0.0.7", "fe80::1")
    for wrong in ("8.8.8.8", "mq.lab", "10.0.0.0/8", "", "0.0.0.0"):
        with pytest.raises(ConnectorError, match="from="):
            understood(f":mq.lab?from={wrong}")


def test_pings_both_ways(tmp_path: Path) -> None:
    question = bytes.fromhex("0100485504030201") + bytes(range(16))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other, manager() as place:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        with driver(f"wire:127.0.0.1?qm={place.port}&ping={port}", tmp_path) as client:
            listener = client.call("sessions.about").values["listener"]

            def echo() -> None:
                data, peer = other.recvfrom(100)
                pinged.append(peer[0])
                other.sendto(data, peer)

            pinged: list[str] = []
            thread = threading.Thread(target=echo)
            thread.start()
            answers = client.call("sessions.ping", bytes=text(question), wait_ms=5_000).values["answers"]
            thread.join()
            assert [b64decode(each["bytes"]) for each in answers] == [question]
            assert pinged == [listener]

            def call() -> None:
                other.settimeout(0.1)
                for _ in range(100):
                    other.sendto(question, (listener, port))
                    try:
                        heard.append(other.recv(100))
                        break
                    except TimeoutError:
                        continue
                with socket.create_connection((listener, place.port)) as peer:
                    peer.recv(1)

            heard: list[bytes] = []
            thread = threading.Thread(target=call)
            thread.start()
            opened = client.call("sessions.open", role="acceptor", ping=True).values
            client.call("sessions.close", session=opened["session"], how="close")
            thread.join()
            assert heard[0][:8] == question[:8] and heard[0][8:] != question[8:]


def test_a_second_run_at_one_server_has_a_listener_of_its_own(tmp_path: Path) -> None:
    with manager() as place:
        connector = f"wire:127.0.0.1?qm={place.port}"
        with driver(connector, tmp_path) as first, driver(connector, tmp_path) as second:
            listeners = {client.call("sessions.about").values["listener"] for client in (first, second)}
            assert len(listeners) == 2
            wanted = f"{connector}&listener={listeners.pop()}"
            with pytest.raises(DriverUnusable, match="taken"), driver(wanted, tmp_path) as third:
                third.hello  # noqa: B018


def test_a_restart_listens_again_and_records_anew(tmp_path: Path) -> None:
    with manager() as place, driver(f"wire:127.0.0.1?qm={place.port}", tmp_path) as client:
        before = client.call("sessions.about").values["listener"]
        client.restart(kill=True)
        assert client.call("sessions.about").values["listener"] == before
    assert sorted(path.name for path in tmp_path.glob("*.pcapng")) == ["wire-main-2.pcapng", "wire-main.pcapng"]


QUEUE, LIFE, LABEL = (
    "UserHeader.DestinationQueue.DirectFormatName",
    "UserHeader.TimeToBeReceived",
    "MessagePropertiesHeader.Label",
)
MESSAGE = next(packet for packet in map(dissect, (frame.data for frame in FRAMES)) if packet.kind == "UserMessage")
FIT = {QUEUE: "TCP:10.1.2.3\\private$\\mqconform-plain", LIFE: 60, LABEL: "mqconform 1"}


def test_a_host_elsewhere_gets_only_what_leaves_nothing_behind() -> None:
    establish = FRAMES[0].data
    assert refusal(establish, FAR, "correct") is None
    assert refusal(establish[:-1], HERE, "correct") is None
    assert "no whole packet" in (refusal(establish[:-1], FAR, "correct") or "")
    assert refusal(establish[:-1], FAR, "malformed") is None
    assert "at most" in (refusal(bytes(MAX_BYTES + 1), FAR, "malformed") or "")
    assert refusal(rebuild(MESSAGE, FIT), FAR, "correct") is None


@pytest.mark.parametrize(
    "change", [{QUEUE: "OS:beta\\private$\\orders"}, {LIFE: 61}, {LIFE: 0xFFFFFFFF}, {LABEL: "order"}], ids=str
)
def test_a_message_that_stays_behind_is_refused(change: dict[str, int | str]) -> None:
    assert refusal(rebuild(MESSAGE, FIT | change), FAR, "odd")
    assert refusal(rebuild(MESSAGE, FIT | change), HERE, "odd") is None


@pytest.mark.parametrize("kind", ["OrderAck", "FinalAck"])
def test_an_acknowledgment_goes_to_the_order_queue_with_its_label(kind: str) -> None:
    right = transactional_ack(kind, Ends("1", 1, "10.1.2.3", "10.1.2.4"), 1)
    assert refusal(right, FAR, "correct") is None
    for change, told in (({LABEL: "mqconform 1"}, "label"), ({QUEUE: FIT[QUEUE]}, "order_queue")):
        assert told in (refusal(rebuild(dissect(right), change), FAR, "odd") or "")


def test_malformed_packets_stay_here_but_in_a_lab() -> None:
    assert may_send("malformed", HERE, Permit()) is None
    assert may_send("odd", FAR, Permit()) is None
    assert "--lab" in (may_send("malformed", FAR, Permit()) or "")
    assert may_send("malformed", FAR, Permit(lab=True)) is None


def test_packets_that_are_sent_at_once_are_counted_one_by_one() -> None:
    establish = FRAMES[0].data
    assert [packets_in(data) for data in (establish, establish * 3, establish + b"rest", b"rest", b"")] == [
        1,
        3,
        2,
        1,
        0,
    ]
    now, slept = [0.0], []
    pace = Pace(lambda: now[0], lambda left: (slept.append(left), now.__setitem__(0, now[0] + left)))
    pace.wait(packets_in(establish * (3 * PER_SECOND)))
    assert sum(slept) >= 2


def test_sending_is_held_back() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0], lambda left: now.__setitem__(0, now[0] + left))
    sent = []
    for _ in range(3 * PER_SECOND):
        pace.wait()
        sent.append(now[0])
    assert all(later - first >= 1 for first, later in zip(sent, sent[PER_SECOND:], strict=False))
    assert sent[-1] < 3
