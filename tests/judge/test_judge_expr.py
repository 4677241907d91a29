"""Expression trees: three truths, and how they are told."""

import pytest

from conformance.judge.expr import (
    DECIDED,
    And,
    Begins,
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    In,
    Masked,
    Not,
    Or,
    Plus,
    Rest,
    Times,
    both,
    describe,
    either,
    eq,
    evaluate,
    keys_in,
    ne,
)

TRUE, FALSE, UNKNOWN = Const(True), Const(False), Field("missing")


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (Field("n"), 6),
        (UNKNOWN, None),
        (eq("n", 6), True),
        (ne("n", 6), False),
        (eq("n", Field("m")), False),
        (Compare("lt", Field("n"), Const(7)), True),
        (Compare("gt", Field("n"), UNKNOWN), None),
        (Compare("le", Field("n"), Const(6)), True),
        (Compare("ge", Field("n"), Const(7)), False),
        (In(Field("n"), (1, 6)), True),
        (In(UNKNOWN, (1,)), None),
        (Masked(Field("n"), 3), 2),
        (Plus(Field("n"), Field("m")), 9),
        (Times(Field("n"), 4), 24),
        (Rest(Field("n"), 4), 2),
        (ByteAt("b", 1), 0x22),
        (ByteAt("b", 2), None),
        (Begins("t", "direct="), True),
        (Begins("t", "OS:"), False),
        (Begins("missing", "OS:"), None),
        (And((TRUE, UNKNOWN)), None),
        (And((UNKNOWN, FALSE)), False),
        (And((TRUE, TRUE)), True),
        (Or((FALSE, UNKNOWN)), None),
        (Or((UNKNOWN, TRUE)), True),
        (Or((FALSE, FALSE)), False),
        (Not(FALSE), True),
        (Not(UNKNOWN), None),
    ],
)
def test_value_of_a_tree(expr: Expr, value: object) -> None:
    assert evaluate(expr, {"n": 6, "m": 3, "b": b"\x11\x22", "t": "DIRECT=OS:a\\q"}) == value


@pytest.mark.parametrize(("decided", "value"), [(True, False), (False, None)])
def test_absence_is_known_only_when_everything_was_decoded(decided: bool, value: object) -> None:
    assert evaluate(Has("missing"), {DECIDED: decided}) is value
    assert evaluate(Has("n"), {"n": 0, DECIDED: decided}) is True


def test_a_tree_tells_what_it_says_and_looks_at() -> None:
    expr = both(eq("a.b", 0x524F494C), either(ne("c", 1), Not(Has("d"))))
    assert describe(expr) == "a.b = 0x524f494c and (c ≠ 1 or not d present)"
    assert list(keys_in(expr)) == ["a.b", "c", "d"]
