"""The emitted loop over a chunk of packets, and the modules emitted code is kept in.

A module is written once, in the user's cache folder, under the hash of everything it was made from; numba keeps its
machine code beside it. So another process, and a worker on another core, compiles nothing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from conformance.wire.columns import jit, texts
from conformance.wire.columns.frames import ZEROS
from conformance.wire.columns.packets import Slow, shapes_and_code
from conformance.wire.columns.shapes import Shapes
from conformance.wire.columns.table import ColumnSet, column_set, fill_code

TCP, UDP = 0, 1
"""What `transport` holds of a packet: a stream's, or a datagram's."""
AHEAD = 6
"""Packets whose first bytes are asked for before they are looked at."""
LINES = 4
"""Cache lines asked for of each."""
_HEAD = 2  # int64s before the words of an outcome: how often it was seen, its hash


@dataclass(frozen=True, slots=True)
class Judged:
    """Functions that look at each decoded packet and leave words of bits. calls: mask of sections, function."""

    source: str
    calls: Sequence[tuple[int, str]]
    words: int


@dataclass(frozen=True, slots=True)
class Chunks:
    """A compiled loop. run: see `chunk_code`. shapes, columns: where things are. words: of an outcome."""

    run: Callable[..., int]
    shapes: Shapes
    columns: ColumnSet
    words: int
    path: Path


def chunk_code(shapes: Shapes, judged: Judged, first: int, columns: ColumnSet) -> str:
    """`judge_chunk(buffer, offsets, lengths, transport, n, columns, results, counts, slow)`: how many are slow.

    buffer: uint8. offsets: int64, of each packet in it. lengths: int32, its bytes. transport: uint8, TCP or UDP.
    columns: int64 [columns, at least n], filled when it has rows. results: int32, the number of each packet's outcome,
    -1 for a slow one. counts: int64 [capacity + 1, 2 + words], capacity a power of two: outcome `r` was seen
    counts[r, 0] times and is the words counts[r, 2:]; the last row is the loop's own. slow: uint8, a `Slow`, 0 for a
    packet that was judged.
    """
    slots = shapes.slots
    lines = [
        "@inner",
        "def number_of(o, table, mask, stride):",
        f"    word = get(o, {first})" if judged.words else "    word = 0",
    ]
    for at in range(1, judged.words):
        lines.append(f"    word = (word ^ (word >> 31)) * -0x40A7_B892_E31B_1A47 + get(o, {first + at})")
    lines += [
        "    word = (word ^ (word >> 31)) * -0x6B2F_B644_ECCE_EE15",
        "    word ^= (word >> 32) & 0xFFFF_FFFF",
        "    at = word & mask",
        "    while True:",
        "        row = table + 8 * stride * at",
        "        if get(row, 0) == 0:",
        "            own = table + 8 * stride * (mask + 1)",
        "            if get(own, 0) * 4 > mask * 3:",
        "                return -1",
        "            put(own, 0, get(own, 0) + 1)",
        "            put(row, 1, word)",
        *(f"            put(row, {_HEAD + at}, get(o, {first + at}))" for at in range(judged.words)),
        "            return at",
        "        if get(row, 1) == word:",
        "            same = 0",
        *(f"            same |= get(row, {_HEAD + at}) ^ get(o, {first + at})" for at in range(judged.words)),
        "            if same == 0:",
        "                return at",
        "        at = (at + 1) & mask",
        "",
        "",
        "@kernel",
        "def judge_chunk(buffer, offsets, lengths, transport, n, columns, results, counts, slow):",
        f"    scratch = np.zeros({first + judged.words + ZEROS // 8}, np.int64)",
        "    base = buffer.ctypes.data",
        "    o = scratch.ctypes.data",
        f"    z = o + {8 * (first + judged.words)}",
        "    table = counts.ctypes.data",
        "    mask = counts.shape[0] - 2",
        "    stride = counts.shape[1]",
        "    c = columns.ctypes.data",
        "    s = 8 * columns.shape[1]",
        "    want = columns.shape[0] != 0",
        "    left_out = 0",
        "    for i in range(n):",
        f"        if i + {AHEAD} < n:",
        f"            ahead = base + offsets[i + {AHEAD}]",
        *(f"            prefetch(ahead + {64 * at})" for at in range(LINES)),
        "        p = base + offsets[i]",
        f"        have = decode(p, np.int64(lengths[i]), 1 if transport[i] == {UDP} else 0, o)",
        "        if have < 0:",
        "            slow[i] = -have",
        "            results[i] = -1",
        "            left_out += 1",
        "            continue",
        *(["        judge(p, o, have, z)"] if judged.words else []),
        "        number = -1",
        f"        why = {Slow.LETTERS:d}",
        f"        if get(o, {slots['Packet.letters']}) == 0:",
        f"            why = {Slow.CROWDED:d}",
        "            number = number_of(o, table, mask, stride)",
        "        if number < 0:",
        "            slow[i] = why",
        "            results[i] = -1",
        "            left_out += 1",
        "            continue",
        "        counts[number, 0] += 1",
        "        slow[i] = 0",
        "        results[i] = number",
        "        if want:",
        "            fill(p, o, have, z, offsets[i], c + 8 * i, s)",
        "    scratch[0] = 0  # the scratch is used until here, whatever is known of addresses",
        "    return left_out",
        "",
    ]
    return "\n".join([fill_code(shapes, columns), "", "", *lines])


def judge_code(judged: Judged, first: int) -> str:
    """`judge(p, o, have, z)`: the words of the outcome of a decoded packet, from `first` on."""
    lines = [
        "@kernel",
        "def judge(p, o, have, z):",
        *(f"    put(o, {first + at}, 0)" for at in range(judged.words)),
    ]
    for sections, name in judged.calls:
        lines += [f"    if have & {sections:#x} == {sections:#x}:", f"        {name}(p, o, have, z)"]
    return "\n".join([judged.source, "", "", *lines, "    return 0", ""])


def chunks(keys: Sequence[str], judging: Callable[[Shapes, int], Judged]) -> Chunks:
    """The compiled loop for these columns and these judges; compiled at the first call of `run` of any process.

    judging: of the places and the slot its words begin at, the functions that judge.
    """
    shapes, code = shapes_and_code()
    first = len(shapes.slots)
    judged = judging(shapes, first)
    columns = column_set(shapes, keys)
    imports = [f"from {emitted('decode', code).__name__} import decode"]
    if judged.words:
        imports.append(f"from {emitted('judge', judge_code(judged, first)).__name__} import judge")
    loop = emitted("chunks", chunk_code(shapes, judged, first, columns), imports)
    return Chunks(loop.judge_chunk, shapes, columns, judged.words, Path(str(loop.__file__)))


_TITLE = '"""Emitted from the layout tables and the packet rules. Not to be edited."""\n'
_IMPORTS = """import numpy as np

