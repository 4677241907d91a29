"""The ABNF reader: RFC 5234 and RFC 7405, and what it refuses, with the line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.grammar.abnf import AbnfError, read
from conformance.grammar.automaton import NotRegularError, TooLargeError, dfa
from tools.abnf_text import to_abnf


def accepts(text: str, name: str, *candidates: str) -> list[bool]:
    rule = dfa(read(text, starts=[name]), name)
    return [rule.accepts(each) for each in candidates]


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ('a = "Ab1"', ["ab1", "AB1"], ["ab", "ab12", ""]),
        ('a = %s"Ab"', ["Ab"], ["ab", "AB"]),
        ('a = %i"Ab"', ["ab", "AB"], ["a"]),
        ("a = %x41.42", ["AB"], ["ab", "A", "B"]),
        ("a = %d48-57 %b1000001", ["0A", "9A"], ["A", "0", "0a"]),
        ("a = %x2c-2c %x00-00", [",\x00"], [",", ""]),
        ('a = 2*3"x"', ["xx", "xxx"], ["x", "xxxx"]),
        ('a = *"x"', ["", "x" * 50], ["y"]),
        ('a = 2"x"', ["xx"], ["x", "xxx"]),
        ('a = *2"x"', ["", "xx"], ["xxx"]),
        ('a = 0"x" "y"', ["y"], ["xy"]),
        ('a = 1*"x" "y"', ["xy", "xxy"], ["y"]),
        ('a = ["x"] ("y" / "z")', ["y", "xz"], ["x", "xyz"]),
        ('a = "x" / "y" "z"', ["x", "yz"], ["xz"]),
        ('a = "x"\na =/ "y"\n', ["x", "y"], ["xy"]),
        ('a = "x" ; one\n\n ; two\n  / "y" ; "three\n', ["x", "y"], ["z"]),
        ('a = "x"\r\n    "y"\r\n', ["xy"], ["x"]),
        ('   a = b\n     "y"\n   b = "x"\n', ["xy"], ["x"]),
        ("a = 3(4HexDig %x2D)", ["0aF9-1234-abcd-"], ["0aF9-1234-abcd", "0aF9-1234-abcg-"]),
        ('a=b/c\nb="x"\nc="y"', ["x", "y"], ["z"]),
        ('a = ""', [""], ["x"]),
        ("a = %x10FFFF / %xD800", ["\U0010ffff", "\ud800"], ["\ud801"]),
        ('a = "x" ; Grüße', ["x"], []),
        ("a = CRLF DQUOTE HTAB SP", ['\r\n"\t '], ["\n"]),
    ],
)
def test_what_rules_derive(text: str, yes: list[str], no: list[str]) -> None:
    assert accepts(text, "a", *yes, *no) == [True] * len(yes) + [False] * len(no)


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ('a = "x" b', 1, "b, which is undefined"),
        ('a = "x"\nb = "y"\na = "z"', 3, "a is redefined; its first definition is on line 1"),
        ('Foo = "x"\n\nfoo = "y"', 3, "are the same name"),
        ('a = "x"\nb = c\nc = b "y" / "z"', 2, "b is unreachable"),
        ('a = b\nb = a "x"', 1, "never ends"),
        ('a = a "x"', 1, "never ends"),
        ('a = a / "x"', 1, "can derive itself alone"),
        ('a = [b] ["y"]\nb = a', 1, "can derive itself alone"),
        ('a =/ "x"', 1, "has not been defined"),
        ('Digit = "a"', 1, "core rule DIGIT"),
        ("a = %x110000", 1, "terminal is larger"),
        ("a = %x42-41", 1, "ends before it begins"),
        ("a = %d", 1, "base 10"),
        ("a = %q41", 1, "% is followed by"),
        ("a = %x41-", 1, "out of place"),
        ('a = 3*2"x"', 1, "at least 3 and at most 2"),
        ('a = 1*999999"x"', 1, "repetition bound"),
        ('a = ("x"\nb = "y"', 1, "( is not closed"),
        ('a = "x"]', 1, "out of place"),
        ('a = "x', 1, "not closed"),
        ("a = <words\n", 1, "not closed"),
        ("a =\nb = %x41", 1, "missing"),
        ('a = "x" /\nb = "y"', 1, "missing"),
        ('a "x"', 1, "not followed by ="),
        ("1a = %x41", 1, "begins with its name"),
        ('a = "é"', 1, "U+00E9"),
        ('a = "x" ; \x00', 1, "U+0000"),
        ('a = "x"\n\tb = "y"\n', 2, "out of place"),
        ('  a = "x"\n b = "y"\n', 2, "another indentation"),
        ("a = 1*256(VCHAR)VCHAR = %x21-7E", 1, "white space is missing"),
        ("a = 0x0000", 1, "undefined"),
        ("; nothing\n", 0, "no rule"),
        ("", 0, "no rule"),
        ('a = "x" | "y"', 1, "out of place"),
        ("a = " + "(" * 100 + '"x"' + ")" * 100, 1, "deeper than"),
    ],
)
def test_what_is_refused(text: str, line: int, part: str) -> None:
    with pytest.raises(AbnfError) as caught:
        read(text, where="g.abnf")
    assert caught.value.line == line
    assert part in caught.value.text
    assert str(caught.value).startswith("g.abnf")


def test_externals_and_starts() -> None:
    read('a = Guid "x"', externals=["guid"])
    read('a = "x"\nb = "y"', starts=["a", "b"])
    with pytest.raises(AbnfError, match="b is unreachable"):
        read('a = "x"\nb = "y"', starts=["a"])


def test_prose_is_read_but_not_compiled() -> None:
    grammar = read("a = <a host, see elsewhere>")
    with pytest.raises(AbnfError, match="is prose"):
        dfa(grammar, "a")


def test_a_rule_that_refers_to_itself_is_not_regular() -> None:
    grammar = read('a = "(" [a] ")"')
    with pytest.raises(NotRegularError):
        dfa(grammar, "a")


@pytest.mark.parametrize(
    "text",
    [
        "a = 100000(100000%x41)",
        "\n".join([f"a{n} = a{n + 1} a{n + 1}" for n in range(60)] + ['a60 = ""']),
    ],
)
def test_a_rule_too_large_is_refused_in_bounded_time(text: str) -> None:
    grammar = read(text)
    with pytest.raises(TooLargeError):
        dfa(grammar, next(iter(grammar.rules)))


def test_many_rules_and_long_texts_are_refused() -> None:
    with pytest.raises(AbnfError, match="more than 2000 rules"):
        read("\n".join(f'a{n} = "x"' for n in range(3000)))
    with pytest.raises(AbnfError, match="longer than"):
        read("a = %x41 ;" + "x" * (1 << 21))


@given(st.text(max_size=200) | st.text(alphabet='ab=/ "%x41-.*0129()[]<>;\n\t', max_size=200))
@settings(max_examples=fewer(300), deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        grammar = read(text)
    except AbnfError:
        return
    again = read(to_abnf(grammar, *grammar.rules) or 'x = ""', starts=None)
    assert len(again.rules) <= len(grammar.rules) + 1
