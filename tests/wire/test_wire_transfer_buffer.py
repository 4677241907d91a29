"""CACTransferBufferV1: scapy's NDR writes what the plain reader reads, back and forth, and no bytes trouble either."""

from __future__ import annotations

import re
import struct
from typing import Any

import fastjsonschema
import pytest
from cases import all_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.adapter import protocol
from conformance.judge.structures.transfer_buffer_rules import CERTIFICATE, PLAIN, PLAIN_ARMS, SID, patched, plain
from conformance.spec.catalogue import assignment
from conformance.suites.structures.transfer_buffer_cases import examples, values
from conformance.wire.transfer_buffer import (
    ARMS,
    MEMBERS,
    STRUCTURE,
    TAG,
    TRANSFER_TYPE,
    all_members,
    certificate_length,
    json_name,
    key,
    read_transfer_buffer,
    sid_length,
    value_of,
)
from conformance.wire.transfer_buffer_layers import TransferBufferV1, layer_of, write_transfer_buffer

READINGS = assignment("windows")
FEW = settings(max_examples=fewer(20), deadline=None, database=None, suppress_health_check=list(HealthCheck))
MANY = settings(FEW, max_examples=fewer(120))
# Send with one member each of two of its kinds, every byte put down by hand.
BY_HAND = bytes.fromhex(
    "00000000 00000000 00000000 00000000"  # uTransferType, the union's tag, two null queues
    "00000200"  # pClass
    + "00000000" * 10  # ppMessageID to ppBody
    + "00000000 00000000 00000000"  # the body's two sizes, pBodySize
    + "04000200 02000000 00000000"  # ppTitle of two WCHARs
    + "00000000" * 5  # the times, pTrace
    + "00000000" * 5  # pulSenderIDType to ulAuthLevel
    + "00000000" * 6  # pAuthenticated to pulSenderCertLenProp
    + "00000000" * 8  # ppwcsProvName to pulSymmKeysSizeProp
    + "0001 0400"  # bEncrypted, bAuthenticated, uSenderIDLen
    + "00000000" * 3  # the signature
    + "00000000 0c000200"  # ppSrcQMID, pUow
    + "00000000" * 6  # the extension to pulVersion
    + "0240 0000"  # the class, and a gap before the pointer to the title
    + "08000200 02000000 00000000 02000000 68006900"  # the title
    + "6f2d8c1a39b4e5470102030405060708"  # the unit of work
)


def whole(value: dict[str, Any]) -> dict[str, Any]:
    """The value with every member told, as decoding does."""
    arm = ARMS[value[TRANSFER_TYPE.json]]
    inside = {one.json: value[arm.json].get(one.json, None if one.pointer else 0) for one in arm.members}
    rest = {one.json: value.get(one.json, None if one.pointer else 0) for one in MEMBERS}
    return {TRANSFER_TYPE.json: arm.case, arm.json: inside, **rest}


def test_bytes_put_down_by_hand() -> None:
    value = {
        "u_transfer_type": 0,
        "send": {},
        "p_class": 0x4002,
        "pp_title": "hi",
        "ul_title_buffer_size_in_wchars": 2,
        "b_authenticated": 1,
        "u_sender_id_len": 4,
        "p_uow": {"rgb": "1a8c2d6f-b439-47e5-0102-030405060708"},
    }
    read = read_transfer_buffer(BY_HAND)
    assert read.trouble == ()
    assert value_of(read) == whole(value)
    written = write_transfer_buffer(value)
    referents = {name: int(read.fields[name]) for name in read.fields if name.endswith((".Referent", ".Inner"))}
    assert patched(written, referents) == BY_HAND


def test_members_are_those_of_the_declaration() -> None:
    assert len({placed.key for placed in all_members()}) == 1 + 2 + 16 + 3 + len(MEMBERS)
    assert len(MEMBERS) == 55


