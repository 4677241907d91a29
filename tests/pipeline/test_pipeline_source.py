"""The rows of the data source: in columns those of the peer, whatever ranges, columns and conditions are asked for."""

from __future__ import annotations

import gzip
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from broken_streams import broken_stream, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lake_helpers import CAPTURES, records_of, write_pcap
from nightly import fewer
from source_peer import rows_of

from conformance.capture.ranges import size_of, split
from conformance.command_options import BadInput
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.ingest import Options, how
from conformance.pipeline.schemas import SOURCE

pytest.importorskip("pyspark")

from pyspark.sql import datasource as spark

from conformance.pipeline.source import Batch, Filtering, MsmqPcap
from conformance.pipeline.source_columns import Wanted, packets
from conformance.pipeline.source_filters import test_of as condition_of

ASKED = how(Options(), "")
FILES = sorted(path for path in CAPTURES.iterdir() if path.suffix != ".toml")
SCALARS = [one for one in SOURCE.columns if one.type != "strings"]
USUAL = settings(max_examples=fewer(100), deadline=None, suppress_health_check=list(HealthCheck))


def made(path, start, stop, wanted=None):
    found = packets(str(path), start, stop, ASKED, wanted or Wanted())
    return [row for batch in found for row in batch.to_pylist()]


def told(path, start, stop):
    return list(rows_of(str(path), start, stop, ASKED))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_capture_has_the_rows_of_the_peer(path, tmp_path):
    size = size_of(path)
    assert made(path, 24, size) == told(path, 24, size)
    capture = write_pcap(tmp_path / "one.pcap", records_of(path))
    size = capture.stat().st_size
    for at_most in (700, 3000):
        for start, stop in split(size, at_most):
            assert made(capture, start, stop) == told(capture, start, stop)


@settings(USUAL, max_examples=fewer(20))
@given(
    st.lists(st.integers(0, 1 << 20), min_size=1, max_size=2),
    st.sampled_from([300, 1000, 5000, 1 << 30]),
    st.integers(0, 1 << 40),
    st.lists(st.tuples(st.integers(0, 1 << 40), st.integers(0, 255)), max_size=2),
)
def test_broken_streams_have_the_rows_of_the_peer_in_whatever_ranges(tmp_path_factory, seeds, at_most, cut, damage):
    data = bytearray(written(map(broken_stream, seeds)))
    for at, value in damage:
        data[24 + at % (len(data) - 24)] = value
    if cut % 4 == 0:
        del data[24 + cut % (len(data) - 24) :]
    path = tmp_path_factory.getbasetemp() / "broken.pcap"
    path.write_bytes(data)
    for start, stop in split(len(data), at_most)[cut % 5 :: 5]:
        assert made(path, start, stop) == told(path, start, stop)


def test_a_packet_that_ends_behind_its_range_counts_its_records_on(tmp_path):
    capture = write_pcap(tmp_path / "one.pcap", records_of(CAPTURES / "resending-session.pcapng"))
    size, behind = capture.stat().st_size, 0
    for start, stop in split(size, 900):
        found = made(capture, start, stop)
        inside = sum(start <= at < stop for at in begins(capture))
        behind += sum(row["record"] > inside for row in found)
        assert all(one["record"] <= other["record"] for one, other in pairwise(found))
    assert behind


def begins(capture):
    """Where the records of a little-endian pcap file begin."""
    data, at, found = capture.read_bytes(), 24, []
    while at < len(data):
        found.append(at)
        at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
    return found


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """A capture with packets of many kinds, judged in columns and one by one."""
    folder = tmp_path_factory.mktemp("source")
    names = (
        "served-sequence.pcapng",
        "appended-headers-wrong.pcapng",
        "served-pings.pcapng",
        "resynchronisation.pcapng",
    )
    return write_pcap(folder / "many.pcap", [one for name in names for one in records_of(CAPTURES / name)])


@pytest.fixture(scope="module")
def peers(capture):
    rows = told(capture, 24, capture.stat().st_size)
    assert {row["worst"] for row in rows} >= {None, "pass", "fail"} and {row["transport"] for row in rows} >= {"udp"}
    return rows


