"""Alternatives of readings: known to the register, declared by hello, and not what is followed by default."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from embedded_every_story import Story
from embedded_reading_stories import PARTINGS
from embedded_talk import Talk

from conformance.adapter.connectors import connect
from conformance.embedded.alternatives import ALTERNATIVES
from conformance.embedded.readings import READINGS
from conformance.spec.catalogue import catalogue


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_it_is_in_the_register_and_declared(talk_with: Callable[..., Talk], name: str) -> None:
    reading, _, alternative = name.partition("=")
    assert alternative in catalogue().readings[reading].alternatives
    assert READINGS[reading] != alternative
    talk = talk_with(name)
    assert talk.ok("hello", versions=["1.0"], harness="t", state_dir="")["readings"][reading] == alternative


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_it_shows_in_some_story(talk_with: Callable[..., Talk], name: str) -> None:
    assert any(_told(story) != story(talk_with(name)) for story in PARTINGS)


@functools.cache
def _told(story: Story) -> object:
    with tempfile.TemporaryDirectory() as folder:
        talk = Talk(Path(folder))
        try:
            return story(talk)
        finally:
            talk.driver.close()


def test_a_wrong_alternative_gets_one_sentence() -> None:
    command = [sys.executable, "-m", "conformance.embedded", "--stdio", "--reading", "R-MQDMPR-cancel-peek=never"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "did you mean R-MQDMPR-cancel-peek=not-found?" in done.stderr


@pytest.mark.parametrize("in_process", [False, True])
def test_a_connector_switches_it_on(tmp_path: Path, in_process: bool) -> None:
    client = connect("embedded+R-MQDMPR-cancel-peek=not-found", in_process=in_process, state_dir=tmp_path)
    try:
        assert client.hello.readings["R-MQDMPR-cancel-peek"] == "not-found"
    finally:
        client.close()
