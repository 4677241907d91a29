"""What the strategies promise, held against the automaton and against another parser of ABNF."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from near_names import Edited, near_misses, with_aliens
from nightly import amount

from conformance.grammar.abnf import read
from conformance.grammar.automaton import dfa
from conformance.grammar.strategies import ALIENS, texts

QUICK = settings(
    database=None, deadline=None, max_examples=amount("grammar.examples"), suppress_health_check=list(HealthCheck)
)
# Whether there is such a text is asked, not which is the shortest.
QUICK_FIND = settings(QUICK, max_examples=2000, phases=[Phase.generate])
OLD = read('Path = Computer "\\" Queue\nComputer = 1*256%x21-5B\nQueue = 1*124(%x21-3A / %x3C-5B / %x5D-7E)\n')
NEW = read(
    'Path = Computer "\\" Queue\nComputer = 1*256%x21-5B\n'
    'Queue = 1*124(%x21 / %x23-2A / %x2D-3A / %x3C-5B / %x5D-7E) [";" Sub]\nSub = 1*32%x41-5A\n'
)
IN_OLD, IN_NEW = dfa(OLD, "Path"), dfa(NEW, "Path")
NESTED = read('List = "(" [List *("," List)] ")" / %s"Nil"\n')


@QUICK
@given(texts(NEW, "Path"))
def test_texts_belong(text: str) -> None:
    assert IN_NEW.accepts(text)


def test_texts_reach_the_bounds() -> None:
    path = texts(OLD, "Path", words={})
    for wanted in (1, 124, 125, 255, 256):
        find(path, lambda text, wanted=wanted: len(text.partition("\\")[0]) == wanted, settings=QUICK_FIND)
    for wanted in (1, 124):
        find(path, lambda text, wanted=wanted: len(text.partition("\\")[2]) == wanted, settings=QUICK_FIND)


@QUICK
@given(texts(NESTED, "List"))
def test_a_rule_within_itself_gives_texts_too(text: str) -> None:
    assert text == "Nil" or (text[0] == "(" and text[-1] == ")")


@QUICK
@given(near_misses(texts(NEW, "Path"), lambda text: not IN_NEW.accepts(text)))
def test_a_near_miss_is_one_edit_away_and_outside(edited: Edited) -> None:
    assert IN_NEW.accepts(edited.origin)
    assert not IN_NEW.accepts(edited.text)
    assert one_edit(edited.origin, edited.text)


def test_near_misses_lengthen_what_is_as_long_as_may_be() -> None:
    misses = near_misses(texts(OLD, "Path", words={}), lambda text: not IN_OLD.accepts(text))
    find(misses, lambda each: each.edit in ("insert", "double") and len(each.text.partition("\\")[0]) == 257,
         settings=QUICK_FIND)  # fmt: skip
    find(misses, lambda each: len(each.text.partition("\\")[2]) == 125, settings=QUICK_FIND)


def test_aliens_come() -> None:
    for alien in ALIENS:
        find(with_aliens(st.just("HOST\\orders")), lambda text, alien=alien: alien in text, settings=QUICK_FIND)


def one_edit(one: str, other: str) -> bool:
    """Whether one character was put in, left out or replaced."""
    if abs(len(one) - len(other)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[at + 1 :] == other[at + 1 :] or one[at:] == other[at + 1 :] or one[at + 1 :] == other[at:]