@pytest.mark.parametrize(
    ("name", "json"),
    [
        ("ppMessageID", "pp_message_id"),
        ("ulTitleBufferSizeInWCHARs", "ul_title_buffer_size_in_wchars"),
        ("srv_hACQueue", "srv_h_ac_queue"),
        ("ppSrcQMID", "pp_src_qmid"),
        ("RequestTimeout", "request_timeout"),
    ],
)
def test_names_in_the_protocol(name: str, json: str) -> None:
    assert json_name(name) == json


def schema() -> dict[str, Any]:
    return dict(protocol.document("structures")["$defs"][STRUCTURE])


def test_the_schema_has_the_members_of_the_table() -> None:
    properties = schema()["properties"]
    arms = {arm.json: [one.json for one in arm.members] for arm in ARMS}
    assert list(properties) == [TRANSFER_TYPE.json, *arms, *(one.json for one in MEMBERS)]
    assert {name: list(properties[name]["properties"]) for name in arms} == arms


@FEW
@given(values(READINGS))
def test_written_by_scapy_and_read_by_the_table(value: dict[str, Any]) -> None:
    data = write_transfer_buffer(value)
    read = read_transfer_buffer(data)
    assert read.trouble == () and read.fields[key("Trailing")] == 0
    assert value_of(read) == value
    again = TransferBufferV1(data)
    assert bytes(again) == data
    assert STRUCTURE in again.show(dump=True)


def test_the_schema_takes_the_values() -> None:
    check = fastjsonschema.compile(protocol.inlined(schema()))
    for value in examples(READINGS):
        check(value)
        check(value_of(read_transfer_buffer(write_transfer_buffer(value))))
    for wrong in ({}, {"u_transfer_type": 0, "p_class": "1"}, {"u_transfer_type": 0, "pClass": 1}):
        with pytest.raises(fastjsonschema.JsonSchemaValueException):
            check(wrong)


def test_every_byte_is_a_member_or_a_gap_before_a_wider_one() -> None:
    for kind in PLAIN_ARMS:
        data = write_transfer_buffer(plain(kind))
        spans = read_transfer_buffer(data).spans
        held = {at for begin, size in spans.values() for at in range(begin, begin + size)}
        gaps = set(range(len(data))) - held
        assert all(data[at] == 0 and (at + 1) % 4 != 1 for at in gaps) and len(gaps) < 24


def test_members_left_out_are_computed_or_null() -> None:
    given_sizes = {"pp_body": PLAIN["pp_body"], "pp_title": "title", "ppwcs_prov_name": "p\0", "pp_sender_id": "AQID"}
    got = value_of(read_transfer_buffer(write_transfer_buffer({"u_transfer_type": 0, "send": {}, **given_sizes})))
    assert got["ul_body_buffer_size_in_bytes"] == got["ul_alloc_body_buffer_in_bytes"] == 10
    assert (got["ul_title_buffer_size_in_wchars"], got["ul_prov_name_len"], got["u_sender_id_len"]) == (5, 2, 3)
    assert got["pp_signature"] is None and got["p_class"] is None and got["f_default_provider"] == 0


def test_a_buffer_shorter_than_its_size_is_filled_up() -> None:
    value = {"u_transfer_type": 0, "send": {}, "pp_signature": "AQID", "ul_signature_size": 8}
    assert value_of(read_transfer_buffer(write_transfer_buffer(value)))["pp_signature"] == "AQIDAAAAAAA="


@pytest.mark.parametrize(
    "value",
    [
        {"u_transfer_type": 3},
        {},
        {"u_transfer_type": 0, "pp_body": "no base64"},
        {"u_transfer_type": 0, "p_class": "text"},
        {"u_transfer_type": 0, "p_class": 1 << 16},
        {"u_transfer_type": 0, "pp_src_qmid": "no guid"},
        {"u_transfer_type": 0, "pp_message_id": {"uniquifier": 1}},
        {"u_transfer_type": 0, "send": {"p_admin_queue_format": {"m_qft": 3}}, "pp_title": 5},
    ],
)
def test_what_is_no_value_is_told_in_a_line(value: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=re.compile(f"Invalid value of {STRUCTURE}: [^\n]+")):
        write_transfer_buffer(value)


