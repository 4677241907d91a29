"""Facts across conversations are hints: clocks, messages that did not arrive, queues that grow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import build_packets as packets
import pytest
from build_captures import ALPHA, ALPHA_QM, BETA, BETA_QM, NS, START, establish
from build_tcp import Capture, Connection

import conformance
from conformance.captures import across

RECEIVED, OVER_QUOTA, PURGED, RECEPTION = 0x4000, 0x8003, 0xC001, 2


class Site:
    """Alpha sends to Beta on one connection, and Beta answers on another. ahead: of Alpha's and of Beta's clock."""

    def __init__(self, ahead: tuple[int, int] = (0, 0), start: int = START) -> None:
        self.capture, self.ahead, self.sent = Capture(start * NS), ahead, 0
        self.there = Connection.open(self.capture, (ALPHA, 50001), (BETA, 1801))
        establish(self.capture, self.there, ALPHA_QM, BETA_QM, 86_400_000)
        self.back = Connection.open(self.capture, (BETA, 50002), (ALPHA, 1801), (31, 77))
        establish(self.capture, self.back, BETA_QM, ALPHA_QM, 3_600_000)

    @property
    def now(self) -> int:
        return self.capture.now // NS

    def send(self, *, since: int | None = None, queue: str = "orders", lasts: int = 345_600) -> packets.Message:
        self.sent += 1
        one = packets.Message(
            ALPHA_QM, 7000 + self.sent, (self.now if since is None else since) + self.ahead[0],
            f"OS:beta\\private$\\{queue}", "order", b"x", acks=RECEPTION, admin_queue="OS:alpha\\private$\\replies",
            time_to_reach_queue=lasts,
        )  # fmt: skip
        self.there.send(0, one.bytes())
        return one

    def answer(self, one: packets.Message, kind: int = RECEIVED) -> None:
        self.back.send(0, packets.admin_ack(BETA_QM, 300 + one.number, self.now + self.ahead[1], one, kind))

    def acknowledge(self) -> None:
        self.there.send(1, packets.session_ack(self.sent, 0, 0, 0, 0))

    def wait(self, seconds: float) -> None:
        self.capture.wait(seconds * 1000)

    def hints(self, path: Path, **options: object) -> list[str]:
        path.write_bytes(self.capture.pcap())
        found = conformance.replay(path, conversations=True, allow_incomplete=True, **options)  # type: ignore[arg-type]
        assert found.looked.conversations is not None
        return list(found.looked.conversations.facts)


def talk(site: Site, times: int = 3) -> Site:
    for _ in range(times):
        one = site.send()
        site.wait(1)
        site.answer(one)
        site.acknowledge()
        site.wait(1)
    return site


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        ((0, 0), []),
        ((1, -1), []),
        ((600, 0), [f"the clock of {ALPHA} is at least 5", "ahead of that of the recording"]),
        ((0, -600), [f"the clock of {BETA} is at least 59", "behind that of the recording"]),
        ((600, -600), [f"the clock of {ALPHA} is at least 1,19", f"ahead of that of {BETA}"]),
        ((-600, 600), []),  # A message may wait for ten minutes before it passes, so this shows nothing.
    ],
)
def test_clocks_that_differ_are_told(ahead: tuple[int, int], said: list[str], tmp_path: Path) -> None:
    hints = talk(Site(ahead)).hints(tmp_path / "a.pcap")
    assert any(all(each in hint for each in said) for hint in hints) if said else not hints


def test_one_wrong_time_among_right_ones_shows_no_clock(tmp_path: Path) -> None:
    site = talk(Site())
    site.send(since=START + 90_000)
    site.acknowledge()
    assert talk(site).hints(tmp_path / "a.pcap") == []


@pytest.mark.parametrize("start", [0, 500_000_000])
def test_a_capture_without_times_shows_no_clock(start: int, tmp_path: Path) -> None:
    assert talk(Site((START, START), start)).hints(tmp_path / "a.pcap") == []


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (OVER_QUOTA, "did not arrive: 192.0.2.32 says NACK_Q_EXCEED_QUOTA"),
        (PURGED, "arrived and found no reader: 192.0.2.32 says NACK_Q_PURGED"),
    ],
)
def test_negative_acknowledgments_are_told_by_queue(kind: int, said: str, tmp_path: Path) -> None:
    site = Site()
    for _ in range(2):
        site.answer(site.send(), kind)
    site.acknowledge()
    (hint,) = site.hints(tmp_path / "a.pcap")
    assert f"2 messages to DIRECT=OS:beta\\private$\\orders {said}" in hint and "Wireshark frame " in hint


def silent(site: Site) -> None:
    site.send(lasts=30)
    site.send(lasts=30)


def goes_on(site: Site) -> None:
    site.wait(120)
    site.back.send(0, packets.session_ack(0, 0, 0, 0, 0))


def acknowledged(site: Site) -> None:
    silent(site)
    site.acknowledge()
    goes_on(site)


def answered(site: Site) -> None:
    for one in (site.send(lasts=30), site.send(lasts=30)):
        site.answer(one)
    goes_on(site)


def early_end(site: Site) -> None:
    silent(site)
    site.wait(20)
    site.back.send(0, packets.session_ack(0, 0, 0, 0, 0))


def lasting(site: Site) -> None:
    site.send()
    goes_on(site)


def gap(site: Site) -> None:
    silent(site)
    site.there.next[1] += 36
    site.there.send(1, packets.session_ack(0, 0, 0, 0, 0))
    goes_on(site)


@pytest.mark.parametrize("how", [acknowledged, answered, early_end, lasting, gap])
def test_messages_of_which_nothing_can_be_said_are_not_told(how: Callable[[Site], None], tmp_path: Path) -> None:
    site = Site()
    how(site)
    assert site.hints(tmp_path / "a.pcap") == []


def test_messages_without_an_acknowledgment_whose_time_is_over_are_told(tmp_path: Path) -> None:
    site = Site()
    silent(site)
    site.there.close(0)
    goes_on(site)
    (hint,) = site.hints(tmp_path / "a.pcap")
    assert hint.startswith(f"{tmp_path / 'a.pcap'}: 2 messages of {ALPHA} to DIRECT=OS:beta\\private$\\orders passed")
    assert "their arrival is not known" in hint
    assert site.hints(tmp_path / "a.pcap", filter="kind=UserMessage") == []


def test_a_late_beginning_shows_no_message_without_an_acknowledgment(tmp_path: Path) -> None:
    site = Site()
    site.capture.records.clear()
    silent(site)
    goes_on(site)
    assert site.hints(tmp_path / "a.pcap") == []


def overload(site: Site) -> None:
    """Two messages a second are written, and one passes."""
    began = site.now
    for at in range(60):
        site.answer(site.send(since=began + at // 2))
        site.acknowledge()
        site.wait(1)


def burst(site: Site) -> None:
    """All are written at once: the queue gets shorter."""
    began = site.now
    for _ in range(60):
        site.answer(site.send(since=began))
        site.acknowledge()
        site.wait(1)


def late(site: Site) -> None:
    """Each waits ten minutes, before the capture and in it."""
    for _ in range(60):
        site.answer(site.send(since=site.now - 600))
        site.acknowledge()
        site.wait(1)


def slow_reader(site: Site) -> None:
    """One of two messages is received each second."""
    waiting = []
    for _ in range(40):
        waiting += [site.send(), site.send()]
        site.acknowledge()
        site.answer(waiting.pop(0))
        site.wait(1)


def steady_reader(site: Site) -> None:
    """Each message is received 20 seconds later."""
    waiting = []
    for _ in range(60):
        waiting.append(site.send())
        site.acknowledge()
        if len(waiting) > 20:
            site.answer(waiting.pop(0))
        site.wait(1)


def no_reader(site: Site) -> None:
    """The capture ends before any is received."""
    for _ in range(40):
        site.send()
        site.acknowledge()
        site.wait(1)


GROWS = {overload: "wait to be sent, by SentTime: first 0,", slow_reader: "wait for the acknowledgment of their"}


@pytest.mark.parametrize("how", [overload, burst, late, slow_reader, steady_reader, no_reader])
@pytest.mark.parametrize("ahead", [(0, 0), (-50, 0)])
def test_queues_that_grow_are_told_and_no_others(
    how: Callable[[Site], None], ahead: tuple[int, int], tmp_path: Path
) -> None:
    site = Site(ahead)
    how(site)
    hints = site.hints(tmp_path / "a.pcap")
    assert len(hints) == int(how in GROWS) and all(GROWS[how] in hint for hint in hints)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(across, "MAX_MESSAGES", 10)
    facts: list[across.Facts] = []
    monkeypatch.setattr(across.Facts, "sentences", lambda self: facts.append(self) or [])
    site = Site()
    no_reader(site)
    site.hints(tmp_path / "a.pcap")
    (found,) = facts
    assert len(found._sent) == 10 and len(found._ordered) <= 10
