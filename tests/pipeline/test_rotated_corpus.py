"""The captures that the pipeline is measured with: copies of sessions say of other hosts what the first says of its."""

from __future__ import annotations

import pytest
from rotated import HEAD, PAIRS, copy, joined, moving, records_of, rotated

from conformance.captures import replay
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome

PACKETS = 40 * PAIRS


def test_a_rotated_set_is_one_capture_cut_between_records(tmp_path):
    files = rotated(tmp_path / "set", "pairs", 3e6, base=1.5e6, file=1e6, deviating=0.01)
    assert [one.name for one in files] == ["set.pcap", "set.pcap1", "set.pcap2"]
    assert all(one.read_bytes().startswith(HEAD) for one in files)
    sizes = [one.stat().st_size for one in files]
    assert all(1e6 <= size < 1.01e6 for size in sizes[:-1]) and 2.98e6 < sum(sizes) < 3.01e6


@pytest.mark.parametrize("kind", ["pairs", "server"])
def test_copies_deviate_as_what_they_copy(kind, tmp_path):
    """Each has its own hosts: no verdict of a copy depends on those before it."""
    data = joined(records_of(kind, PACKETS, 0.01))
    what = moving(data, server=kind == "server")
    bodies = [data, copy(data, what, 1), copy(data, what, 2)]
    found = []
    for many in (1, 3):
        path = tmp_path / f"{kind}{many}.pcap"
        path.write_bytes(HEAD + b"".join(body.tobytes() for body in bodies[:many]))
        found.append(replay([path], profile="msmq-6.0", readings=assignment("windows", [])).outcomes)
    first = found[0]
    assert first[Outcome.FAIL] and set(first) <= {Outcome.FAIL, Outcome.PASS, Outcome.INCONCLUSIVE}
    assert [one[Outcome.FAIL] for one in found] == [first[Outcome.FAIL], 3 * first[Outcome.FAIL]]
    assert all(one.get(Outcome.INCONCLUSIVE, 0) <= 1 for one in found)  # Once a capture, whatever its length.
