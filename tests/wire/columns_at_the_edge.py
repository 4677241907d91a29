"""Decodes packets that end where memory ends: a read beyond one of them kills this process.

Run by `test_columns_edges.py`; it prints how many packets it decoded.
"""

from __future__ import annotations

import ctypes
import mmap
import random
import sys

import numpy as np
from columns_packets import changed, of_fuzzing, of_rules

from conformance.judge.columns import column_judge
from conformance.wire.columns.packets import shapes_and_code

ROOM = 1 << 18


def main() -> None:
    # Everything at once: all rules, and every key there is.
    judge = column_judge((*shapes_and_code()[0].places, "MessagePropertiesHeader.Label#"))
    area = mmap.mmap(-1, ROOM + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    if protect(ctypes.c_void_p(start + ROOM), ctypes.c_size_t(mmap.PAGESIZE), 0) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
    buffer = np.frombuffer(area, np.uint8, ROOM)
    chunk, counts = judge.chunk(1), judge.counts(1 << 12)
    chance, done = random.Random(int(sys.argv[1])), 0
    pool = [data for data in of_rules() + of_fuzzing() if len(data) < ROOM // 2]
    packets = pool + [changed(chance.choice(pool), chance) for _ in range(int(sys.argv[2]))]
    for data in packets:
        buffer[ROOM - len(data) :] = np.frombuffer(data, np.uint8)
        chunk.offsets[0], chunk.lengths[0] = ROOM - len(data), len(data)
        chunk.transport[0] = len(data) % 7 == 0
        judge.judge(buffer, chunk, 1, counts)
        done += 1
    print(done, flush=True)
    del buffer


if __name__ == "__main__":
    main()
