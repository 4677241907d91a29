"""Bounds for a driver's texts: in a verdict, in a story, and in the memory of a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.runlog.cutting import WORDS, clipped
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
    return clipped(value, most + WORDS, _MANY)


def cut_verdict(verdict: Verdict) -> Verdict:
    """Return the verdict with overlong parts cut; the same object if nothing is cut."""
    expected, actual = cut(verdict.expected), cut(verdict.actual)
    subject, reason = cut(verdict.subject), cut(verdict.reason)
    if (
        expected is verdict.expected
        and actual is verdict.actual
        and subject is verdict.subject
        and reason is verdict.reason
    ):
        return verdict
    return replace(verdict, expected=expected, actual=actual, subject=subject, reason=reason)


def cut_step(step: StoryStep, most: int = MAX_TEXT) -> StoryStep:
    """Return the step with overlong parts cut; the same object if nothing is cut."""
    text, call, answer = cut(step.text, most), cut(step.call, most), cut(step.answer, most)
    if text is step.text and call is step.call and answer is step.answer:
        return step
    return StoryStep(text, call, answer, tuple(cut(part, most) for part in step.parts))


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