@USUAL
@given(st.lists(st.sampled_from(SOURCE.names), min_size=1, unique=True))
def test_chosen_columns_are_those_of_all(capture, peers, names):
    found = made(capture, 24, capture.stat().st_size, Wanted(tuple(names)))
    assert found == [{name: row[name] for name in names} for row in peers]


def test_columns_that_are_not_chosen_are_not_made(capture, monkeypatch):
    from conformance.pipeline import packet_columns

    def never(one):
        raise AssertionError("made")

    size = capture.stat().st_size
    monkeypatch.setattr(packet_columns, "_MAKE", dict.fromkeys(packet_columns._MAKE, never) | {
        "kind": packet_columns._MAKE["kind"]
    })  # fmt: skip
    assert len(made(capture, 24, size, Wanted(("kind",)))) > 20
    with pytest.raises(AssertionError, match="made"):
        made(capture, 24, size, Wanted(("kind", "queue")))


def literals(column, rows):
    """Values of a column, and those next to them."""
    found = sorted({row[column.name] for row in rows if row[column.name] is not None})
    near = st.sampled_from(found) if found else st.nothing()
    if column.type == "bool":
        return st.booleans()
    if column.type == "string":
        return (
            near
            | near.map(lambda text: text[:3])
            | near.map(lambda text: text + "x")
            | st.just("")
            | st.just("\U0001f600")
        )
    if column.type == "time":
        return (
            near | near.map(lambda time: time + timedelta(microseconds=1)) | st.just(datetime(1969, 1, 1, tzinfo=UTC))
        )
    return near | near.map(lambda number: number + 1) | st.integers(-(1 << 31), (1 << 31) - 1)


@st.composite
def filters(draw, rows):
    """One of Spark's filters on a scalar column, with what it means, of True, False and None for a value."""
    column = draw(st.sampled_from(SCALARS))
    value = draw(literals(column, rows))
    several = tuple(draw(st.lists(literals(column, rows) | st.none(), max_size=3)))
    text = value if isinstance(value, str) else ""
    path = (column.name,)
    kinds = [
        (spark.EqualTo(path, value), lambda one: one == value),
        (spark.GreaterThan(path, value), lambda one: one > value),
        (spark.GreaterThanOrEqual(path, value), lambda one: one >= value),
        (spark.LessThan(path, value), lambda one: one < value),
        (spark.LessThanOrEqual(path, value), lambda one: one <= value),
        (spark.In(path, several), lambda one: True if one in several else None if None in several else False),
    ]
    if column.type == "string":
        kinds += [
            (spark.StringStartsWith(path, text), lambda one: one.startswith(text)),
            (spark.StringEndsWith(path, text), lambda one: one.endswith(text)),
            (spark.StringContains(path, text), lambda one: text in one),
        ]
    whole = [
        (spark.IsNull(path), lambda one: one is None),
        (spark.IsNotNull(path), lambda one: one is not None),
        (spark.EqualNullSafe(path, value), lambda one: one == value),
        (spark.EqualNullSafe(path, None), lambda one: one is None),
    ]
    at = draw(st.integers(0, len(kinds) + len(whole) - 1))
    asked, means = (kinds + whole)[at]
    truth = (lambda one: None if one is None else means(one)) if at < len(kinds) else means
    if draw(st.booleans()):
        positive = truth
        asked, truth = spark.Not(asked), lambda one: None if positive(one) is None else not positive(one)
    return asked, lambda row: truth(row[column.name]) is True