from conformance.wire.columns.jit import get, inner, kernel, prefetch, put, select, u8, u16, u32, u64
from conformance.wire.columns.texts import has_nul, inner_nul, mixed, nul_at, shown, terminated
"""


def emitted(name: str, code: str, imports: Sequence[str] = ()) -> ModuleType:
    """The module of this source, written to the cache unless it is there. imports: of other emitted modules."""
    import llvmlite
    import numba

    source = "\n".join([_TITLE, _IMPORTS, *imports, "", "", code, ""])
    parts = [sys.version, numba.__version__, llvmlite.__version__, source]
    parts += [Path(str(one.__file__)).read_text("utf-8") for one in (jit, texts)]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    full = f"conformance_{name}_{key}"
    found = sys.modules.get(full)
    if found is not None:
        return found
    path = _written(full, source)
    spec = importlib.util.spec_from_file_location(full, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    return module


def _written(name: str, source: str) -> Path:
    """The file of a module; another process may write the same at the same time, and either is right."""
    from platformdirs import user_cache_path

    folder = Path(os.environ.get("MQ_CACHE_DIR") or user_cache_path("mqconform")) / "columns"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.py"
        if not path.is_file():
            _replace(path, source)
    except OSError:
        # No cache folder to write to: the code is compiled again in each process.
        path = Path(tempfile.mkdtemp(prefix="mqconform-")) / f"{name}.py"
        path.write_text(source, "utf-8")
    return path


def _replace(path: Path, source: str) -> None:
    number, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(source)
    Path(part).replace(path)


def kept(made: Chunks) -> bool:
    """Whether the machine code of a loop is on disk already."""
    return any(made.path.parent.glob(f"__pycache__/{made.path.stem}.*.nbi"))
