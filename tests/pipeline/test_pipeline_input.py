"""Input of every bad kind: a file that cannot be read is a row, one that is damaged is read as far as it goes."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from lake_helpers import CAPTURES, HEADER, files_in, put, records_of, replayed, rows, said, write_pcap
from made_captures import foreign

from conformance.capture.records import MAX_RECORD
from conformance.command_options import BadInput
from conformance.pipeline.ingest import files_of

SESSION = CAPTURES / "consistent-session.pcapng"
BOTH = pytest.mark.parametrize("sessions", [True, False], ids=["all", "packets-alone"])


def row_of(lake, path) -> dict:
    (row,) = (row for row in rows(lake, "captures") if row["path"] == str(path))
    return row


@BOTH
def test_unreadable_paths_are_rows_and_the_others_are_ingested(tmp_path, sessions):
    (tmp_path / "empty.pcap").touch()
    (tmp_path / "text.pcap").write_text("not a capture at all")
    (tmp_path / "half.pcap.gz").write_bytes(b"\x1f\x8b\x08\x00junk")
    (tmp_path / "gone.pcap").symlink_to(tmp_path / "nowhere")
    (tmp_path / b"na\xffme.pcap".decode("utf-8", "surrogateescape")).write_text("no")
    bad = sorted(str(path) for path in tmp_path.iterdir())
    lake, done = put(tmp_path / "lake", [*bad, "/no/such.pcap", "a\0b", str(CAPTURES / "vlan.pcap")], sessions=sessions)
    assert done.captures == 1 and len(done.rejected) == len(bad) + 2
    reasons = {row["path"]: row["reason"] for row in rows(lake, "rejected")}
    assert len(reasons) == len(bad) + 2
    assert "empty" in reasons[str(tmp_path / "empty.pcap")]
    assert "is not a capture" in reasons[str(tmp_path / "text.pcap")]
    assert "No such file" in reasons["/no/such.pcap"]
    assert done.code() == 2
    _, again = put(tmp_path / "lake", bad)
    assert not again.rejected and len(rows(lake, "rejected")) == len(bad) + 2


@BOTH
def test_a_truncated_capture_is_read_to_its_end(tmp_path, sessions):
    capture = CAPTURES / "cut-record.pcap"
    lake, _ = put(tmp_path / "lake", [capture], sessions=sessions)
    assert row_of(lake, capture)["cut"] == "the file ends within record 33 (53 of 86 bytes)"
    assert row_of(lake, capture)["packets"] == 17 and row_of(lake, capture)["damaged_bytes"] == 0


@BOTH
@pytest.mark.parametrize("claims", [0xFFFFFFF0, 99_000])
def test_a_damaged_record_is_passed_over_and_counted(tmp_path, claims, sessions):
    """What stands behind it is judged, and what it lost makes nobody guilty."""
    records = records_of(CAPTURES / "resending-session.pcapng")
    whole = write_pcap(tmp_path / "whole.pcap", records)
    offsets = [24]
    for one in records:
        offsets.append(offsets[-1] + 16 + len(one.data))
    at = next(n for n, one in enumerate(records) if n > 20 and len(one.data) > 200)
    data = bytearray(whole.read_bytes())
    data[offsets[at] + 8 : offsets[at] + 12] = struct.pack("<I", claims)
    damaged = tmp_path / "damaged.pcap"
    damaged.write_bytes(data)
    lake, _ = put(tmp_path / "lake", [damaged], sessions=sessions)
    row = row_of(lake, damaged)
    assert row["damaged_bytes"] == offsets[at + 1] - offsets[at]
    assert row["records"] == len(records) - 1 and row["cut"] is None
    assert row["packets"] > 0 and not [one for one in rows(lake, "verdicts") if one["outcome"] == "fail"]
    assert len(rows(lake, "verdicts")) > 50


@BOTH
@pytest.mark.parametrize("at", [0, 20])
def test_a_hole_is_passed_over_and_counted(tmp_path, at, sessions):
    """Zeros, as a crash leaves behind; the day and the first time are those of what can be read."""
    records = records_of(CAPTURES / "resending-session.pcapng")
    whole = write_pcap(tmp_path / "whole.pcap", records).read_bytes()
    border, hole = len(HEADER) + sum(16 + len(one.data) for one in records[:at]), 5_000_000
    damaged = tmp_path / "damaged.pcap"
    damaged.write_bytes(whole[:border] + bytes(hole) + whole[border:])
    lake, done = put(tmp_path / "lake", [damaged], sessions=sessions)
    row = row_of(lake, damaged)
    assert row["damaged_bytes"] == hole and row["records"] == len(records) and row["cut"] is None
    assert row["first_time"].timestamp() == pytest.approx(records[0].time_ns / 1e9, abs=1e-5)
    (file,) = files_in(lake, "captures")
    assert f"date={row['first_time']:%Y-%m-%d}" in str(file)
    assert done.packets == put(tmp_path / "other", [tmp_path / "whole.pcap"], sessions=sessions)[1].packets


@BOTH
def test_mixed_link_types_compressed_files_and_pcapng_in_one_ingest(tmp_path, sessions):
    packed = ["pcapng-gzip.pcapng.gz", "consistent-session-gzip.pcap.gz"]
    names = ["linux-cooked.pcap", "raw-ip.pcap", "vlan.pcap", "ipv6-extensions.pcapng", *packed]
    lake, done = put(tmp_path / "lake", [CAPTURES / name for name in names], sessions=sessions)
    assert done.captures == len(names) and not done.rejected
    found = {Path(row["path"]).name: row["format"] for row in rows(lake, "captures")}
    assert found["pcapng-gzip.pcapng.gz"] == "pcapng.gz" and found["consistent-session-gzip.pcap.gz"] == "pcap.gz"
    if sessions:
        for name in names:
            assert said(lake, CAPTURES / name) == replayed(CAPTURES / name)


@BOTH
def test_foreign_traffic_on_the_port_is_lost_bytes_not_an_accusation(tmp_path, sessions):
    capture = foreign(tmp_path / "foreign.pcap")
    lake, done = put(tmp_path / "lake", [capture], sessions=sessions)
    assert row_of(lake, capture)["packets"] == done.packets == 0
    assert row_of(lake, capture)["lost_bytes"] > 1000
    assert not [one for one in rows(lake, "verdicts") if one["outcome"] == "fail"]


@BOTH
def test_a_capture_beyond_four_gigabytes(tmp_path, sessions):
    """Sparse, with records of the largest size in front: offsets of more than 32 bits."""
    records = records_of(SESSION)
    capture = tmp_path / "big.pcap"
    small = write_pcap(tmp_path / "small.pcap", records)
    begin = records[0].time_ns // 1_000_000_000 - 1
    with capture.open("wb") as file:
        file.write(HEADER)
        at, large = len(HEADER), 0
        while at <= 1 << 32:
            large += 1
            file.seek(at)
            file.write(struct.pack("<IIII", begin, 0, MAX_RECORD, MAX_RECORD))
            at += 16 + MAX_RECORD
        file.seek(at)
        file.write(small.read_bytes()[len(HEADER) :])
    lake, _ = put(tmp_path / "lake", [capture], sessions=sessions)
    row = row_of(lake, capture)
    assert row["packets"] == row_of(put(tmp_path / "other", [small])[0], small)["packets"]
    assert row["records"] == len(records) + large and row["cut"] is None
    if sessions:
        assert said(lake)[1] == replayed(small)[1]


def test_folders_without_captures_and_standard_input_are_mistakes(tmp_path):
    for names, words in (
        ([str(tmp_path)], "holds no capture"),
        (["-"], "standard input"),
        ([f"{tmp_path}/*.x"], "fits"),
    ):
        with pytest.raises(BadInput, match=words):
            files_of(names)


def test_each_path_that_could_not_be_taken_has_its_row(tmp_path):
    """The same content under another name, in the same ingest and in a later one; each is told once."""
    names = ["one.pcap", "two.pcap", "three.pcap"]
    for name in names[:2]:
        (tmp_path / name).write_text("no capture")
    (tmp_path / "link.pcap").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe.pcap")
    lake, done = put(tmp_path / "lake", [tmp_path, "/dev/zero"])  # A pipe that nobody writes to would never end.
    expected = sorted(["link.pcap", "pipe.pcap", "zero", *names[:2]])
    assert sorted(Path(one.path).name for one in done.rejected) == expected
    (tmp_path / names[2]).write_text("no capture")
    lake, done = put(tmp_path / "lake", [tmp_path])
    assert [Path(one.path).name for one in done.rejected] == [names[2]]
    assert sorted(Path(row["path"]).name for row in rows(lake, "rejected")) == sorted([*expected, names[2]])
