"""One learning: choose the alphabet, learn the machine, compare it with the specification's, and judge differences."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product
from typing import TYPE_CHECKING

from conformance.harness.guarded_client import DriverGone, GuardedClient
from conformance.harness.recorder import ConformanceFailure, RunOptions
from conformance.histories.driver_side import Driving
from conformance.histories.examples import REAL_EXPIRY_MS
from conformance.histories.inference.probing import Probe, contradicted, defaults
from conformance.histories.learning.alphabets import CannotLearn, choose
from conformance.histories.learning.learner import Learned, learn
from conformance.histories.learning.machine import UNDESCRIBED, Alphabet, Machine, Output, Word, agree, suite
from conformance.histories.learning.sides import (
    Asking,
    CannotBegin,
    Implementation,
    Inconsistent,
    Limits,
    Playing,
    Specification,
    Spent,
    Tell,
)
from conformance.histories.operations.operation import Manner
from conformance.histories.operations.table import OPERATIONS
from conformance.model import BadCall, Call, Observation
from conformance.model.values import replace
from conformance.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.harness.port import Port


@dataclass(frozen=True, slots=True)
class Pair:
    """A state of each machine that the same word leads to, by answers that agree. word: the shortest such."""

    demanded: int
    learned: int
    word: Word


@dataclass(frozen=True, slots=True)
class Step:
    """A letter in a pair. target: the pair it leads to, None where the answers do not agree."""

    pair: int
    letter: int
    demanded: Output
    came: Output
    target: int | None

    @property
    def agrees(self) -> bool:
        """True if the specification's answer includes the implementation's."""
        return agreeing(self.demanded, self.came)


@dataclass(frozen=True, slots=True)
class Walk:
    """Both machines, side by side. steps: every letter in every pair, the pairs in the order of their words.

    Nothing is compared behind answers that do not agree.
    """

    pairs: tuple[Pair, ...]
    steps: tuple[Step, ...]

    def unreached(self, demanded: Machine) -> int:
        """Return how many of the specification's states no agreeing answers lead to."""
        return len(demanded) - len({pair.demanded for pair in self.pairs})


def agreeing(demanded: Output, came: Output) -> bool:
    """Tell whether every token of an answer is one that the specification's answer includes."""
    right, told = demanded.tokens, came.tokens
    if right[0] == UNDESCRIBED:
        return True
    return len(right) == len(told) and all(map(agree, right, told))


def compare(demanded: Machine, learned: Machine) -> Walk:
    """Walk through both machines, from their first states, as far as their answers agree."""
    pairs = [Pair(0, 0, ())]
    place = {(0, 0): 0}
    steps: list[Step] = []
    queue = deque([0])
    while queue:
        at = queue.popleft()
        pair = pairs[at]
        for letter, (right, came) in enumerate(
            zip(demanded.outputs[pair.demanded], learned.outputs[pair.learned], strict=True)
        ):
            target = None
            if agreeing(right, came) and right.tokens[0] != UNDESCRIBED:
                both = demanded.targets[pair.demanded][letter], learned.targets[pair.learned][letter]
                if both not in place:
                    place[both] = len(pairs)
                    queue.append(len(pairs))
                    pairs.append(Pair(*both, (*pair.word, letter)))
                target = place[both]
            steps.append(Step(at, letter, right, came, target))
    return Walk(tuple(pairs), tuple(steps))


def other_words(walk: Walk, word: Word) -> Iterator[Word]:
    """Yield other words that lead through the same pairs at their end: each goes another way into one of them.

    Readings may allow what one way leads to, and not what another does, though the states are the same.
    """
    step_of = {(step.pair, step.letter): step for step in walk.steps}
    into: dict[int, list[Step]] = {}
    for step in walk.steps:
        if step.target is not None and step.target != step.pair:
            into.setdefault(step.target, []).append(step)
    at = 0
    for place, letter in enumerate(word[:-1], 1):
        step = step_of[(at, letter)]
        if step.target is None:
            return
        for other in into.get(step.target, ()):
            if (other.pair, other.letter) != (at, letter):
                yield (*walk.pairs[other.pair].word, other.letter, *word[place:])
        at = step.target


MAX_CHOICES = 1024
"""Combinations of readings that are tried. The readings that a word asks for have two or three alternatives each."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A word as the judge sees it. verdict: the broken requirement, None if accepted readings allow the answers.

    story: a line for each call. seen: the calls and answers. asked: the readings that decide them.
    """

    verdict: Verdict | None
    story: tuple[str, ...]
    seen: tuple[tuple[Call, Observation], ...] = ()
    asked: frozenset[str] = frozenset()


def judge(client: Port, options: RunOptions, calls: Sequence[Call]) -> Judgement:
    """Make the calls once more and judge them."""
    probe = Probe(client, options)
    failure: Verdict | None = None
    try:
        _make(probe, probe.driving, calls)
    except BadCall:
        pass  # it answers otherwise now, or the model knows no such call: what came before is judged
    except ConformanceFailure as found:
        failure = found.verdict
    finally:
        probe.driving.leave()
    evidence = probe.evidence("word", failure)
    return Judgement(failure, evidence.story, evidence.seen, evidence.asked)


def _make(probe: Probe, driving: Driving, calls: Sequence[Call]) -> None:
    for call in calls:
        if call.timeout_ms and OPERATIONS[call.method].manner is Manner.READ:
            probe.expire(call if driving.virtual else replace(call, timeout_ms=REAL_EXPIRY_MS))
        else:
            probe.do(call)


def explains(choice: Mapping[str, str], judgement: Judgement) -> bool:
    """Tell whether one alternative of each reading allows the answers of a word."""
    one = next(iter(choice))
    return contradicted(judgement.seen, {name: (way,) for name, way in choice.items()}, one, choice[one]) is None


def settled(
    judgements: Sequence[Judgement], accepted: Mapping[str, tuple[str, ...]], choice: Mapping[str, str]
) -> dict[str, str]:
    """Return the choice of readings that explains most words; of several, the one with the fewest changes."""
    asked = sorted(frozenset().union(*(one.asked for one in judgements)) & set(choice))
    open_ones = [reading for reading in asked if len(accepted[reading]) > 1]
    best, most = dict(choice), (-1, 0)
    for ways in islice(product(*(accepted[reading] for reading in open_ones)), MAX_CHOICES):
        tried = {**choice, **dict(zip(open_ones, ways, strict=True))}
        changes = sum(tried[reading] != choice[reading] for reading in open_ones)
        found = sum(explains(tried, one) for one in judgements), -changes
        if found > most:
            best, most = tried, found
    return best


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
        return dataclasses.replace(begun, sentence=f"{lacking}.")
    asking = Asking(Playing(alphabet, Implementation(GuardedClient(client))), limits, tell)
    found = _Work(client, options, asking, dataclasses.replace(begun, alphabet=alphabet))
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
    return dataclasses.replace(found.so_far, histories=asking.histories, steps=asking.steps)


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
        self.so_far = dataclasses.replace(self.so_far, exit_code=code, sentence=sentence)

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
            self.so_far = dataclasses.replace(self.so_far, demanded=demanded, learned=learned, choice=dict(self.choice))
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
        self.so_far = dataclasses.replace(self.so_far, two_answers=TwoAnswers(two.word, dict(answers), judgement))
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
        self.so_far = dataclasses.replace(
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
