"""Bounds for a driver's texts: in a verdict, in a story, and in the memory of a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.runlog.cutting import NOTE_BYTES, clipped
from conformance.runlog.events import StoryStep
from conformance.verdict import Verdict

MAX_TEXT = 64 << 10
"""Bytes of one text in a verdict or a step: twice the longest text that correct implementations give."""
MAX_STORY = 512 << 10
"""Characters of all texts of a story. Past this bound, steps keep the first `SHORT` of each text."""
SHORT = 400
MAX_HEARD = 4 << 20
"""Bytes of answers in one example. Past this bound, steps keep the first `SHORT` of each text, not whole answers."""

_MANY = 2_000  # members of a list or an object that are kept


def cut(value: Any, most: int = MAX_TEXT) -> Any:
    """Cut each text in a value to about `most` bytes, and each list and object to 2,000 members.

    A cut leaves a note with the length and digest. Returns the same object if nothing is cut.
    """
    return clipped(value, most + NOTE_BYTES, _MANY)


def cut_verdict(verdict: Verdict) -> Verdict:
    """Return the verdict with overlong parts cut; the same object if nothing is cut."""
    if verdict.expected is verdict.actual is verdict.reason is None and len(verdict.subject) < SHORT:
        return verdict  # as most that hold
    whole = [verdict.expected, verdict.actual, verdict.subject, verdict.reason]
    if (kept := cut(whole)) is whole:
        return verdict
    return replace(verdict, expected=kept[0], actual=kept[1], subject=kept[2], reason=kept[3])


def cut_step(step: StoryStep, most: int = MAX_TEXT) -> StoryStep:
    """Return the step with overlong parts cut; the same object if nothing is cut."""
    whole = [step.text, step.call, step.answer, step.parts]
    if (kept := cut(whole, most)) is whole:
        return step
    return StoryStep(kept[0], kept[1], kept[2], tuple(kept[3]))


def cut_story(story: tuple[StoryStep, ...]) -> tuple[StoryStep, ...]:
    """Return the story with overlong parts cut. Once the whole exceeds MAX_STORY, texts are cut to SHORT."""
    left = MAX_STORY
    told = []
    for step in story:
        step = cut_step(step, MAX_TEXT if left > 0 else SHORT)
        left -= _length(step.text) + _length(step.call) + _length(step.answer)
        told.append(step)
    return tuple(told)


def _length(value: Any) -> int:
    """Return the number of characters of all texts in a value that has been cut."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(len(str(name)) + _length(member) for name, member in value.items())
    if isinstance(value, (list, tuple)):
        return sum(map(_length, value))
    return 0
