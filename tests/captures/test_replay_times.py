"""An interval is judged where the times of a capture tell it; else it is left open, with one sentence a capture."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import build_captures
import pytest
from cases import all_of
from record_edits import records_of
from small_files import pcapng

from conformance.captures import replay
from conformance.captures.columns import judge_range
from conformance.captures.engine import Replay
from conformance.judge.sessions.context import COARSE, NO_TIMES, SET_BACK
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome

PROFILE = "msmq-4.0"
SESSIONS = ("consistent_session", "resending_session", "reconnecting_session")
INTERVALS = frozenset(
    {
        "MQQB-3.1.3.2.order-ack-delay", "MQQB-3.1.5.3.2.round-trip", "MQQB-3.1.2.9.one-second",
        "MQQB-3.1.5.2.3.time-stamp", "MQQB-3.1.6.5.resend-interval", "MQQB-3.1.5.8.2.acknowledged-in-time",
        "MQQB-3.1.7.11.header-included", "MQQB-3.1.7.1.2.expired", "MQMQ-2.2.19.2.sent-time",
    }
)  # fmt: skip
NS = 1_000_000_000


def timed(name: str, time: Callable[[int, int], int]) -> bytes:
    """A capture with other times. time: gets the place of a record and its time in ns; microseconds are written."""
    head, records = records_of(getattr(build_captures, name)().pcap())
    unit = 1 if head[:4] == b"\x4d\x3c\xb2\xa1" else 1_000
    out = [head]
    for place, one in enumerate(records):
        seconds, fraction = struct.unpack_from("<II", one)
        seconds, rest = divmod(time(place, seconds * NS + fraction * unit), NS)
        out.append(struct.pack("<II", seconds, rest // unit) + one[8:])
    return b"".join(out)


def taken(name: str) -> dict[int, int]:
    """The time of each record of a capture, by its place."""
    found: dict[int, int] = {}
    timed(name, lambda place, time: found.setdefault(place, time))
    return found


def both(path: Path) -> Replay:
    """The verdicts of the plain replay, after comparing them with those of compiled code, in place and read through."""
    found = replay([path], profile=PROFILE, readings=assignment("windows"))
    beside = judge_range(path, profile=PROFILE, readings=assignment("windows")).replay
    assert beside.counted == found.counted
    assert beside.captures == found.captures
    return found


def judged(found: Replay, *outcomes: Outcome) -> Counter[str]:
    """How often each requirement got one of these outcomes."""
    return Counter(one.verdict.requirement for one in found.counted if one.verdict.outcome in outcomes)


def set_back(at: int, by: int) -> Callable[[int, int], int]:
    """The clock goes back before a record."""
    return lambda place, time: time - by * (place >= at)


def displaced(at: int, by: int) -> Callable[[int, int], int]:
    """One record has an earlier time than those around it."""
    return lambda place, time: time - by * (place == at)


def unset(at: int) -> Callable[[int, int], int]:
    """The clock begins in 1970, without a battery, and is set before a record."""
    return lambda place, time: time if place >= at else time % (86_400 * NS) + NS


def changes() -> Iterator[tuple[str, str, Callable[[int, int], int], str | None]]:
    """Captures and what is done to their times: the session, the change, and the reason that must be told."""
    for name in SESSIONS:
        times = [time for _, time in sorted(taken(name).items())]
        for at in range(1, min(60, len(times)), 6):
            # A time that goes back to none before an earlier one does not show.
            for by in (by for by in (NS * 7 // 10, 3600 * NS) if times[at] - by < times[at - 1]):
                yield f"{name}-back-{at}-{by}", name, set_back(at, by), None
                yield f"{name}-displaced-{at}-{by}", name, displaced(at, by), None
            yield f"{name}-unset-{at}", name, unset(at), None
        yield f"{name}-none", name, lambda place, time: 0, NO_TIMES
        yield f"{name}-seconds", name, lambda place, time: time // NS * NS, COARSE
        yield f"{name}-tenths", name, lambda place, time: time // (NS // 10) * (NS // 10), COARSE
        yield f"{name}-ahead", name, lambda place, time: time + 3600 * NS, None


CHANGES = {key: (name, change, why) for key, name, change, why in changes()}


@all_of("key", CHANGES)
def test_no_clock_makes_a_deviation(key: str, tmp_path: Path) -> None:
    name, change, why = CHANGES[key]
    path = tmp_path / "a.pcap"
    path.write_bytes(timed(name, change))
    found = both(path)
    assert not judged(found, Outcome.FAIL)
    if why is not None:
        assert found.captures[0].timeless == why
        assert why in str(found.captures[0].timeless_sentence)


def test_a_whole_capture_without_times_passes_no_interval(tmp_path: Path) -> None:
    for name in SESSIONS:
        path = tmp_path / f"{name}.pcap"
        path.write_bytes(timed(name, lambda place, time: 0))
        found = both(path)
        assert not INTERVALS & judged(found, Outcome.PASS).keys()
        assert {"MQQB-3.1.5.3.2.round-trip"} <= judged(found, Outcome.INCONCLUSIVE).keys()


def test_a_clock_that_is_set_late_leaves_open_what_began_before(tmp_path: Path) -> None:
    """What began before the clock was set is left open, with one sentence; what began later is judged."""
    path = tmp_path / "a.pcap"
    found = dict[int, Replay]()
    for at in (0, 20, 1_000):
        path.write_bytes(timed("resending_session", unset(at)))
        found[at] = both(path)
    assert [each.captures[0].timeless for each in found.values()] == [None, SET_BACK, None]
    opened = INTERVALS & judged(found[20], Outcome.INCONCLUSIVE).keys()
    assert opened and opened <= INTERVALS & judged(found[0], Outcome.PASS).keys()
    assert INTERVALS & judged(found[20], Outcome.PASS).keys()


def test_times_that_tell_an_interval_are_judged(tmp_path: Path) -> None:
    """Each interval is judged in some capture with its own times; and nothing is said of their times."""
    passed: set[str] = set()
    for name in SESSIONS:
        path = tmp_path / f"{name}.pcap"
        path.write_bytes(getattr(build_captures, name)().pcap())
        found = both(path)
        assert found.captures[0].timeless is None
        passed |= judged(found, Outcome.PASS).keys()
    assert passed >= INTERVALS


def test_what_begins_after_the_clock_went_back_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(timed("consistent_session", set_back(3, 2_000_000_000)))
    found = both(path)
    assert "MQQB-3.1.3.2.order-ack-delay" in judged(found, Outcome.INCONCLUSIVE)
    path.write_bytes(timed("consistent_session", set_back(3, 200_000_000)))
    found = both(path)
    assert found.captures[0].timeless == SET_BACK
    assert "MQQB-3.1.3.2.order-ack-delay" in judged(found, Outcome.PASS)


def test_a_deviation_in_time_is_still_found(tmp_path: Path) -> None:
    """Records that are only a little out of order do not hide an OrderAck that comes too soon."""
    path = tmp_path / "a.pcap"
    early = [0]

    def sooner(place: int, time: int) -> int:
        early[0] = early[0] or time
        return early[0] + (time - early[0]) // 8 - 20_000_000 * (place == 30)

    path.write_bytes(timed("consistent_session", sooner))
    found = both(path)
    assert judged(found, Outcome.FAIL)["MQQB-3.1.3.2.order-ack-delay"]
    assert found.captures[0].timeless is None


@pytest.mark.parametrize("stamp", [1 << 63, (1 << 64) - 1, 1 << 61])
@pytest.mark.parametrize("resolution", [0, 6, 9, 0x80 | 4])
def test_a_time_beyond_any_year_is_none(stamp: int, resolution: int, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    path.write_bytes(pcapng(stamp=stamp, options=struct.pack("<HHB3xI", 9, 1, resolution, 0)))
    lines: list[float] = []
    found = replay(
        [path], profile=PROFILE, readings=assignment("windows"), on_packet=lambda packet: lines.append(packet.time)
    )
    assert both(path).counted == found.counted
    assert len(lines) == 1
    assert abs(lines[0]) < 253_402_300_800  # The year 10000.
    assert not found.defects
