"""Wrong sizes and counts, and inputs that grow: no exception, no more work or memory than the bytes are worth."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from bounded import Number, lengths, packets, read_buffer, read_packet, sizes_of_packets, sizes_of_structures
from bounded import sizes_of_transfer_buffers as buffers
from cases import all_of
from counted import ROOT, TooManySteps, peak, steps
from growing import SHAPES

from conformance.judge.packets import judge as judging
from conformance.judge.packets.judge import judge_packet
from conformance.judge.rules import together
from conformance.wire import Packet, dissect, encode
from conformance.wire.headers import ALL_SECTIONS
from conformance.wire.layout import steps_of

# The work for the valid bytes is the measure; a reader may look at wrong ones a few times, for each reading once.
TIMES, SPARE = 3, 500
FIRST = 50_000  # With what is made once: the code of the rules for such a packet, and what they say of it.
# The search for the one deviation that explains an odd packet decodes and judges it once for each hypothesis.
HYPOTHESES = 100
AT_ONCE = 3  # and holds no more than the packet, the best explanation so far, and one hypothesis at a time
MEMORY, BYTES_A_BYTE = 64 * 1024, 64
# The rules for packets that come often become one function. It is made once for a kind of packet, in whichever call is
# the 64th: here it is not made, but where it is measured itself.
OFTEN, MADE = "conformance.judge.packets.judge._OFTEN", 8 * 1024 * 1024


@pytest.fixture(autouse=True)
def nothing_comes_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OFTEN, 0)


def once(number: Number, value: int, limit: int) -> None:
    data = number.with_value(value)
    steps(lambda: number.read(data), FIRST)
    steps(lambda: number.read(data), limit)


@all_of("number", [*sizes_of_packets(), *sizes_of_structures()], ids=lambda number: number.name)
def test_a_wrong_size_or_count_is_survived(number: Number) -> None:
    number.read(number.data)
    usual = steps(lambda: number.read(number.data), 1_000_000)
    for value in number.values():
        once(number, value, TIMES * usual + SPARE)
    worst = number.with_value(max(number.values()))
    assert peak(lambda: number.read(worst)) < MEMORY + BYTES_A_BYTE * len(worst)


def test_the_search_for_what_explains_an_odd_packet_has_an_end() -> None:
    numbers = [number for number in sizes_of_packets() if number.name.endswith((".HeaderSize", ".MessageSize"))]
    assert len(numbers) > 3
    for number in numbers[::2]:
        data = number.with_value(max(number.values()))
        read_packet(data)
        usual = steps(partial(read_packet, number.data), 1_000_000)
        steps(partial(judge_packet, data, profile="msmq-4.0", transport="buffer"), HYPOTHESES * usual)


@all_of("number", [*sizes_of_packets()], ids=lambda number: number.name)
def test_the_search_holds_no_more_than_its_packets(number: Number) -> None:
    worst = number.with_value(max(number.values()))
    judged = partial(judge_packet, worst, profile="msmq-4.0", transport="buffer", level="may")
    judged()  # what is made once, such as tables, is made here
    assert peak(judged) < AT_ONCE * (MEMORY + BYTES_A_BYTE * len(worst))


@pytest.mark.parametrize("kind", [kind for kind in packets() if kind != "Ping"])
def test_a_packet_that_comes_often_is_judged_in_no_more_memory(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    often = 3
    made: list[int] = []

    def counted(trees: list[Any]) -> Any:
        made.append(len(trees))
        return together(trees)

    monkeypatch.setattr(OFTEN, often)
    monkeypatch.setattr(judging, "together", counted)
    judging._plan.cache_clear()  # as if no packet had come
    data = packets()[kind]
    for _ in range(often - 1):
        read_packet(data)
    before = len(made)
    assert peak(partial(read_packet, data)) < MADE
    assert len(made) == before + 1
    assert peak(partial(read_packet, data)) < MEMORY + BYTES_A_BYTE * len(data)
    assert len(made) == before + 1


def test_a_wrong_number_in_a_transfer_buffer_is_survived() -> None:
    numbers = list(buffers())
    assert len(numbers) > 300
    for number in numbers:
        for value in number.values():
            number.read(number.with_value(value))
    usual = steps(lambda: read_buffer(numbers[0].data), 1_000_000)
    for number in numbers[::5]:
        once(number, max(number.values()), TIMES * usual + SPARE)
        worst = number.with_value(max(number.values()))
        assert peak(partial(number.read, worst)) < MEMORY + BYTES_A_BYTE * len(worst)


def test_every_size_and_count_of_the_tables_is_tried() -> None:
    wanted = {key for section in ALL_SECTIONS for key in lengths(steps_of(section))}
    tried = {number.name.partition("-")[2] for number in sizes_of_packets()}
    assert len(wanted) > 20
    assert wanted <= tried
    assert {"BaseHeader.PacketSize", "CompoundMessageHeader.MsgBodyOffset", "SID.SubAuthorityCount"} <= tried
    assert {dissect(data).kind for data in packets().values()} >= {"UserMessage", "OrderAck", "SessionAck", "Ping"}


def test_two_wrong_sizes_at_once_are_survived() -> None:
    """Sums that only two numbers together make too large: every pair of sizes in one packet, both at their ends."""
    numbers = [number for number in sizes_of_packets() if number.name.startswith("full-")]
    for at, one in enumerate(numbers):
        for other in numbers[at + 1 :]:
            for value in (0, (1 << 8 * one.width) - 1):
                data = one.with_value(value)
                top = (1 << 8 * other.width) - 1
                both = data[: other.at] + top.to_bytes(other.width, "little") + data[other.at + other.width :]
                assert isinstance(dissect(both), Packet)


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_input_and_not_faster(shape: str) -> None:
    read, make = SHAPES[shape]
    read(make(512))  # what is made once, such as tables, is made here
    small, large = (make(size) for size in (2048, 8192))
    work = [steps(partial(read, data), 10_000_000) for data in (small, large)]
    assert work[1] <= 4.4 * work[0] + SPARE, work


def test_memory_grows_with_the_input_and_not_faster() -> None:
    for shape, (read, make) in SHAPES.items():
        small, large = (make(size) for size in (4096, 16384))
        for data in (small, large):
            read(data)  # what is made once, such as tables, is made here
        held = [peak(partial(read, data)) for data in (small, large)]
        assert held[1] <= 6 * held[0] + MEMORY, (shape, held)  # tables of names double now and then; 16 is a square


def test_a_list_of_more_names_than_are_shown_is_bounded() -> None:
    """A million elements become no million fields."""
    names = b"\3\0\0\0" * 200_000
    values: dict[str, Any] = {
        "UserHeader.DestinationQueue.DirectFormatName": "OS:h\\q",
        "MultiQueueFormatHeader.Destination.FormatNameList": names,
        "MultiQueueFormatHeader.Destination.ElementCount": 200_000,
    }
    packet = dissect(encode("UserMessage", values))
    assert packet.fields["MultiQueueFormatHeader.Destination.FormatNameList.Elements"] == 200_000
    assert len(packet.fields) < 4000


def test_the_counter_sees_a_reader_that_does_too_much() -> None:
    source = "def slow(data):\n    found = 0\n    for a in data:\n        for b in data:\n            found += 1\n"
    space: dict[str, Any] = {}
    exec(compile(source, f"{ROOT}/wire/slow.py", "exec"), space)
    work = [steps(lambda size=size: space["slow"](bytes(size)), 1_000_000) for size in (64, 256)]
    assert work[1] > 12 * work[0]
    with pytest.raises(TooManySteps):
        steps(lambda: space["slow"](bytes(256)), 1000)
    assert peak(lambda: bytes(1 << 20)) >= 1 << 20
