"""One learning, from the choice of the alphabet to the judged differences."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from conformance.harness.guarded_client import DriverGone, GuardedClient
from conformance.harness.recorder import RunOptions
from conformance.histories.inference.playing import defaults
from conformance.histories.learning.asking import Asking, Inconsistent, Limits, Spent, Tell
from conformance.histories.learning.blaming import Judgement, explains, judge, settled
from conformance.histories.learning.choosing import CannotLearn, choose
from conformance.histories.learning.comparing import Walk, agreeing, compare, other_words
from conformance.histories.learning.learner import Learned, learn
from conformance.histories.learning.letters import Alphabet, Output, Word
from conformance.histories.learning.machine import Machine, suite
from conformance.histories.learning.sides import CannotBegin, Implementation, Playing, Specification
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.adapter.client import Client

MAX_JUDGED = 60
"""Differences that are judged; an implementation with more should pass `run` first."""
GRACE_S = 30.0
"""Time to confirm and judge differences after the time for learning is over."""
_TURNS = 8  # times that machines are made again, by what the comparison has shown
_OTHER_WORDS = 12  # other ways to the same states that are tried where the shortest word is allowed
_AGAIN = 5  # times that a word with two answers is asked again


@dataclass(frozen=True, slots=True)
class Difference:
    """An answer that differs from the specification's, wherever it does.

    word: the shortest that shows it. demanded, came: the answers to its last letter. places: pairs of states, by their
    numbers in the walk, in which the same letter is answered so. judgement: of that word.
    """

    word: Word
    demanded: Output
    came: Output
    places: tuple[int, ...]
    judgement: Judgement

    @property
    def deviates(self) -> bool:
        """True if the word breaks a requirement; an accepted reading, or the text's freedom, allows it otherwise."""
        return self.judgement.verdict is not None


@dataclass(frozen=True, slots=True)
class TwoAnswers:
    """A word whose last letter was answered in more than one way. answers: each with how often it came."""

    word: Word
    answers: Mapping[Output, int]
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Learning:
    """Result of learning.

    demanded: the specification's machine, under the readings of `choice`: the default alternative of each, and of those
    in `readings` the one that the implementation follows. learned: None if no machine was. walk: both, side by side.
    both_ways: the words of differences that accepted readings allow, though not the ones that other words show.
    unconfirmed: differences of a machine not learned to its end that no word has shown. unjudged: beyond MAX_JUDGED.
    histories, steps: asked of the implementation. more_states: as asked for.
    """

    what: str
    implementation: str
    more_states: int
    exit_code: ExitCode = ExitCode.NOTHING_JUDGED
    sentence: str | None = None
    alphabet: Alphabet | None = None
    demanded: Machine | None = None
    learned: Learned | None = None
    walk: Walk | None = None
    differences: tuple[Difference, ...] = ()
    both_ways: frozenset[Word] = frozenset()
    unconfirmed: int = 0
    unjudged: int = 0
    readings: Mapping[str, str] = field(default_factory=dict)
    choice: Mapping[str, str] = field(default_factory=dict)
    two_answers: TwoAnswers | None = None
    histories: int = 0
    steps: int = 0
    seconds: float = 0.0

    @property
    def deviations(self) -> tuple[Difference, ...]:
        """The differences that break a requirement, or follow a reading both ways."""
        return tuple(one for one in self.differences if one.deviates or one.word in self.both_ways)


def work(
    client: Client,
    what: str,
    options: RunOptions,
    *,
    more_states: int,
    limits: Limits,
    without: Collection[str],
    tell: Tell,
) -> Learning:
    """Learn a machine, compare it with the specification's, and judge each difference."""
    begun = Learning(what, f"{client.hello.name} {client.hello.version}", more_states)
    try:
        alphabet = choose(what, client, without)
    except CannotLearn as lacking:
        return replace(begun, sentence=f"{lacking}.")
    asking = Asking(Playing(alphabet, Implementation(GuardedClient(client))), limits, tell)
    found = _Work(client, options, asking, replace(begun, alphabet=alphabet))
    try:
        found.learn()
    except CannotBegin as no:
        found.end(
            ExitCode.NOTHING_JUDGED,
            f"nothing was learned: each history begins with {no.call.method}, which {no.answer}.",
        )
    except Inconsistent as two:
        found.two_answers(two)
    except DriverGone as gone:
        word = ", ".join(alphabet.spelled(asking.word)) or "what each history begins with"
        found.end(ExitCode.UNUSABLE, f"{gone.fault.sentence.rstrip('.')}; what was asked last is: {word}.")
    return replace(found.so_far, histories=asking.histories, steps=asking.steps)