def test_show_names_values_and_opens_pointers() -> None:
    shown = TransferBufferV1(write_transfer_buffer(plain(1))).show(dump=True)
    assert "Receive.Action = 0x80000000 (MQ_ACTION_PEEK_CURRENT)" in shown
    assert "pulHashAlg = 0x8004 (MQMSG_CALG_SHA1)" in shown
    assert "ppTitle = 'title'" in shown and "ppBody = b'body of it'" in shown
    assert layer_of(plain()).mysummary() == f"{STRUCTURE} Send"


def counts() -> list[tuple[int, str]]:
    """Every number that says how much there is, by transfer type and key."""
    out = []
    for kind in PLAIN_ARMS:
        fields = read_transfer_buffer(write_transfer_buffer(plain(kind))).fields
        sizes = {key(one, placed.arm) for placed in all_members() for one in (placed.member.size, placed.member.length)}
        found = [name for name in fields if name.endswith(("Count", ".Offset")) or name in sizes]
        out += [(kind, name) for name in [*found, key(TAG), key(TRANSFER_TYPE.name)]]
    return out


@all_of(("kind", "name"), counts())
def test_no_count_makes_it_stumble(kind: int, name: str) -> None:
    data = write_transfer_buffer(plain(kind))
    begin, size = read_transfer_buffer(data).spans[name]
    top = (1 << 8 * size) - 1
    for number in (0, 1, top - 1, top, (top >> 1) + 1, len(data) - begin + 1):
        changed = patched(data, {name: number & top})
        read = read_transfer_buffer(changed)
        assert sum(len(one) for one in read.fields.values() if isinstance(one, bytes | str)) <= 4 * len(data)
        assert TransferBufferV1(changed).show(dump=True)


@pytest.mark.parametrize("kind", sorted(PLAIN_ARMS))
def test_what_is_cut_short_is_told(kind: int) -> None:
    data = write_transfer_buffer(plain(kind))
    for length in range(0, len(data), 3):
        read = read_transfer_buffer(data[:length])
        assert [one.code for one in read.trouble] == ["truncated"]
        assert read.trouble[0].offset <= length


@MANY
@given(st.binary(max_size=600), st.integers(0, 2))
def test_any_bytes_are_read_or_told(noise: bytes, kind: int) -> None:
    for data in (noise, struct.pack("<II", kind, kind) + noise):
        read = read_transfer_buffer(data)
        assert read.trouble or value_of(read)


@MANY
@given(st.data())
def test_bytes_changed_anywhere_are_read_or_told(data: st.DataObject) -> None:
    packed = bytearray(write_transfer_buffer(plain(data.draw(st.integers(0, 2)))))
    for at in data.draw(st.lists(st.integers(0, len(packed) - 1), max_size=4)):
        packed[at] = data.draw(st.integers(0, 255))
    read = read_transfer_buffer(bytes(packed))
    assert read.trouble or value_of(read)
    assert TransferBufferV1(bytes(packed)).show(dump=True)


def test_sids_and_certificates_by_their_outline() -> None:
    assert (sid_length(SID), sid_length(SID + b"room"), sid_length(SID[:-1]), sid_length(b"\2" + SID[1:])) == (
        12,
        12,
        0,
        0,
    )
    assert (certificate_length(CERTIFICATE), certificate_length(CERTIFICATE + b"\0")) == (9, 9)
    for wrong in (b"", CERTIFICATE[:-1], b"\x31" + CERTIFICATE[1:], bytes.fromhex("3080"), bytes.fromhex("30020500")):
        assert certificate_length(wrong) == 0
