"""Automata: membership, shortest texts, differences and ambiguities, against brute force."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.grammar.abnf import Alt, Chars, Grammar, Lit, Node, Rep, Rule, Seq
from conformance.grammar.automaton import ambiguity, dfa, difference, missing
from conformance.grammar.bulk import compiled

LETTERS = "abAB"
SHORT = ["".join(each) for length in range(5) for each in product(LETTERS, repeat=length)]

_LEAF: st.SearchStrategy[Node] = st.sampled_from(
    [Lit("a"), Lit("b"), Lit("ab", True), Chars(((97, 98),)), Lit(""), Seq(()), Lit("a", True)]
)
NODES: st.SearchStrategy[Node] = st.recursive(
    _LEAF,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda items: Alt(tuple(items))),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: Seq(tuple(items))),
        st.tuples(inner, st.integers(0, 2), st.none() | st.integers(0, 2)).map(
            lambda each: Rep(each[1], None if each[2] is None else each[1] + each[2], each[0])
        ),
    ),
    max_leaves=6,
)


def grammar(node: Node) -> Grammar:
    return Grammar([Rule("r", node)])


def derived(node: Node, text: str) -> set[int]:
    """Where a match that begins at the start of the text may end: straight from the meaning of each node."""

    def ends(node: Node, at: int) -> set[int]:
        match node:
            case Lit(literal, sensitive):
                here = text[at : at + len(literal)]
                same = here == literal if sensitive else here.lower() == literal.lower()
                return {at + len(literal)} if same else set()
            case Chars(ranges):
                return {at + 1} if at < len(text) and any(a <= ord(text[at]) <= b for a, b in ranges) else set()
            case Alt(items):
                return set().union(*(ends(each, at) for each in items))
            case Seq(items):
                found = {at}
                for each in items:
                    found = {to for start in found for to in ends(each, start)}
                return found
            case Rep(least, most):
                found, reached = {at}, {at} if least == 0 else set()
                for count in range(1, (most if most is not None else least + len(text) + 1) + 1):
                    found = {to for start in found for to in ends(node.node, start)}
                    if count >= least:
                        reached |= found
                return reached
        raise AssertionError(node)

    return ends(node, 0)


@given(NODES)
@settings(max_examples=fewer(300), deadline=None)
def test_automaton_and_pattern_have_the_language_of_the_rule(node: Node) -> None:
    rule, pattern = dfa(grammar(node), "r"), compiled(grammar(node), "r")
    for text in SHORT:
        wanted = len(text) in derived(node, text)
        assert rule.accepts(text) == wanted
        assert bool(pattern.fullmatch(text)) == wanted


@given(NODES, NODES)
@settings(max_examples=fewer(200), deadline=None)
def test_a_difference_is_a_shortest_text_of_one_alone(one: Node, other: Node) -> None:
    left, right = dfa(grammar(one), "r"), dfa(grammar(other), "r")
    found = difference(left, right)
    apart = [text for text in SHORT if left.accepts(text) != right.accepts(text)]
    if found is None:
        assert not apart
        assert missing(left, right) is None
    else:
        assert left.accepts(found) != right.accepts(found)
        assert not apart or len(found) == len(apart[0])


@given(NODES)
@settings(max_examples=fewer(200), deadline=None)
def test_shortest(node: Node) -> None:
    rule = dfa(grammar(node), "r")
    found = rule.shortest()
    assert found is not None
    assert rule.accepts(found)
    assert all(len(text) >= len(found) for text in SHORT if rule.accepts(text))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Alt((Lit("ab"), Seq((Lit("a"), Lit("b"))))), "ab"),
        (Seq((Rep(0, None, Lit("a")), Rep(0, None, Lit("a")))), "a"),
        (Seq((Rep(0, 3, Lit("a")), Rep(0, 3, Lit("b")))), None),
        (Rep(1, None, Seq((Lit("a"), Rep(0, 1, Lit("b"))))), None),
        (Seq((Rep(0, 1, Lit("a")), Lit("a"), Rep(0, 1, Lit("b")), Rep(0, 1, Lit("a")))), "aa"),
        (Alt((Chars(((97, 99),)), Chars(((99, 100),)))), "c"),
        (Alt((Chars(((97, 98),)), Chars(((99, 100),)))), None),
    ],
)
def test_ambiguity(node: Node, text: str | None) -> None:
    assert ambiguity(grammar(node), "r") == text


def test_groups_of_a_pattern() -> None:
    from conformance.grammar.abnf import read

    rules = read('name = host "\\" queue / host\nhost = 1*3ALPHA\nqueue = 1*DIGIT')
    pattern = compiled(rules, "name", {"host": "h", "queue": "q"})
    found = pattern.fullmatch("ab\\12")
    assert found is not None
    assert (found["h"], found["q"]) == ("ab", "12")
    assert re.compile(pattern.pattern).fullmatch("abc") is not None


def test_where_a_text_goes_wrong() -> None:
    from conformance.grammar.abnf import read

    rule = dfa(read('a = "x" 2DIGIT'), "a")
    assert [rule.stuck(text) for text in ("x12", "x1", "y", "x1y", "x123", "")] == [None, 2, 0, 2, 3, 0]
    assert rule.expected("x") == ((0x30, 0x39),)
