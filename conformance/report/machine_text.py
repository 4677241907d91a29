"""Tell a learned machine in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from conformance.report.text import value_text
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.histories.learning.machine import Word
    from conformance.histories.learning.work import Difference, Learning

MAX_OTHERS = 5
"""Further words told of one requirement; pages and JSON have all."""


def spelled(learning: Learning, word: Word) -> str:
    """Return a word as its letters."""
    assert learning.alphabet is not None
    return ", ".join(learning.alphabet.spelled(word))


def verdict_of(learning: Learning, difference: Difference) -> str:
    """Return what a difference is: the requirement it breaks, a reading followed both ways, or the text's freedom."""
    verdict = difference.judgement.verdict
    if verdict is not None:
        return verdict.requirement
    if difference.word in learning.both_ways:
        return "another reading than the one that other answers show"
    return "left open by the text"


def conclusion(learning: Learning) -> str:
    """Return the result in one sentence."""
    if learning.two_answers is not None:
        return "Its answers are no function of the history: no machine has them."
    if learning.learned is None or learning.demanded is None:
        return "Nothing was learned."
    number = len(learning.differences)
    if learning.deviations:
        return f"It is another machine: {number} difference{'s' if number > 1 else ''} from the specification's."
    if learning.unconfirmed or not learning.learned.depth:
        return "Not learned to the end, and no difference found so far."
    return "It is the specification's machine" + (
        f", but for {number} answers that the text leaves open." if number else "."
    )


def completeness(learning: Learning) -> str:
    """Return for which implementations the result is complete, or what was not asked."""
    learned = learning.learned
    assert learned is not None
    more = learning.more_states
    if learned.finished:
        states = f"at most {more} state{'s' if more > 1 else ''} more" if more else "no more states"
        return f"Complete for an implementation with {states} than were found (Wp method)."
    if not learned.depth:
        return (
            f"The limits ended it at {learned.tried:,} of the {learned.suite:,} words of the specification's machine: "
            "give more --budget or --steps."
        )
    return (
        f"The limits ended it at {learned.tried:,} of {learned.suite:,} words of depth {learned.depth - 1} of "
        f"{more + 1}: what more states than were found would do is not known."
    )


def lines(learning: Learning) -> Iterator[str]:
    """Yield the result for a terminal."""
    two = learning.two_answers
    alphabet = learning.alphabet
    if alphabet is not None:
        yield f"{learning.what} of {learning.implementation}: {len(alphabet.letters)} letters: " + ", ".join(
            letter.name for letter in alphabet.letters
        )
        if alphabet.missing:
            yield f"not offered by the driver: {', '.join(alphabet.missing)}"
    if two is not None:
        yield f"two answers to: {spelled(learning, two.word)}"
        yield from (f"  {times} times {answer}" for answer, times in two.answers.items())
        if two.judgement.verdict is not None:
            yield f"  one of them breaks {two.judgement.verdict.requirement}"
    if learning.learned is not None and learning.demanded is not None:
        yield f"{len(learning.demanded)} states demanded, {len(learning.learned.machine)} learned"
        yield from (f"follows {reading}: {way}" for reading, way in learning.readings.items())
        yield from _differences(learning)
        if learning.walk is not None and (unreached := learning.walk.unreached(learning.demanded)):
            yield f"{unreached} states of the specification's machine stand behind differences: they were not compared"
        if learning.unjudged:
            yield f"{learning.unjudged} more differences are not judged: run tells more of an implementation so far off"
        yield completeness(learning)
    yield f"{learning.histories:,} histories of {learning.steps:,} letters, {learning.seconds:.0f} s"
    yield conclusion(learning)


def _differences(learning: Learning) -> Iterator[str]:
    told: dict[str, int] = {}
    for number, one in enumerate(learning.differences, 1):
        what = verdict_of(learning, one)
        told[what] = told.get(what, 0) + 1
        if told[what] > 1 + MAX_OTHERS:
            continue
        mark = "DIFFERS" if one in learning.deviations else "allowed"
        yield f"{number}. {mark} {what}: {spelled(learning, one.word)}"
        yield f"     {one.came}, not {one.demanded}" + (
            f" (in {len(one.places)} states)" if len(one.places) > 1 else ""
        )
        if told[what] == 1 and one in learning.deviations:
            yield from (f"     {at}. {line}" for at, line in enumerate(one.judgement.story, 1))
            verdict = one.judgement.verdict
            if verdict is not None:
                yield f"     expected {value_text(verdict.expected)}, got {value_text(verdict.actual)}"
    yield from (
        f"   and {count - 1 - MAX_OTHERS} more: {what}" for what, count in told.items() if count > 1 + MAX_OTHERS
    )


def as_json(learning: Learning) -> dict[str, Json]:
    """Return everything, machines included, as `--json` prints it."""
    alphabet, two, learned = learning.alphabet, learning.two_answers, learning.learned
    return {
        "what": learning.what,
        "implementation": learning.implementation,
        "exit_code": int(learning.exit_code),
        "sentence": learning.sentence,
        "conclusion": conclusion(learning),
        "complete": learned is not None and learned.finished,
        "more_states": learning.more_states,
        "completeness": completeness(learning) if learned is not None else None,
        "letters": [letter.name for letter in alphabet.letters] if alphabet is not None else [],
        "not_offered": list(alphabet.missing) if alphabet is not None else [],
        "readings": dict(learning.readings),
        "differences": [_difference(learning, one) for one in learning.differences],
        "unconfirmed": learning.unconfirmed,
        "unjudged": learning.unjudged,
        "two_answers": None
        if two is None or alphabet is None
        else {
            "word": list(alphabet.spelled(two.word)),
            "answers": [{"answer": str(answer), "times": times} for answer, times in two.answers.items()],
            "requirement": two.judgement.verdict.requirement if two.judgement.verdict is not None else None,
            "story": list(two.judgement.story),
        },
        "demanded": _machine(learning, learning.demanded),
        "learned": _machine(learning, learned.machine if learned is not None else None),
        "histories": learning.histories,
        "steps": learning.steps,
        "seconds": round(learning.seconds, 1),
    }


def _difference(learning: Learning, one: Difference) -> dict[str, Json]:
    assert learning.alphabet is not None
    verdict = one.judgement.verdict
    return {
        "word": list(learning.alphabet.spelled(one.word)),
        "demanded": str(one.demanded),
        "came": str(one.came),
        "states": len(one.places),
        "deviates": one in learning.deviations,
        "requirement": verdict.requirement if verdict is not None else None,
        "both_ways": one.word in learning.both_ways,
        "story": list(one.judgement.story),
    }


def _machine(learning: Learning, machine: object) -> list[Json] | None:
    from conformance.histories.learning.machine import Machine

    alphabet = learning.alphabet
    if not isinstance(machine, Machine) or alphabet is None:
        return None
    return [
        {
            "access": list(alphabet.spelled(access)),
            "letters": {
                letter.name: {"answer": str(output), "state": target}
                for letter, output, target in zip(alphabet.letters, outputs, targets, strict=True)
            },
        }
        for access, outputs, targets in zip(machine.access, machine.outputs, machine.targets, strict=True)
    ]
