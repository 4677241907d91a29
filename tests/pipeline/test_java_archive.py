"""The archive of Spark's classes: used where it is surely ours, and by the Java that is started."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from spark_helpers import need_spark

from conformance.pipeline import java_archive
from conformance.pipeline.spark import find_java


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    need_spark()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return find_java()[0]


def test_without_an_archive_java_gets_no_option(java: str) -> None:
    assert java_archive.options(java) == ""


def test_an_archive_that_others_could_have_written_is_not_used(java: str) -> None:
    archive = java_archive.place(java)
    archive.parent.mkdir(mode=0o700)
    archive.write_bytes(b"")
    archive.chmod(0o600)
    assert f"-XX:SharedArchiveFile={archive}" in java_archive.options(java)
    archive.chmod(0o620)
    assert java_archive.options(java) == ""
    archive.chmod(0o600)
    archive.parent.chmod(0o770)
    assert java_archive.options(java) == ""
    archive.parent.chmod(0o700)
    archive.rename(archive.with_suffix(".other"))
    archive.symlink_to(archive.with_suffix(".other"))
    assert java_archive.options(java) == ""


def test_the_process_that_makes_it_writes_it_at_its_end(java: str, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = java_archive.place(java)
    monkeypatch.setenv(java_archive.MAKING, str(archive))
    assert f"-XX:ArchiveClassesAtExit={archive}" in java_archive.options(java)
    monkeypatch.setenv(java_archive.MAKING, str(archive) + "x")
    assert java_archive.options(java) == ""


def test_the_java_of_a_session_has_it(spark: Any) -> None:
    options = java_archive.options(find_java()[0]).split()
    if not options:
        if os.environ.get("CI") == "true":
            pytest.fail("./mq test has made no archive")
        pytest.skip("no archive was made: mqconform pipeline prepare")
    said = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
    assert [each for each in said if "SharedArchiveFile" in each] == options[:1]
