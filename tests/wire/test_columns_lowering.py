"""Columns of packets: lowering, letters, edges and wide fields."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite import ir
from nightly import amount

from conformance.wire.columns.lowering import LANES, PREFIX, LoweringError, build, source_of, text_of
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
    z += 8 if a & 7 in (1, b & 7, STEP) and a & 3 not in (2, 0) else 0
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


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("at", [0, 3])
def test_numbers_in_memory(bits: int, at: int) -> None:
    """Numbers are stored one behind the other, added to, copied with other bytes, and read in the other byte order."""
    words = np.arange(12, dtype=np.int64)
    source = (
        "def main(a, b):\n    put(a, 1, 5, -6, b)\n    total = add(a, 3, 2)\n    move(a + 41, a + 8, 23)\n"
        f"    return be{bits}(a + 24 + {at}) - total"
    )
    wanted = np.array([0, 5, -6, 0x0102_0384_0506_0709, *range(4, 12)], np.int64)
    octets = wanted.view(np.uint8)
    octets[41:64] = octets[8:31].copy()
    number = int.from_bytes(octets[24 + at : 24 + at + bits // 8].tobytes(), "big", signed=bits == 64)
    assert run(source)(words.ctypes.data, 0x0102_0384_0506_0707) == wrapped(number - 0x0102_0384_0506_0709)
    assert words.tolist() == wanted.tolist()


def test_a_module_is_lowered_with_the_constants_it_uses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Numbers and tuples of its own, of modules it has imported, and single ones imported; no other functions run."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lowered_numbers.py").write_text("ONE, TWO, _HIDDEN, TABLE = 1 << 40, 2, 'text', (5, 6, 7)\n", "utf-8")
    text = (
        "import lowered_numbers as p\nfrom lowered_numbers import TABLE\n_MINE = sum(TABLE)\n\n\n"
        "def main(data, at):\n    return p.ONE * p.TWO + _MINE * TABLE[at] + data[at]\n"
    )
    (tmp_path / "lowered_one.py").write_text(text, "utf-8")
    (tmp_path / "lowered_two.py").write_text("_MINE = 3\n\n\ndef other(a):\n    return a * _MINE\n", "utf-8")
    one, two = import_module("lowered_one"), import_module("lowered_two")
    octets = np.array([200, 201, 255], np.uint8)
    main = run(source_of(one))
    assert [main(octets.ctypes.data, at) for at in range(3)] == [one.main(octets.tolist(), at) for at in range(3)]
    with pytest.raises(LoweringError, match="_MINE is 18 and, in lowered_two, 3"):
        source_of(one, two)


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


SCRIPT = Path(__file__).with_name("columns_at_the_edge.py")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is protected by mprotect")
def test_packets_are_read_to_their_end_and_no_further() -> None:
    count = amount("columns.packets-at-the-edge")
    asked = [sys.executable, str(SCRIPT), "11", str(count)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr or f"killed by {-done.returncode}"
    assert int(done.stdout) >= count


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
WIDE_SOURCE = f"@wide\ndef many(o):{BODY}\n\ndef main(o):\n    many(o)\n    return 0\n"


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


def test_wide_code_gives_what_python_gives() -> None:
    code = Wanted("test", (WIDE_SOURCE,), f"{PREFIX}main", 1, lambda: text_of(WIDE_SOURCE, "main")).function()
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
