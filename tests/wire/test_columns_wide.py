"""Wide code does for eight packets at once what the same source does as Python for each of them."""

import random
from typing import Any

import numpy as np
import pytest
from llvmlite import ir

from conformance.wire.columns.lowering import LANES, PREFIX, LoweringError, build, text_of
from conformance.wire.columns.machine_code import Wanted

BODY = """
    a = noted(o, 0)
    b = noted(o, 1)
    m = ((a & 0x5) == 0x5)
    less = (a < b)
    both = (m & less)
    either = (m | (a >= b))
    odd = (less & a)
    w = 7
    w -= (both << 3)
    w -= ((1 - either) << 4)
    w += (odd * (a + b))
    w += ((b & 1) * 9)
    w ^= a * -0x6B2F_B644_ECCE_EE15
    w ^= (w >> 29) & 0x7_FFFF_FFFF
    v = select((b != 0), a % 7, 0 - b)
    v += select(a, (less == 0) + (m != 1), (m == 1) * 4)
    v = v | (0x5A >> (a & 63))
    note(o, 2, w)
    note(o, 3, (m * v))
"""
SOURCE = f"@wide\ndef many(o):{BODY}\n\ndef main(o):\n    many(o)\n    return 0\n"


def one_by_one(a: int, b: int) -> tuple[int, int]:
    """The same body, run by Python for one packet."""
    slots = {0: a, 1: b}

    def note(_: int, slot: int, value: int) -> None:
        slots[slot] = int(value)

    names: dict[str, Any] = {
        "noted": lambda _, slot: slots[slot],
        "note": note,
        "select": lambda c, x, y: x if c else y,
    }
    exec(f"def many(o):{BODY}", names)
    names["many"](0)
    return wrapped(slots[2]), wrapped(slots[3])


def wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def test_wide_code_gives_what_python_gives() -> None:
    code = Wanted("test", (SOURCE,), f"{PREFIX}main", 1, lambda: text_of(SOURCE, "main")).function()
    chance = random.Random(4)
    room = np.zeros(4 * LANES + 8, np.int64)
    slots = room[-room.ctypes.data % 64 // 8 :][: 4 * LANES].reshape(4, LANES)
    for _ in range(200):
        values = [chance.choice((0, 1, 5, 7, -1, chance.randrange(-(1 << 40), 1 << 40))) for _ in range(2 * LANES)]
        slots[:2] = np.array(values).reshape(2, LANES)
        code(slots.ctypes.data)
        for lane in range(LANES):
            a, b = values[lane], values[LANES + lane]
            assert (int(slots[2, lane]), int(slots[3, lane])) == one_by_one(a, b), (a, b)


@pytest.mark.parametrize(
    "wrong",
    [
        "    if noted(o, 1) != 0:\n        note(o, 1, 2)",
        "    note(o, 1, unknown)",
        "    note(o, 1, o * 2)",
        "    note(o, 1, u8(noted(o, 1)))",
        "    note(o, 1, noted(o, 1) / 2)",
        "    note(o, 1, 1 < noted(o, 1) < 3)",
        "    put8(noted(o, 1), 3)",
    ],
)
def test_what_there_is_no_wide_code_for_is_an_error_when_code_is_made(wrong: str) -> None:
    with pytest.raises(LoweringError):
        build(ir.Module(), f"@wide\ndef main(o):\n{wrong}\n")
