"""What is suggested for a name that does not exist: what was meant, or nothing."""

from pathlib import Path

import pytest

from conformance.suggest import distance, near_file, nearest

SUITES = ("names", "packets", "structures", "cursors", "transactions", "journals", "quotas", "subqueues", "restart")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("nmaes", "names"),
        ("Names", "names"),
        ("cursor", "cursors"),
        ("trans", "transactions"),
        ("subqeues", "subqueues"),
        ("zzz", None),
        ("messages", None),  # as much like "packets" as words are
        ("parts", None),
        ("x", None),
        ("", None),
    ],
)
def test_the_nearest_suite_is_near(written: str, meant: str | None) -> None:
    assert nearest(written, SUITES) == meant


def test_ids_that_share_their_section_alone_are_not_near() -> None:
    ids = ("MQMQ-2.2.19.1.signature", "MQMQ-2.2.19.1.version-number")
    assert nearest("MQMQ-2.2.19.1.signatur", ids) == ids[0]
    assert nearest("MQMQ-2.2.19.1.acknowledges", ids) is None
    assert nearest("MQMQ-2.1.3.x", ("MQMQ-2.1.2.ipx",)) is None
    assert nearest("MQMQ-2.2.9.1.signature", ids) == ids[0]
    assert nearest("MQMQ-2.2.19.signature", ids) is None


def test_of_a_key_with_a_value_the_key_is_enough() -> None:
    assert nearest("R-peek=never", ("R-peek=always", "R-seek=often")) == "R-peek=always"
    assert nearest("R-leap=never", ("R-peek=always",)) is None


def test_a_swap_of_neighbours_is_one_slip() -> None:
    assert [distance(*pair) for pair in (("ab", "ba"), ("abc", "abc"), ("", "abc"), ("kitten", "sitting"))] == [
        1,
        0,
        3,
        3,
    ]


def test_a_file_that_does_not_exist_may_be_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "site.pcapng").touch()
    assert near_file(tmp_path / "site.pcap") == f"; did you mean {tmp_path / 'site.pcapng'}?"
    assert (
        near_file(tmp_path / "other.ndjson") == near_file(tmp_path / "none" / "site.pcap") == near_file("a\0b") == "."
    )
