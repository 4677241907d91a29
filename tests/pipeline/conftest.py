"""A store and a server of Spark for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version

import pytest
from packaging.version import Version


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
    if Version(version("pyspark")) < Version("4.3"):
        pytest.skip("the extra connect needs pyspark 4.3")
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        yield address


@pytest.fixture(scope="module")
def s3(s3_server: Mapping[str, str]) -> Iterator[str]:
    """The address of a bucket for lakes. Its keys are shared by all tests."""
    from s3_server import asked

    with asked(s3_server):
        yield "s3://lakes"
