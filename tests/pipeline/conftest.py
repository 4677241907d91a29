"""A store and a server of Spark for the tests of this folder, and the places where a lake may lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from nightly import sample

PLACES = ("delta", "s3")


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Mapping[str, str]]:
    """One server on loopback with an empty bucket `lakes`; gives the environment of its clients."""
    from s3_server import asked, need_s3, served, upload

    need_s3()
    with served() as server:
        with asked(server):
            upload("lakes", {})
        yield server


@pytest.fixture(scope="session")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one Spark Connect server."""
    from spark_helpers import connect_server, need_spark

    need_spark()
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        yield address


@pytest.fixture(scope="module")
def s3(s3_server: Mapping[str, str]) -> Iterator[str]:
    """The address of a bucket for lakes. Its keys are shared by all tests."""
    from s3_server import asked

    with asked(s3_server):
        yield "s3://lakes"


@pytest.fixture(params=sample("pipeline.places", PLACES, ["delta"]))
def in_each_place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Lakes that `put` makes lie in a folder, and in a store; a test sees the same."""
    import lake_helpers

    from conformance.pipeline.lakes import lease

    if request.param == "s3":
        monkeypatch.setattr(lake_helpers, "STORE", request.getfixturevalue("s3"))
        monkeypatch.setattr(lease, "BEAT_S", 0.2)
    return str(request.param)
