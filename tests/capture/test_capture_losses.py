"""From file to verdict: a capture that lacks records, repeats them or has them out of order never makes a fail."""

from __future__ import annotations

import build_captures
import build_tcp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.capture import read_capture
from conformance.capture.events import Lacking
from conformance.captures import replay
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome

WHOLE = build_captures.consistent_session()
COUNT = len(WHOLE.records)
FEW = settings(max_examples=fewer(40), deadline=None, derandomize=True, database=None)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("losses") / "edited.pcapng"


def failures(path, records) -> list[str]:
    path.write_bytes(build_tcp.Capture(0, list(records)).pcapng())
    found = replay([path], profile="msmq-4.0", readings=assignment("windows"))
    assert not found.errors
    return [one.verdict.requirement for one in found.counted if one.verdict.outcome is Outcome.FAIL]


@pytest.mark.parametrize("at", range(COUNT))
def test_without_one_record(path, at):
    assert not failures(path, WHOLE.records[:at] + WHOLE.records[at + 1 :])


@pytest.mark.parametrize("at", range(COUNT))
def test_from_one_record_on_and_up_to_it(path, at):
    assert not failures(path, WHOLE.records[at:])
    assert not failures(path, WHOLE.records[:at])


@pytest.mark.parametrize("whole", [WHOLE, build_captures.resending_session()], ids=["consistent", "resending"])
def test_a_part_of_a_session_lacks_nothing(path, whole):
    """What began before the capture, or goes on after it, was not announced in it."""
    records = whole.records
    for at in range(len(records) + 1):
        for part in (records[:at], records[at:]):
            path.write_bytes(build_tcp.Capture(0, list(part)).pcapng())
            lacking = Lacking()
            for event in read_capture(path):
                lacking.see(event)
            assert not lacking.incomplete, at


@FEW
@given(st.sets(st.integers(0, COUNT - 1), max_size=20))
def test_without_several_records(path, gone):
    assert not failures(path, [one for at, one in enumerate(WHOLE.records) if at not in gone])


@FEW
@given(st.lists(st.integers(0, COUNT - 2), max_size=12), st.sets(st.integers(0, COUNT - 1), max_size=8))
def test_with_neighbours_swapped_and_records_repeated(path, swaps, repeated):
    records = list(WHOLE.records)
    for at in swaps:
        records[at], records[at + 1] = records[at + 1], records[at]
    records = [one for at, one in enumerate(records) for one in ([one, one] if at in repeated else [one])]
    assert not failures(path, records)


RESENDING = build_captures.resending_session()


@pytest.mark.parametrize("at", range(len(RESENDING.records)))
def test_times_and_windows_do_not_fail_for_what_is_missing(path, at):
    records = RESENDING.records
    assert not failures(path, records[:at] + records[at + 1 :])
    assert not failures(path, records[at:])


@FEW
@given(
    st.sets(st.integers(0, len(RESENDING.records) - 1), max_size=12),
    st.lists(st.integers(0, len(RESENDING.records) - 2), max_size=12),
)
def test_times_and_windows_do_not_fail_for_what_is_missing_or_out_of_order(path, gone, swaps):
    records = list(RESENDING.records)
    for at in swaps:
        records[at], records[at + 1] = records[at + 1], records[at]
    assert not failures(path, [one for at, one in enumerate(records) if at not in gone])


@FEW
@given(st.lists(st.tuples(st.integers(0, 9_999), st.integers(0, 255)), min_size=1, max_size=30), st.booleans())
def test_any_damage_to_the_file_is_survived(path, edits, old_format):
    """Whatever is overwritten, something is judged or one sentence says why not."""
    raw = bytearray(WHOLE.pcap() if old_format else WHOLE.pcapng())
    for at, value in edits:
        raw[at % len(raw)] = value
    path.write_bytes(raw)
    found = replay([path], profile="msmq-4.0", readings=assignment("windows"))
    assert found.counted or found.errors or found.captures[0].cut
    assert all(text.count("\n") == 0 for text in found.errors)
