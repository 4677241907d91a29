"""Queries run in a session of their own: a user's settings and views are neither seen nor changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from made_lake import day, fill, verdict
from pyarrow import parquet
from spark_helpers import COMMAND, ENVIRONMENT, ROOT, connect_server, need_spark

from conformance.pipeline import query_engine, views
from conformance.pipeline.lake import Lake
from conformance.pipeline.query_session import apart
from conformance.pipeline.spark import session

LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"
THEIRS = {
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.variable.substitute": "true",
}
"""What a user has set: days begin at 15 o'clock UTC, a text is a name, and a query may name the environment."""
ANSWERS = {
    "select '${env:SPARK_HOME}${system:java.home}'": "${env:SPARK_HOME}${system:java.home}",
    'select "current_user"': "current_user",
    "select cast(timestamp'2026-03-01 16:00:00Z' as date)": day(0),
    "select sum(count) from verdicts": 42,
    "select first_time from verdicts where date = date'2026-03-01'": day(0).isoformat() + "T12:00:00Z",
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    made = Lake.open(tmp_path_factory.mktemp("own") / "lake", create=True)
    fill(made, [verdict(LAYOUT, "pass", None, day(number), count=count) for number, count in ((0, 41), (1, 1))])
    return made


def _user(spark: Any) -> AbstractContextManager[None]:
    """A user with settings and a view of the name of a table; at the end, they must be as they were."""

    @contextmanager
    def user() -> Iterator[None]:
        before = {name: spark.conf.get(name, None) for name in THEIRS}
        for name, value in THEIRS.items():
            spark.conf.set(name, value)
        spark.sql("select 'theirs' as whose").createOrReplaceTempView("verdicts")
        try:
            yield
            assert {name: spark.conf.get(name) for name in THEIRS} == THEIRS
            assert spark.table("verdicts").columns == ["whose"]
            assert type(spark).getActiveSession() is spark
        finally:
            spark.catalog.dropTempView("verdicts")
            for name, old in before.items():
                spark.conf.unset(name) if old is None else spark.conf.set(name, old)

    return user()


def _asked(lake: Lake) -> None:
    with query_engine.asking(lake, "spark", None, 600) as ask:
        made = [(ask(query), query) for query in ANSWERS]
        for answer, query in made:
            ((value,),) = answer.rows()
            assert views.plain(value) == views.plain(ANSWERS[query]), query


def test_a_query_neither_sees_nor_changes_the_session_of_a_user(spark, lake):
    with _user(spark):
        _asked(lake)


def _at_a_server(folder: Path, place: str) -> None:
    """Ask a server that remembers no query, so that each is read again when it is asked for something of the answer."""
    lake = Lake.open(place)
    with connect_server(folder) as master, session(master) as found:
        found.conf.set("spark.connect.session.planCache.enabled", "false")
        with _user(found):
            _asked(lake)
        with pytest.MonkeyPatch.context() as patch:
            _at_a_client_without_sessions(found, lake, patch)
        _by_its_number(found, master, lake, folder)


def _by_its_number(found: Any, master: str, lake: Lake, folder: Path) -> None:
    """A command that is given the session of a user has it as it is, and leaves it there; the answer comes here."""
    command = ["sql", str(lake.root), "select date, count from verdicts order by 1", "--out", "answer.parquet"]
    url = f"{master}/;session_id={found.session_id}"
    done = subprocess.run(
        [*COMMAND, *command, "--master", url], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert parquet.read_table(folder / "answer.parquet").to_pylist() == [
        {"date": day(0), "count": 41}, {"date": day(1), "count": 1},
    ]  # fmt: skip
    assert {name: found.conf.get(name) for name in THEIRS} == THEIRS
    assert found.range(3).count() == 3


def _at_a_client_without_sessions(found: Any, lake: Lake, patch: pytest.MonkeyPatch) -> None:
    """One of Spark Connect before 4.3 has the settings for as long as answers are read, and then those from before."""
    from pyspark.errors import PySparkNotImplementedError

    def none(_: Any) -> Any:
        raise PySparkNotImplementedError(errorClass="NOT_IMPLEMENTED", messageParameters={"feature": "newSession()"})

    patch.setattr(type(found), "newSession", none)
    for name, value in THEIRS.items():
        found.conf.set(name, value)
    _asked(lake)
    assert {name: found.conf.get(name) for name in THEIRS} == THEIRS
    assert not found.catalog.tableExists("verdicts")


def test_nor_at_a_server_of_spark_connect(lake, tmp_path):
    """In a process of its own: where a session runs, that one is used."""
    need_spark()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), str(ROOT)]))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            process.submit(_at_a_server, tmp_path, lake.place).result(900)


def test_a_session_for_queries_is_another_one(spark):
    with apart(spark) as own:
        own.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        assert own is not spark and spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.range(3).count() == 3
