"""`mqconform grammar parse` and `python -m tools.grammar`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import command


def mq(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """`mqconform grammar parse`, or `python -m tools.grammar` with these words."""
    if words[0] == "parse":
        done = command("grammar", *words, stdin=stdin)
    else:
        done = command(*words, module="tools.grammar", stdin=stdin)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (("parse", r"DIRECT=OS:h\private$\q"), 0, "format_name of MSMQ 4.0"),
        (("parse", r"DIRECT=OS:h\q,x"), 1, "',' (character 14)"),
        (("parse", "PUBLIC="), 1, "it ends too early"),
        (("parse", r"c\q;s", "--form", "path_name", "--profile", "msmq-3.0"), 1, "';' (character 4)"),
        (("parse", r"c\q;s", "--form", "path_name", "--profile", "msmq-5.0"), 0, "path_name"),
        (("parse", "MULTICAST=224.0.0.1:80", "--reading", "strict"), 1, "does not belong"),
        (("parse", "MULTICAST=224.0.0.1:80", "--reading", "R-MQMQ-port=letter"), 1, "does not belong"),
    ],
)
def test_parse(words: tuple[str, ...], code: int, part: str) -> None:
    got, out, err = mq(*words)
    assert (got, err) == (code, "")
    assert part in out


@pytest.mark.parametrize("name", [b"\xff\xfe", b"\x00" * 1000, b"a" * 10_000_000])
def test_parse_of_what_is_no_text(name: bytes) -> None:
    code, out, err = mq("parse", stdin=name)
    assert (code, err) == (1, "")
    assert "does not belong" in out


@pytest.mark.parametrize(
    "words",
    [
        ("parse", "x", "--form", "name"),
        ("parse", "x", "--profile", "msmq-7.0"),
        ("parse", "x", "--reading", "loose"),
        ("parse", "x", "--reading", "R-MQMQ-prt=all"),
        ("check", "no-such-file.abnf"),
        ("build", "no-such-file.abnf"),
        ("extract", "pyproject.toml"),
    ],
)
def test_a_mistake_is_one_sentence(words: tuple[str, ...]) -> None:
    code, out, err = mq(*words)
    assert (code, out) == (2, "")
    assert err.startswith("mqconform: ")
    assert err.count("\n") == 1


def test_check_and_build_of_a_file(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.abnf", tmp_path / "bad.abnf"
    good.write_text('list = item *("," item)\nitem = 1*DIGIT / "1"\n')
    bad.write_text('list = item\nitem = "a"\n\nITEM = "b"\n')
    code, out, _ = mq("check", str(good), "--json")
    assert code == 0
    assert {row["rule"]: row["ambiguous"] for row in json.loads(out)} == {"list": "1", "item": "1"}
    code, _, err = mq("check", str(bad))
    assert (code, f"{bad}:4: " in err) == (2, True)
    code, out, _ = mq("build", str(good), "--start", "list")
    assert (code, "list: item" in out) == (0, True)


@pytest.mark.parametrize(
    ("content", "line", "part"),
    [
        (b'a = b "x"\n', 1, "b, which is undefined"),
        (b'a = "x" b\nb = "y"\na = "z"\n', 3, "redefined; its first definition is on line 1"),
        (b'a = "x"\nlost = "y"\n', 2, "lost is unreachable"),
        (b'a = b "x"\nb = a "y"\n', 1, "never ends"),
        (b'a-b = "x"\nA-B = "y"\n', 2, "are the same name"),
        (b'a = "x"\nb = ( "y"\n', 2, "not closed"),
        (b"a = %x5A-41\n", 1, "ends before it begins"),
        (b'a = 99999999999"x"\n', 1, "a repetition bound"),
        (b'a = 5*2"x"\n', 1, "at least 5 and at most 2"),
        (b'a = "x\n', 1, "not closed on its line"),
        (b'a = "x"\nb =/ "y"\n', 2, "not been defined above"),
        (b'a = DIGIT\nDIGIT = "x"\n', 2, "redefines the core rule"),
        (b'a = "x"\n; \xff\n', 2, "no UTF-8"),
    ],
)
def test_a_mistake_in_a_grammar_is_named_with_its_line(tmp_path: Path, content: bytes, line: int, part: str) -> None:
    bad = tmp_path / "bad.abnf"
    bad.write_bytes(content)
    for word in ("check", "build"):
        code, out, err = mq(word, str(bad))
        assert (code, out) == (2, "")
        assert err.startswith(f"mqconform: {bad}:{line}: ") and part in err
        assert err.count("\n") == 1


def test_rules_used_from_outside_are_named(tmp_path: Path) -> None:
    path = tmp_path / "two.abnf"
    path.write_text('a = "x"\nb = "y"\n')
    assert mq("check", str(path))[0] == 2
    assert mq("check", str(path), "--start", "a", "--start", "b")[0] == 0


def test_generate_is_repeatable_and_parses() -> None:
    code, out, _ = mq("generate", "--count", "4", "--seed", "3", "--json")
    assert (code, out) == mq("generate", "--count", "4", "--seed", "3", "--json")[:2]
    for name in json.loads(out):
        assert mq("parse", stdin=name.encode("utf-8", "surrogatepass"))[0] == 0
