"""The suite security: each story is told by a test, and an example of another suite is not run again."""

from __future__ import annotations

import base64
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from conformance.harness.repro_files import NotRepeatable
from conformance.model.descriptors import DescriptorError, Entry, decoded, encoded
from conformance.suites.security import rejudge, stories
from conformance.suites.security.scene import MACHINE_OF, QUEUE_OF, right_id

FOLDER = Path(stories.__file__).parent


def test_each_story_is_told_by_a_test() -> None:
    told = {name for name in stories.STORIES for path in FOLDER.glob("test_*.py") if f'"{name}"' in path.read_text()}
    for path in FOLDER.glob("test_*.py"):
        module = import_module(f"conformance.suites.security.{path.stem}")
        marks = [mark for each in vars(module).values() for mark in getattr(each, "pytestmark", ())]
        for values in (mark.args[1] for mark in marks if mark.name == "parametrize"):
            told |= {value if isinstance(value, str) else value.values[0] for value in values}
    # No call of a client needs the right to delete the manager.
    assert set(stories.STORIES) - told == {"manager-delete-machine", "manager-but-delete-machine"}


@pytest.mark.parametrize("repro", [{}, {"kind": "story"}, {"kind": "story", "story": "none"}, {"kind": "calls"}])
def test_an_example_of_another_suite_is_not_repeated(repro: dict[str, Any]) -> None:
    with pytest.raises(NotRepeatable):
        rejudge.rejudge(repro, cast("Any", None), cast("Any", None))


def test_each_wrong_descriptor_is_wrong() -> None:
    plain = stories.Descriptor(stories._SOMEBODY, None, (Entry(0, 1, "S-1-1-0"), Entry(0, 2, stories._SOMEBODY)))
    for words, wrong in stories._ill_formed(encoded(plain)).items():
        with pytest.raises(DescriptorError):
            pytest.fail(f"{words} is a descriptor: {decoded(wrong)}, {base64.b64encode(wrong)!r}")


def test_each_right_has_an_entry() -> None:
    assert right_id(QUEUE_OF, 3) == "receive-message" and right_id(MACHINE_OF, 4) == "create-queue"