@USUAL
@given(st.data())
def test_conditions_keep_what_they_mean(capture, peers, data):
    asked = data.draw(st.lists(filters(peers), min_size=1, max_size=3))
    source = MsmqPcap({"path": str(capture), "pushFilters": "true", "columns": "number,queue"})
    reader = source.reader(schema_of("number", "queue"))
    assert list(reader.pushFilters([one for one, _ in asked])) == []
    found = [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
    wanted = [row for row in peers if all(fits(row) for _, fits in asked)]
    assert found == [{name: row[name] for name in ("number", "queue")} for row in wanted]


@pytest.mark.parametrize(
    "asked",
    [
        spark.EqualTo(("deviating",), ["x"]),
        spark.EqualTo(("queue", "inner"), "x"),
        spark.EqualTo(("length",), 1 << 40),
        spark.EqualTo(("length",), True),
        spark.EqualTo(("length",), "4"),
        spark.EqualTo(("time",), datetime(2026, 1, 1)),
        spark.EqualTo(("kind",), None),
        spark.Not(spark.Not(spark.IsNull(("kind",)))),
        spark.StringContains(("length",), "4"),
    ],
    ids=repr,
)
def test_other_filters_are_left_to_spark(capture, asked):
    reader = Filtering(MsmqPcap({"path": str(capture)}).reader(schema_of("kind"))._asked)
    assert list(reader.pushFilters([asked])) == [asked] and condition_of(asked) is None


def schema_of(*names):
    from pyspark.sql.types import ArrayType, BooleanType, IntegerType, LongType, StringType, StructType, TimestampType

    types = {
        "string": StringType(), "int32": IntegerType(), "int64": LongType(), "bool": BooleanType(),
        "time": TimestampType(), "strings": ArrayType(StringType()),
    }  # fmt: skip
    by = {one.name: types[one.type] for one in SOURCE.columns}
    found = StructType()
    for name in names:
        found = found.add(name, by[name])
    return found


def reader_of(path, **options):
    return MsmqPcap({"path": str(path), **options}).reader(schema_of(*SOURCE.names))


def test_ranges_of_other_times_are_not_read_if_records_are_in_order(tmp_path):
    records = [one for _ in range(40) for one in records_of(CAPTURES / "consistent-session.pcapng")]
    start = records[0].time_ns
    moved = [replace(one, time_ns=start + 1_000_000_000 * at) for at, one in enumerate(records)]
    files = [write_pcap(tmp_path / f"{at}.pcap", moved[at : at + 500]) for at in range(0, 1000, 500)]
    first, last = (datetime.fromtimestamp((start + 10**9 * at) // 10**9, UTC) for at in (0, 499))
    cases = [
        (spark.LessThan(("time",), last - timedelta(seconds=60)), {str(files[0])}),
        (spark.GreaterThan(("time",), last + timedelta(seconds=60)), {str(files[1])}),
        (spark.EqualTo(("time",), first + timedelta(seconds=100)), {str(files[0])}),
        (spark.GreaterThan(("time",), last), set(map(str, files))),
        (spark.Not(spark.GreaterThan(("time",), last)), set(map(str, files))),
        (spark.LessThan(("time_ns",), 0), set()),
    ]
    for asked, wanted in cases:
        for slack in ({"timeSlack": "5"}, {}):
            reader = reader_of(tmp_path, pushFilters="true", **slack)
            assert list(reader.pushFilters([asked])) == []
            assert {one.path for one in reader.partitions()} == (wanted if slack else set(map(str, files)))


def test_conditions_on_the_path_leave_files_out(tmp_path):
    one, _ = (write_pcap(tmp_path / name, records_of(CAPTURES / "vlan.pcap")) for name in ("a.pcap", "b.pcap"))
    reader = reader_of(tmp_path, pushFilters="true")
    assert list(reader.pushFilters([spark.StringEndsWith(("path",), "a.pcap")])) == []
    assert [part.path for part in reader.partitions()] == [str(one)]
    assert list(reader.read(spark.InputPartition(None))) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": "kind,nothing"}, "The option columns has 'nothing', which is none of path, start"),
        ({"columns": ""}, "The option columns has '', which is none"),
        ({"columns": "kind,kind"}, "The option columns has kind twice."),
        ({"columns": "kind"}, "choose different columns: give one of them."),
        ({"splitBytes": "many"}, "The option splitBytes is 'many'; give a number from 0."),
        ({"splitBytes": "-1"}, "The option splitBytes is '-1'"),
        ({"timeSlack": "nan"}, "The option timeSlack is 'nan'"),
        ({"onError": "ignore"}, "The option onError is 'ignore'; give fail or skip."),
        ({"pushFilters": "1"}, "The option pushFilters is '1'; give false or true."),
        ({"rows": "lines"}, "The option rows is 'lines'; give packets or files."),
        ({"rows": "files"}, "for streams alone"),
    ],
)  # fmt: skip
def test_an_option_that_makes_no_sense_is_told_in_a_sentence(options, says, capture):
    with pytest.raises(PipelineError) as told:
        reader_of(capture, **options)
    assert says in str(told.value)


def test_a_schema_that_does_not_fit_is_told_in_a_sentence(capture):
    from pyspark.sql.types import LongType, StructType

    source = MsmqPcap({"path": str(capture)})
    with pytest.raises(PipelineError, match="The schema has kind as bigint; it is string"):
        source.reader(StructType().add("kind", LongType()))
    with pytest.raises(PipelineError, match="The schema has 'other'"):
        source.reader(StructType().add("other", LongType()))


def failing(path, start, stop, after):
    """Batches of a range that fails after so many."""
    from conformance.pipeline import parts

    for number, batch in enumerate(parts.batches_of(path, start, stop)):
        if number == after:
            raise OSError(5, "Input/output error")
        yield batch


def test_a_capture_that_fails_in_the_middle_fails_or_is_skipped_from_there(tmp_path, monkeypatch, caplog):
    from conformance.captures import batches
    from conformance.pipeline import source_columns

    records = records_of(CAPTURES / "consistent-session.pcapng")
    packed = tmp_path / "one.pcap.gz"
    packed.write_bytes(gzip.compress(write_pcap(tmp_path / "one.pcap", records).read_bytes(), 1))
    (tmp_path / "one.pcap").unlink()
    whole = made(packed, 24, size_of(packed))
    monkeypatch.setattr(batches, "_BATCH", 8)
    monkeypatch.setattr(source_columns, "batches_of", lambda *range_: failing(*range_, 1))
    reader = reader_of(tmp_path)
    with pytest.raises(PipelineError, match=r"one\.pcap\.gz cannot be read any further: Input/output error\."):
        rows(reader)
    with caplog.at_level(logging.WARNING):
        found = rows(reader_of(tmp_path, onError="skip"))
    assert 0 < len(found) < len(whole) and found == whole[: len(found)]
    assert "cannot be read any further" in caplog.text and "left out" in caplog.text


def rows(reader):
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


def test_a_file_that_is_no_capture_fails_or_is_skipped(tmp_path, caplog):
    (tmp_path / "none.pcap").write_bytes(b"nothing")
    write_pcap(tmp_path / "one.pcap", records_of(CAPTURES / "consistent-session.pcapng"))
    with pytest.raises(PipelineError, match=r"none\.pcap"):
        rows(reader_of(tmp_path))
    assert len(rows(reader_of(tmp_path, onError="skip"))) == 26
    assert "none.pcap" in caplog.text


def test_a_reader_has_filters_only_if_it_is_asked_to(capture):
    """Spark refuses a reader that has them while its setting is off."""
    reader = reader_of(capture)
    assert type(reader) is Batch and Batch.pushFilters is spark.DataSourceReader.pushFilters
    assert type(reader_of(capture, pushFilters="TRUE")) is Filtering


def test_a_file_that_is_gone_is_told_in_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="There is no file"):
        rows(reader_of(tmp_path / "gone.pcap"))


def test_a_stream_has_the_chosen_columns(tmp_path):
    write_pcap(tmp_path / "one.pcap", records_of(CAPTURES / "consistent-session.pcapng"))
    for options, names in (({"columns": "worst,kind"}, ("worst", "kind")), ({}, SOURCE.names)):
        source = MsmqPcap({"path": str(tmp_path), "settle": "0", **options})
        stream = source.streamReader(schema_of(*names))
        start = stream.initialOffset()
        end = stream.latestOffset(start, stream.getDefaultReadLimit())
        found = [
            row for part in stream.partitions(start, end) for batch in stream.read(part) for row in batch.to_pylist()
        ]
        peers = told(tmp_path / "one.pcap", 24, size_of(tmp_path / "one.pcap"))
        assert found == [{name: row[name] for name in names} for row in peers]
