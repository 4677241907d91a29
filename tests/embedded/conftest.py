"""Fixtures: the embedded driver in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from embedded_talk import Talk


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    talk = Talk(tmp_path)
    yield talk
    talk.driver.close()


@pytest.fixture
def talk_with(tmp_path: Path) -> Iterator[Callable[..., Talk]]:
    """Makes a Talk with faults or options; every one has a state folder of its own."""
    made: list[Talk] = []

    def make(*faults: str, **options: Any) -> Talk:
        made.append(Talk(tmp_path / str(len(made)), faults, **options))
        return made[-1]

    yield make
    for talk in made:
        talk.driver.close()
