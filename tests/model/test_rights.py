"""The judge's descriptors and access check: bytes, entries in order, implied rights, new queues."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.model import rights
from conformance.model.descriptors import (
    ALLOW,
    AUDIT,
    DENY,
    EVERY_PART,
    INHERIT_ONLY,
    INHERITED,
    MAX_BYTES,
    Descriptor,
    DescriptorError,
    Entry,
    decoded,
    encoded,
)
from conformance.model.rights import ANONYMOUS, EVERYBODY, User, allowed, granted, new_queue, shown
from conformance.spec.constants.enumerations import ENUMERATIONS

A, B, GROUP_OF_A, MACHINE = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002", "S-1-5-21-1-2-3-2001", "S-1-5-21-1-2-3-1500"
TOKEN = User(A, frozenset({GROUP_OF_A})).token
VECTOR = (
    "AQAEgBQAAAAAAAAAAAAAADAAAAABBQAAAAAABRUAAAABAAAAAgAAAAMAAADpAwAAAgBAAAIAAAAAABQAIAACAAEBAAAAAAABAAAA"
    "AAAAJAA/AA8AAQUAAAAAAAUVAAAAAQAAAAIAAAADAAAA6QMAAA=="
)
sids = st.builds(
    lambda authority, numbers: "-".join(
        ("S-1", f"0x{authority:012X}" if authority >> 32 else str(authority), *numbers)
    ),
    st.integers(0, 2**48 - 1),
    st.lists(st.integers(0, 2**32 - 1).map(str), max_size=15),
)
entries = st.builds(Entry, st.sampled_from((ALLOW, DENY, AUDIT)), st.integers(0, 2**32 - 1), sids, st.integers(0, 255))
lists = st.none() | st.lists(entries, max_size=5).map(tuple)
descriptors = st.builds(Descriptor, st.none() | sids, st.none() | sids, lists, lists)
known = st.builds(
    Entry,
    st.sampled_from((ALLOW, DENY, AUDIT)),
    st.integers(0, rights.QUEUE_ALL),
    st.sampled_from((A, B, GROUP_OF_A, EVERYBODY)),
    st.sampled_from((0, INHERITED, INHERIT_ONLY)),
)
lists_of_known = st.lists(known, max_size=5).map(tuple)


def test_the_example_of_the_protocol_is_read_and_written() -> None:
    data = base64.b64decode(VECTOR)
    found = decoded(data)
    assert found == Descriptor(A, None, (Entry(ALLOW, 0x20020, EVERYBODY), Entry(ALLOW, 0xF003F, A)))
    assert encoded(found) == data and len(data) == 112


@given(descriptors)
def test_what_is_written_is_read_again(descriptor: Descriptor) -> None:
    assert decoded(encoded(descriptor)) == descriptor


@given(descriptors, st.data())
def test_a_cut_descriptor_is_refused(descriptor: Descriptor, data: st.DataObject) -> None:
    whole = encoded(descriptor)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(DescriptorError):
        decoded(whole[:cut])


@given(st.binary(max_size=200))
def test_any_bytes_are_a_descriptor_or_refused(data: bytes) -> None:
    try:
        decoded(b"\x01\x00\x14\x80" + data)
    except DescriptorError:
        return


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, 2), (3, 0), (21, 16), (20, 2), (48, 0), (50, 255), (52, 3), (58, 0), (58, 255), (16, 4), (4, 200)],
)
def test_a_byte_that_breaks_the_layout_is_refused(at: int, value: int) -> None:
    data = bytearray(base64.b64decode(VECTOR))
    data[at] = value
    with pytest.raises(DescriptorError):
        decoded(bytes(data))


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(DescriptorError):
        decoded(bytes(MAX_BYTES + 1))
    with pytest.raises(ValueError, match="too long"):
        encoded(Descriptor(dacl=(Entry(ALLOW, 1, A),) * 2000))
    for text in ("S-1", "S-2-5", "S-1-5-4294967296", "S-1-0x1000000000000", "S-1-5" + "-1" * 16, ""):
        with pytest.raises(ValueError, match="SID"):
            encoded(Descriptor(owner=text))


def test_the_rights_are_those_of_the_document() -> None:
    for table, name in ((rights.QUEUE_RIGHTS, "MQQUEUEACCESSMASK"), (rights.MACHINE_RIGHTS, "MQQMACCESSMASK")):
        named = {f"MQSEC_{word.upper().replace('-', '_')}": value for word, value in table.items()}
        assert named == dict(ENUMERATIONS[name].members)


@pytest.mark.parametrize(
    ("dacl", "wanted", "expected"),
    [
        (None, 7, True),
        ((), 1, False),
        (((ALLOW, 3, A), (DENY, 1, A)), 1, True),
        (((DENY, 1, A), (ALLOW, 3, A)), 1, False),
        (((DENY, 1, A), (ALLOW, 3, A)), 2, True),
        (((ALLOW, 1, A), (ALLOW, 2, GROUP_OF_A)), 3, True),
        (((ALLOW, 1, A), (DENY, 2, GROUP_OF_A), (ALLOW, 2, EVERYBODY)), 3, False),
        (((DENY, 1, B), (ALLOW, 1, EVERYBODY)), 1, True),
        (((ALLOW, 1, B),), 1, False),
        (((AUDIT, 1, A),), 1, False),
        (((ALLOW, 1, A, INHERITED),), 1, True),
        (((ALLOW, 1, A, INHERIT_ONLY),), 1, False),
        (((DENY, 1, A, INHERIT_ONLY), (ALLOW, 1, A)), 1, True),
    ],
)
def test_entries_count_in_their_order(dacl: tuple[Any, ...] | None, wanted: int, expected: bool) -> None:
    made = None if dacl is None else tuple(Entry(*row) for row in dacl)
    assert allowed(Descriptor(B, None, made), TOKEN, wanted) is expected


@given(lists_of_known)
def test_an_owner_reads_and_changes_permissions_without_an_entry(dacl: tuple[Entry, ...]) -> None:
    mine, other = Descriptor(A, None, dacl), Descriptor(B, None, dacl)
    assert granted(mine, TOKEN) == granted(other, TOKEN) | rights.IMPLIED


@given(lists_of_known, st.integers(1, rights.QUEUE_ALL))
def test_rights_are_allowed_together_as_each_is_alone(dacl: tuple[Entry, ...], wanted: int) -> None:
    descriptor = Descriptor(B, None, dacl)
    assert allowed(descriptor, TOKEN, wanted) is not bool(wanted & ~granted(descriptor, TOKEN))


@given(lists_of_known, st.integers(0, rights.QUEUE_ALL))
def test_a_denial_at_the_end_changes_nothing_that_was_allowed(dacl: tuple[Entry, ...], mask: int) -> None:
    longer = (*dacl, Entry(DENY, mask, A))
    assert granted(Descriptor(B, None, longer), TOKEN) == granted(Descriptor(B, None, dacl), TOKEN)


@given(descriptors, descriptors, st.integers(0, EVERY_PART))
def test_parts_are_merged_one_by_one(old: Descriptor, new: Descriptor, information: int) -> None:
    merged = old.merged(new, information)
    for bit in (1, 2, 4, 8):
        assert merged.part(bit) == (new if information & bit else old).part(bit)
    assert shown(old, information, "every") == old.only(information)
    assert shown(old, 0b1100, "first") == Descriptor(dacl=old.dacl)


WINDOWS = {rights.OWNER_STORED: "stored", rights.SUPPLIED_OWNER: "replaced", rights.ORDER: "merged"}
USERS = {"domain_users": frozenset({A, B, "S-1-5-21-1-2-3-501"}), "guests": frozenset({"S-1-5-21-1-2-3-501"})}


@pytest.mark.parametrize(
    ("creator", "owner", "rows"),
    [
        (A, A, [(0x20020, EVERYBODY), (0x20020, MACHINE), (0xF003F, A)]),
        ("S-1-5-21-1-2-3-501", "S-1-5-21-1-2-3-501", [(0xF003F, EVERYBODY), (0x20020, MACHINE)]),
        ("S-1-5-21-9-9-9-1", ANONYMOUS, [(0xF003F, EVERYBODY), (0x20020, MACHINE)]),
    ],
)
def test_a_new_queue_has_the_default_descriptor(creator: str, owner: str, rows: list[tuple[int, str]]) -> None:
    found = new_queue(User(creator), **USERS, machine=MACHINE, readings=WINDOWS)
    assert found == Descriptor(owner, None, tuple(Entry(ALLOW, mask, sid) for mask, sid in rows))


def test_what_can_be_reached_over_http_can_be_written_to() -> None:
    found = new_queue(User(A), **USERS, srmp=True, readings=WINDOWS)
    assert [(entry.mask, entry.sid) for entry in found.dacl or ()] == [
        (0x20024, EVERYBODY),
        (4, ANONYMOUS),
        (0xF003F, A),
    ]


def test_each_reading_makes_another_descriptor() -> None:
    supplied = Descriptor("S-1-5-32-544", "S-1-5-32-545", None, ())
    made = {
        (reading, word): new_queue(User(A), supplied, **USERS, readings={**WINDOWS, reading: word})
        for reading, word in (
            (rights.ORDER, "merged"),
            (rights.ORDER, "replaced"),
            (rights.SUPPLIED_OWNER, "kept"),
            (rights.OWNER_STORED, "letter"),
        )
    }
    assert {key[1]: found.owner for key, found in made.items()} == {
        "merged": ANONYMOUS,
        "replaced": "S-1-5-32-544",
        "kept": "S-1-5-32-544",
        "letter": None,
    }
    assert made[rights.ORDER, "replaced"].dacl is None and made[rights.ORDER, "merged"].dacl is not None
    assert all(found.sacl == () and found.group is None for found in made.values())
