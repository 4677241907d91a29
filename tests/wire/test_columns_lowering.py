"""Lowered code does what the same source does as Python, with numbers of 64 bits."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from conformance.wire.columns.lowering import PREFIX, LoweringError, build, text_of
from conformance.wire.columns.machine_code import Wanted

SOURCE = '''
"""Every construct emitted code is written in."""
TABLE = (3, 1, 4, 1, 5, 9, 2, 6)
STEP = -0x61C8_8646_80B5_83EB


@apart
def helped(a, b):
    return a - b if a > b else b - a


def summed(n):
    total = 0
    for i in range(n):
        if i == 7:
            break
        if i & 1 == 1:
            continue
        total += TABLE[i & 7] * i
    return total


def main(a, b):
    """All of it."""
    x, y = a, b
    found = other = 0
    while x != 0 and found < 20:
        x = x >> 3
        found += 1
        if x == -1:
            x = 0
    if a < 0 or b > 5 and not a == b:
        other |= 1
    elif a == 3:
        other ^= 6
    else:
        pass
    y = (y * STEP + ~a) ^ (b << 2)
    y = y & 0xFFFF_FFFF_FFFF if other != 0 else -y
    rest = helped(a & 0xFFFF, b & 0xFFFF) % 7 + -(a & 0xFF) % 7
    z = min(a, b) - max(a & 31, b & 31)
    z += (a <= b) + (a >= b) * 2 + (a != b) * 4 + (1 if True else 0)
    helped(a, b)
    return y + 1000 * found + rest + summed(a & 15) + z
'''


def run(source: str) -> Callable[..., int]:
    """`main` of a source, lowered."""
    return Wanted("test", (source,), f"{PREFIX}main", 2, lambda: text_of(source, "main")).function()


def wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def test_lowered_code_gives_what_python_gives() -> None:
    names: dict[str, Any] = {"apart": lambda function: function}
    exec(SOURCE, names)
    main, chance = run(SOURCE), random.Random(8)
    edges = (0, 1, -1, 3, 5, 6, 255, 1 << 31, (1 << 62) - 1, -(1 << 62))
    pairs = [(a, b) for a in edges for b in edges]
    pairs += [(chance.randrange(-(1 << 62), 1 << 62), chance.randrange(-(1 << 40), 1 << 40)) for _ in range(300)]
    for a, b in pairs:
        assert main(a, b) == wrapped(names["main"](a, b)), (a, b)


@pytest.mark.parametrize(
    "wrong",
    [
        "def main(a, b):\n    return a / b",
        "def main(a, b):\n    return a < b < 3",
        "def main(a, b):\n    return c",
        "def main(a, b):\n    return nothing(a)",
        "def helped(a):\n    return a\n\n\ndef main(a, b):\n    return helped(a, b)",
        "def main(a, b):\n    with a:\n        pass",
        "def main(a, b):\n    a.b = 1",
        "def main(a, b):\n    return 1 << 0x1_0000_0000_0000_0000",
        "def main(a, b):\n    return 'text'",
        "@unknown\ndef main(a, b):\n    return a",
        "class Main:\n    pass",
        "def main(a, b):\n    return a\n\n\ndef main(a, b):\n    return b",
    ],
)
def test_what_there_is_no_code_for_is_an_error_when_code_is_made(wrong: str) -> None:
    from llvmlite import ir

    with pytest.raises(LoweringError):
        build(ir.Module(), wrong)