class _Work:
    def __init__(self, client: Client, options: RunOptions, asking: Asking, begun: Learning) -> None:
        self.client = client
        self.options = options
        self.asking = asking
        self.alphabet = asking.playing.alphabet
        self.default = {name: options.readings.get(name, (one,))[0] for name, one in defaults().items()}
        self.choice = dict(self.default)
        self.so_far = begun
        self.judged: dict[Word, Judgement] = {}

    def end(self, code: ExitCode, sentence: str | None = None) -> None:
        """Note how it ended."""
        self.so_far = replace(self.so_far, exit_code=code, sentence=sentence)

    def learn(self) -> None:
        """Learn both machines and compare them, again with readings that the answers have decided."""
        asking = self.asking
        asking.tell(0, 1, "the specification's machine")
        demanded = self._demanded()
        first = [word for words in suite(demanded, 0) for word in words]
        evidence: dict[Word, Judgement] = {}
        for _ in range(_TURNS):
            learned = learn(asking, first, self.so_far.more_states)
            if not len(learned.machine):
                self.end(ExitCode.NOTHING_JUDGED, "the limits ended it before anything was learned.")
                return
            self.so_far = replace(self.so_far, demanded=demanded, learned=learned, choice=dict(self.choice))
            if not learned.finished:
                asking.limits = Limits(time.monotonic() + GRACE_S)
            asking.tell(1, 1, "comparing")
            wrong = self._compare(demanded, learned.machine)
            evidence |= {one.word: one.judgement for one in self.so_far.differences if not one.deviates}
            choice = settled(tuple(evidence.values()), self.options.readings, self.default) if evidence else self.choice
            if choice != self.choice:
                self.choice = choice
                demanded = self._demanded()
            elif wrong and learned.finished:
                first += wrong
            else:
                break
        self._conclude()

    def two_answers(self, two: Inconsistent) -> None:
        """Ask the word again, several times, and judge it."""
        asking = self.asking
        answers: Counter[Output] = Counter(two.answers)
        judgement: Judgement | None = None
        for _ in range(_AGAIN):
            answers[asking.playing.word(two.word)[-1]] += 1
            if judgement is None or judgement.verdict is None:
                judgement = self._judge()
        assert judgement is not None
        self.so_far = replace(self.so_far, two_answers=TwoAnswers(two.word, dict(answers), judgement))
        if judgement.verdict is not None:
            self.end(ExitCode.DEVIATES)
        else:
            self.end(
                ExitCode.NOTHING_JUDGED, "its answers are no function of the history, so that no machine has them."
            )

    def _demanded(self) -> Machine:
        pure = Asking(Playing(self.alphabet, Specification(self.choice)))
        return learn(pure, (), max(self.so_far.more_states, 1)).machine

    def _compare(self, demanded: Machine, learned: Machine) -> list[Word]:
        """Compare both machines, and confirm and judge what differs.

        Return words that the learned machine answers otherwise than the implementation.
        """
        walk = compare(demanded, learned)
        groups: dict[tuple[int, tuple[str, ...], tuple[str, ...]], list[int]] = {}
        for step in walk.steps:
            if not step.agrees:
                groups.setdefault((step.letter, step.demanded.tokens, step.came.tokens), []).append(step.pair)
        found: list[Difference] = []
        wrong: list[Word] = []
        for (letter, _, _), places in list(groups.items())[:MAX_JUDGED]:
            word = (*walk.pairs[places[0]].word, letter)
            difference = self._confirmed(walk, demanded, word, tuple(places))
            if difference is None:
                wrong.append(word)
            else:
                found.append(difference)
        self.so_far = replace(
            self.so_far,
            walk=walk,
            differences=tuple(found),
            both_ways=frozenset(
                one.word for one in found if not one.deviates and not explains(self.choice, one.judgement)
            ),
            readings={name: way for name, way in self.choice.items() if way != self.default[name]},
            unconfirmed=len(wrong),
            unjudged=max(0, len(groups) - MAX_JUDGED),
        )
        return wrong

    def _confirmed(self, walk: Walk, demanded: Machine, word: Word, places: tuple[int, ...]) -> Difference | None:
        """Return the difference that a word shows; None if it shows none, as a machine half learned may suppose.

        Where the word is allowed, words that lead to the same states in other ways are judged too.
        """
        allowed: Difference | None = None
        for other in islice(chain([word], other_words(walk, word)), 1 + _OTHER_WORDS):
            difference = self._shown(demanded, other, places)
            if difference is None or difference.deviates:
                return difference or allowed
            allowed = allowed or difference
        return allowed

    def _shown(self, demanded: Machine, word: Word, places: tuple[int, ...]) -> Difference | None:
        try:
            told = self.asking.ask(word)
        except Spent:
            return None
        right = demanded.run(word)
        at = next((at for at, one in enumerate(told) if not agreeing(right[at], one)), None)
        if at is None:
            return None
        word = word[: at + 1]
        if word not in self.judged:
            self.asking.playing.word(word)
            self.judged[word] = self._judge()
        return Difference(word, right[at], told[at], places, self.judged[word])

    def _judge(self) -> Judgement:
        """Judge the calls of the history that was played last."""
        return judge(GuardedClient(self.client), self.options, tuple(self.asking.playing.made))

    def _conclude(self) -> None:
        found = self.so_far
        assert found.learned is not None and found.walk is not None
        if found.deviations:
            self.end(ExitCode.DEVIATES)
        elif found.unconfirmed or found.learned.depth == 0:
            self.end(
                ExitCode.NOTHING_JUDGED,
                "the limits ended it before each step of the specification's machine was asked.",
            )
        else:
            self.end(ExitCode.CONFORMS)
