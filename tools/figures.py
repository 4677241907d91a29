"""Print the figures of ARCHITECTURE.md from the code, or write them into the page.

python -m tools.figures [--write]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.files import write_text
from conformance.histories.situations import book, situation
from conformance.judge.columns import column_judge
from conformance.judge.packets.judge import ALL_RULES
from conformance.judge.rules import describe
from conformance.model import Answer, Call, Model, Observation, Scan, SeenMessage, States
from conformance.model.state import State
from conformance.spec.catalogue import assignment
from tools.planner.situation_texts import rows

PAGE: Final = Path(__file__).parents[1] / "ARCHITECTURE.md"
_RULE: Final = "MQMQ-2.2.19.1.transactional-priority-zero"
_FAULT: Final = "ignores-priority"
_FIGURE: Final = re.compile(r"(<!-- figure: ([a-z]+) -->\n```text\n).*?(```\n)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Story:
    """A history with two sends and a wrong receive. left: the messages that the queue is found to hold afterwards."""

    text: str
    between: tuple[Call, ...] = ()
    transactional: bool = False
    priority_of_b: int = 3
    answer: str = "b"
    left: tuple[str, ...] = ("a",)


_STORIES: Final = (
    _Story("nothing"),
    _Story("b has the higher priority", priority_of_b=5, answer="a", left=("b",)),
    _Story("peek shows a, and afterwards a is gone", (Call("messages.peek", handle="r1"),), left=()),
    _Story(
        "receive a in t1, abort t1",
        (
            Call("transactions.begin", "t1"),
            Call("messages.receive", handle="r1", transaction="t1"),
            Call("transactions.abort", transaction="t1"),
        ),
        transactional=True,
    ),
)


def blame() -> Iterator[str]:
    """Wrong receives behind several histories: the event that put the message where it should be is blamed."""
    yield f"{'between the sends of a and b and the receive':<46}{'answer':<8}requirement that is blamed"
    for story in _STORIES:
        yield f"{story.text:<46}{story.answer:<8}{_blamed(story)}"


def _blamed(story: _Story) -> str:
    """Return the requirement that the model blames for the wrong receive."""
    model, state = Model(assignment("windows")), State()
    t = "t0" if story.transactional else None
    sends = [
        Call("messages.send", handle="s1", message="a", priority=3, transaction=t),
        Call("messages.send", handle="s1", message="b", priority=story.priority_of_b, transaction=t),
    ]
    if t is not None:
        sends = [Call("transactions.begin", t), *sends, Call("transactions.commit", transaction=t)]
    opening = [
        Call("queues.create", queue="q1", transactional=story.transactional),
        Call("queues.open", "s1", queue="q1", access="send"),
        Call("queues.open", "r1", queue="q1", access="receive"),
    ]
    for call in (*opening, *sends, *story.between):
        state = model.allowed(state, call).outcomes[0].next
    observed = Observation(Answer.of_status(0, SeenMessage(story.answer.encode())))
    judged = model.step(States((state,)), Call("messages.receive", handle="r1"), observed, Scan(story.left, "q1"))
    return judged.verdicts[-1].requirement


def situations() -> Iterator[str]:
    """Features and situations of some operations, and what became of them."""
    yield f"{'operation':<24}{'features':>9}{'pairs':>8}{'triples':>9}{'planned':>9}{'unreachable':>13}{'not met':>9}"
    for row in rows(situation.space(), book.load()):
        if row.method in ("messages.receive", "messages.peek", "transactions.abort", "queues.purge", "queues.open"):
            counts = f"{row.pairs:>8,}{row.triples:>9,}{row.planned:>9,}{sum(row.unreachable.values()):>13,}"
            yield f"{row.method:<24}{len(row.features):>9}{counts}{row.not_met:>9,}"


def classes() -> Iterator[str]:
    """A packet rule in its three forms, and how many trees, sections and words the machine code has."""
    rule = next(rule for rule in ALL_RULES if rule.id == _RULE)
    yield f"rule       {rule.id}"
    yield f"applies    {describe(rule.applies)}"
    yield f"holds      {describe(rule.alternatives()[''])}"
    code = column_judge(()).code
    groups = [group for group in code.groups if group.rules]
    trees = f"{len(ALL_RULES):,} rules, {len(code.pairs):,} trees"
    yield f"all        {trees} in {len(groups)} groups by the headers that they read"
    yield f"outcome    {code.words} words of 64 bits, two bits a tree: true, false, both (undecided) or none"


def quirks() -> Iterator[str]:
    """A fault, what its text breaks, and what else failed where nobody went on behind it."""
    fault = FAULTS[_FAULT]
    others = sorted(shows_as(fault))
    yield f"known cause   {fault.name}: {fault.says}"
    yield f"breaks        {', '.join(fault.breaks)}"
    yield f"consequences  {len(others)} other requirements, such as"
    yield from (f"              {name}" for name in others[:4])


FIGURES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    figure.__name__: figure for figure in (blame, situations, classes, quirks)
}


def page(text: str) -> str:
    """Return the page with every figure as the code makes it now. Raises KeyError for a figure that nobody makes."""
    return _FIGURE.sub(lambda at: at[1] + "\n".join(FIGURES[at[2]]()) + "\n" + at[3], text)


def main(arguments: list[str]) -> int:
    """Exit status: 0."""
    if arguments == ["--write"]:
        write_text(PAGE, page(PAGE.read_text(encoding="utf-8")))
        return 0
    for name, figure in FIGURES.items():
        print(f"{name}:", *figure(), "", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
