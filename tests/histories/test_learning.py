"""Machines are learned as they are; the words of the Wp method find what has one state more."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from conformance.harness.connecting import open_client
from conformance.histories.inference.probing import defaults
from conformance.histories.learning.alphabets import ALPHABETS, choose, names
from conformance.histories.learning.learner import learn
from conformance.histories.learning.machine import (
    FAILS,
    OPEN,
    UNDESCRIBED,
    Alphabet,
    Letter,
    Machine,
    Made,
    Output,
    agree,
    identifiers,
    suite,
    told_apart,
)
from conformance.histories.learning.sides import Asking, Inconsistent, Limits, Playing, Specification, Spent
from conformance.histories.learning.work import compare
from conformance.model import Call, State

STATES = {"cursor": 37, "transaction": 26, "message": 37, "journal": 23}
"""States of the specification's machines. Looking for two more states finds as many; that takes a minute."""
LETTERS = 3


def drawn(random: Random, size: int) -> Machine:
    """A machine of at most this size, all of whose states are reached."""
    targets = [[random.randrange(size) for _ in range(LETTERS)] for _ in range(size)]
    outputs = [[Output((random.choice("xy"),), 7) for _ in range(LETTERS)] for _ in range(size)]
    return Machine.of(targets, outputs, 0)


class Known:
    """A side that is a machine: a call is a letter. moody: the history in which it answers otherwise."""

    def __init__(self, machine: Machine, moody: int | None = None) -> None:
        self.machine = machine
        self.state: State | None = None
        self.moody = moody
        self.begun = 0
        self.at = 0

    def begin(self) -> None:
        self.at = 0
        self.begun += 1

    def perform(self, call: Call) -> Made:
        letter = call.by_ms
        output = self.machine.outputs[self.at][letter].tokens[0]
        self.at = self.machine.targets[self.at][letter]
        return Made("z" if self.begun == self.moody else output)

    def end(self) -> None:
        pass


def asking(machine: Machine, moody: int | None = None, limits: Limits | None = None) -> Asking:
    def letter(at: int) -> Letter:
        return Letter(str(at), lambda memory: (Call("clock.advance", by_ms=at),), ())

    alphabet = Alphabet("toy", tuple(map(letter, range(LETTERS))), ())
    return Asking(Playing(alphabet, Known(machine, moody)), limits)


def alike(one: Machine, other: Machine) -> bool:
    return not any(not step.agrees for step in compare(one, other).steps)


@pytest.mark.parametrize("seed", range(25))
def test_a_suite_finds_every_machine_with_one_state_more(seed: int) -> None:
    random = Random(seed)
    machine = drawn(random, 4)
    minimal = learn(asking(machine), (), 3).machine
    words = [word for depth in suite(minimal, 1) for word in depth]
    for _ in range(20):
        other = drawn(random, len(minimal) + 1)
        shown = any(minimal.run(word) != other.run(word) for word in words)
        assert shown is not alike(minimal, other)


@pytest.mark.parametrize("seed", range(12))
def test_a_machine_is_learned_as_it_is(seed: int) -> None:
    machine = drawn(Random(seed), 5)
    learned = learn(asking(machine), (), 4)
    assert learned.finished and alike(learned.machine, machine)
    known = identifiers(learned.machine)
    for one in range(len(learned.machine)):
        for other in range(one):
            assert told_apart(learned.machine, one, other) is not None, "it is minimal"
            both = known[one] & known[other]
            assert any(learned.machine.run(word, one) != learned.machine.run(word, other) for word in both)


def test_a_word_with_two_answers_is_named() -> None:
    machine = drawn(Random(3), 4)
    with pytest.raises(Inconsistent) as found:
        learn(asking(machine, moody=9), (), 1)
    old, new = (answer.tokens for answer in found.value.answers)
    assert old != new and "z" in (*old, *new) and found.value.word


def test_limits_end_the_asking() -> None:
    machine = drawn(Random(3), 5)
    with pytest.raises(Spent):
        asking(machine, limits=Limits(steps=2)).play((0, 1, 2))
    cut = learn(asking(machine, limits=Limits(steps=40)), (), 2)
    whole = learn(asking(machine), (), 2)
    assert not cut.finished and whole.finished
    assert cut.tried < cut.suite and len(cut.machine) <= len(whole.machine)


def test_a_letter_that_means_nothing_is_not_asked_twice() -> None:
    first = Letter("open", lambda memory: () if memory.cursor else (Call("cursors.open", name="c"),), ())
    peek = Letter("peek", lambda memory: (Call("messages.peek"),) if memory.cursor else (), ())
    side = Known(Machine(((0,),), ((Output(("ok",), 1),),), ((),)))
    asked = Asking(Playing(Alphabet("toy", (first, peek), ()), side))
    assert [output.asked for output in asked.ask((1, 1, 0, 1))] == [False, False, True, True]
    before = side.begun
    assert [output.next for output in asked.ask((0, 1, 0, 0, 1))] == [2] * 5
    asked.ask((1, 0, 1, 0, 1))
    assert side.begun == before + 1, "the letters left out, the word was asked before"


def test_answers_that_the_text_leaves_open_agree() -> None:
    assert agree(FAILS, f"{FAILS}: MQ_ERROR") and agree(f"{FAILS}: MQ_ERROR", FAILS)
    assert agree(f"{FAILS}: MQ_ERROR or MQ_ERROR_IO_TIMEOUT", f"{FAILS}: MQ_ERROR_IO_TIMEOUT")
    assert agree(OPEN, "ok") and agree(OPEN, FAILS)
    assert not agree(f"{FAILS}: MQ_ERROR", f"{FAILS}: MQ_ERROR_IO_TIMEOUT")
    assert not agree("ok", FAILS) and not agree("a", "b")


@pytest.fixture(scope="module")
def alphabets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Alphabet]:
    folder: Path = tmp_path_factory.mktemp("embedded")
    client = open_client("embedded", state_dir=folder, in_process=True, deadline_ms=10_000)
    try:
        return {what: choose(what, client) for what in ALPHABETS}
    finally:
        client.close()


@pytest.mark.parametrize("what", ALPHABETS)
def test_the_specification_describes_each_word(alphabets: dict[str, Alphabet], what: str) -> None:
    """No letter is asked of which no section says what it does; the states are as many as is known, and named."""
    alphabet = alphabets[what]
    machine = learn(Asking(Playing(alphabet, Specification(defaults()))), (), 1).machine
    assert len(machine) == STATES[what]
    assert not [
        word
        for word, told in zip(machine.access, machine.outputs, strict=True)
        for one in told
        if UNDESCRIBED in one.tokens
    ]
    named = names(alphabet, machine, defaults())
    assert all(name.there for name in named) and len(set(named)) > len(named) / 2
