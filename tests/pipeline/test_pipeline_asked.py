"""The requests that adding to a lake in a store makes: none is about the data that is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

pytest.importorskip("deltalake")

import lake_helpers
from delta_helpers import SESSION
from lake_helpers import CAPTURES, put
from made_lake import capture, day, fill, verdict
from s3_server import asked, need_s3, served, upload

from conformance.pipeline import footers
from conformance.pipeline.ingest import Options, files_of, ingest
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.work import Here

VLAN = CAPTURES / "vlan.pcap"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("s3") / "log"
    need_s3()
    with served(path) as server, asked(server):
        upload("lakes", {})
        yield path


def requests_of(log: Path, start: int) -> list[str]:
    """The requests since the log had so many bytes: their method and what they are about."""
    text = log.read_bytes()[start:].decode()
    return [unquote(f"{one[1]} {one[2]}") for one in re.finditer(r'"([A-Z]+) (\S+) HTTP', text)]


def about_data(requests: list[str]) -> list[str]:
    """Those that read or list files of tables other than `batches`."""
    tables = "|".join(TABLES)
    listing = re.compile(rf"GET .*prefix=[^&]*/({tables})/?(date=[^&]*)?(&|$)")
    return [one for one in requests if "/date=" in one or listing.search(one)]


def added(place: str, files: list[Path]) -> int:
    """Ingest as the command does; how many captures were new."""
    lake = Lake.open(place, create=True, files=False)
    return ingest(lake, files_of(map(str, files)), Options(), Here()).captures


def test_an_ingest_asks_for_no_file_that_the_lake_has(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_helpers, "FORMAT", "delta")
    place = "s3://lakes/asked"
    lake, _ = put(place, [SESSION])
    for at in range(3):
        fill(lake, [verdict(f"r-{at}", "fail", "a", day(at)), capture(day(at))])
    start = log.stat().st_size
    assert added(place, [SESSION]) == 0
    nothing = requests_of(log, start)
    assert nothing and not about_data(nothing) and not any(one.startswith(("PUT", "POST", "DELETE")) for one in nothing)
    start = log.stat().st_size
    assert added(place, [VLAN]) == 1
    something = requests_of(log, start)
    batch = lake.known().batch
    assert about_data(something) and all(batch in one for one in about_data(something))
    start = log.stat().st_size
    footers.located(Lake.open(place))
    assert len({one.rpartition("/")[2] for one in about_data(requests_of(log, start))}) > 8  # as a reader does
