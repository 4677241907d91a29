"""Fields of packets in columns are those of the packets."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from columns_beside import FACTS, Beside
from columns_packets import changed, of_fuzzing, of_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import amount
from wire_strategies import user_messages

from conformance.wire import dissect, encode
from conformance.wire.columns import walkers
from conformance.wire.columns.packets import shapes_and_code
from conformance.wire.columns.shapes import Place, Shapes, Sort, UnknownShapeError
from conformance.wire.columns.table import ColumnSet, column_set, value_of
from conformance.wire.columns.walkers import starts_with
from conformance.wire.headers import ALL_SECTIONS
from conformance.wire.layout import Choice, Length, Octets, Pad, Section, UInt, Value, Wide
from conformance.wire.packet import Packet


def row_of(columns: ColumnSet, packet: Packet, first: int, facts: Mapping[str, Value] | None = None) -> list[int]:
    """Return the row of a packet that was decoded one by one, for packets that the emitted code leaves out.

    first: offset of the packet in the buffer. facts: fields beside the decoded ones, as `judge.packets.facts`.
    """
    row = [0] * columns.width
    fields = packet.fields if facts is None else {**packet.fields, **facts}
    for column in columns.columns.values():
        place = column.place
        value = fields.get(place.key)
        if value is None:
            continue
        row[column.flags] |= 1 << column.bit
        if place.sort is Sort.GUID:
            raw = uuid.UUID(str(value)).bytes_le
            row[column.at : column.at + 2] = [_signed(raw[:8]), _signed(raw[8:])]
        elif place.sort in (Sort.TEXT, Sort.BYTES):
            raw = value.encode("utf-16-le", "surrogatepass") if isinstance(value, str) else bytes(value)
            if column.hashed:
                row[column.at] = hash_of(raw)
            else:
                row[column.at : column.at + 2] = [first + packet.spans[place.key][0], len(raw)]
        elif place.sort is Sort.WORD:
            row[column.at] = place.words.index(str(value)) if value in place.words else -1
        else:
            row[column.at] = _signed(int(value).to_bytes(8, "little"))
    return row


def hash_of(raw: bytes) -> int:
    """Return the hash of a `#` column, as `texts.mixed` computes it."""
    word = _wrapped(len(raw) * -0x61C8_8646_80B5_83EB)
    at = 0
    while len(raw) - at >= 8:
        word = _wrapped((word ^ _signed(raw[at : at + 8])) * -0x40A7_B892_E31B_1A47)
        word ^= (word >> 29) & 0x7_FFFF_FFFF
        at += 8
    while len(raw) - at >= 2:
        word = _wrapped((word ^ int.from_bytes(raw[at : at + 2], "little")) * -0x6B2F_B644_ECCE_EE15)
        word ^= (word >> 32) & 0xFFFF_FFFF
        at += 2
    return word


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)


def _wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


SHAPES, _ = shapes_and_code()
HASHED = ("MessagePropertiesHeader.Label#", "MessagePropertiesHeader.MessageBody#")
KEYS = (*SHAPES.places, *HASHED)
KINDS = ("SessionAck", "EstablishConnection", "ConnectionParameters", "OrderAck", "FinalAck")


@pytest.fixture(scope="module")
def beside() -> Beside:
    return Beside(KEYS)


def test_every_field_of_every_rules_packets(beside: Beside) -> None:
    packets, done = of_rules(), Counter[bool]()
    for whole, group in ((one, [data for data in packets if dissect(data).whole is one]) for one in (True, False)):
        for first in range(0, len(group), beside.rows):
            done[whole] += beside.compare_fields(group[first : first + beside.rows])
    # Packets that do not decode whole, and lists of names, are left to the decoder of single ones.
    assert done[True] > 0.7 * sum(dissect(data).whole for data in packets)


def test_every_field_of_the_packets_of_a_session(beside: Beside) -> None:
    assert beside.compare_fields([encode(kind) for kind in KINDS]) == len(KINDS)
    assert beside.compare_fields([encode("Ping", {"Ping.Cookie": 77})], udp=True) == 1


def test_every_field_has_a_column() -> None:
    # But for elements of lists, which are fields by number, and a SID as text.
    for data in (*of_rules(), *(encode(kind) for kind in KINDS)):
        packet = dissect(data, transport="tcp")
        if packet.trouble:
            continue
        left = {key for key in packet.fields if key not in SHAPES.places and key != "SID.Text"}
        assert all(".FormatNameList." in key for key in left), left


@given(st.lists(user_messages(), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_every_field_of_generated_messages(messages: list[dict[str, Any]]) -> None:
    beside = Beside(KEYS)
    beside.compare_fields([encode("UserMessage", values) for values in messages])


@given(st.integers(0, 1 << 32))
@settings(max_examples=amount("columns.packs-changed-a-little"), deadline=None)
def test_every_field_of_packets_changed_a_little(seed: int) -> None:
    beside, chance = Beside(KEYS), random.Random(seed)
    pool = of_rules() + of_fuzzing()
    beside.compare_fields([changed(chance.choice(pool), chance) for _ in range(64)])


def test_a_nul_is_found_wherever_in_a_text_it_stands(beside: Beside) -> None:
    texts = ["x" * size for size in range(200)]
    texts += [f"{'x' * at}\0{'x' * (size - at)}" for size in (1, 31, 32, 33, 63, 64, 65, 96, 140) for at in range(size)]
    packets = [encode("UserMessage", {"MessagePropertiesHeader.Label": text}) for text in texts]
    done = 0
    for first in range(0, len(packets), beside.rows):
        done += beside.compare_fields(packets[first : first + beside.rows])
    assert done == len(packets)
    key = "MessagePropertiesHeader.Label.Inner"
    assert {bool(dissect(one).fields.get(key)) for one in packets} == {False, True}


def test_a_row_made_one_by_one_is_the_row_made_by_columns(beside: Beside) -> None:
    columns = beside.judge.chunks.columns
    packets = [encode("UserMessage", {"MessagePropertiesHeader.Label": text}) for text in ("", "a", "label", "x" * 9)]
    packets += [rule for rule in of_rules() if not dissect(rule).trouble][:40]
    for data, (_, row), first in zip(packets, beside.rows_of(packets), beside.at, strict=True):
        alone = row_of(columns, dissect(data, transport="tcp"), first)
        for column in columns.columns.values():
            there = row[column.flags] >> column.bit & 1
            if there and column.key not in FACTS and beside.chunk.slow[beside.at.index(first)] == 0:
                assert alone[column.flags] >> column.bit & 1, column.key
                wide = slice(column.at, column.at + column.width)
                assert alone[wide] == row[wide], column.key
                assert value_of(column, alone, data, first) == value_of(column, row, data, first)


def test_equal_values_have_equal_hashes_and_others_do_not(beside: Beside) -> None:
    texts = ["label", "label", "labem", "label ", "", "l" * 40, "l" * 41, "aa", "a"]
    packets = [encode("UserMessage", {"MessagePropertiesHeader.Label": text}) for text in texts]
    column = beside.judge.chunks.columns[HASHED[0]]
    rows = [row for _, row in beside.rows_of(packets)]
    found = [row[column.at] for row in rows]
    assert [bool(row[column.flags] >> column.bit & 1) for row in rows] == [bool(text) for text in texts]
    for one, text in zip(found, texts, strict=True):
        assert not text or one == hash_of(text.encode("utf-16-le"))
    assert len({one for one, text in zip(found, texts, strict=True) if text}) == len(set(texts) - {""})


def test_a_layout_there_is_no_code_for_is_an_error() -> None:
    def shaped(*items: Any) -> None:
        walkers.walker(Section("New", "nowhere", (UInt("First", 4), *items)), Shapes())

    shaped(Octets("Rest", Length("First")))
    with pytest.raises(UnknownShapeError, match="aligns to 3"):
        shaped(Pad(to=3))
    with pytest.raises(UnknownShapeError, match="two places"):
        shaped(
            Choice("Which", "New.First", {1: (UInt("A", 4),), 2: (Octets("A", Length(fixed=4)),)}), UInt("Which.A", 4)
        )
    with pytest.raises(UnknownShapeError, match="fields of fixed width"):
        walkers.walker(Section("New", "nowhere", (Wide("Text", Length(fixed=4)),)), Shapes())
    with pytest.raises(UnknownShapeError, match="ASCII"):
        starts_with("begins", "ß")


def test_every_section_is_walked() -> None:
    assert {place.section for place in SHAPES.places.values()} >= {one.name for one in ALL_SECTIONS} - {"PUBLICKEYBLOB"}


def test_columns_stand_beside_each_other() -> None:
    columns = column_set(SHAPES, KEYS)
    taken = [at for one in columns.columns.values() for at in range(one.at, one.at + one.width)]
    flags = {one.flags for one in columns.columns.values()}
    assert sorted([*taken, *flags]) == list(range(columns.width))
    assert len({(one.flags, one.bit) for one in columns.columns.values()}) == len(KEYS)
    for wrong in (("No.Such",), ("BaseHeader.PacketSize#",), ("BaseHeader.PacketSize",) * 2):
        with pytest.raises(UnknownShapeError):
            column_set(SHAPES, wrong)


def test_a_key_is_in_one_place() -> None:
    shapes = Shapes()
    shapes.add(Place("A.B", "A", Sort.NUMBER, anchor=3, width=4))
    with pytest.raises(UnknownShapeError, match="two places"):
        shapes.add(Place("A.B", "A", Sort.NUMBER, anchor=4, width=4))
