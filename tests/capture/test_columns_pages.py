"""Pages of a capture are mapped ahead of the walk: each once, as far as is asked, and only what is in memory."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np

from conformance.capture.columns.reader import STEP, Pages

SIZE = 3 * STEP + 12345


class Noting(mmap.mmap):
    """Notes what is asked to be mapped."""

    asked: list[tuple[int, int]]

    def madvise(self, option: int, start: int = 0, length: int = 0) -> None:  # type: ignore[override]
        self.asked.append((start, start + length))
        super().madvise(option, start, length)


def mapped(path: Path) -> tuple[Noting, Pages]:
    path.write_bytes(bytes(SIZE))
    with path.open("rb") as file:
        found = Noting(file.fileno(), 0, access=mmap.ACCESS_READ)
    found.asked = []
    return found, Pages(found, np.frombuffer(found, np.uint8).ctypes.data)


def test_each_page_is_asked_for_once(tmp_path: Path) -> None:
    file, pages = mapped(tmp_path / "file")
    for position in range(24, SIZE, 1_000_003):
        pages.reach(position, SIZE)
        assert file.asked[-1][1] == SIZE or file.asked[-1][1] >= position + STEP // 2, position
    ends = [end for _, end in file.asked]
    assert [start for start, _ in file.asked] == [0, *ends[:-1]]
    assert ends[-1] == SIZE


def test_a_range_of_a_file_is_all_that_is_asked_for(tmp_path: Path) -> None:
    file, pages = mapped(tmp_path / "file")
    start, stop = 2 * STEP + 77, 2 * STEP + 5 * mmap.PAGESIZE
    pages.reach(start, stop)
    pages.reach(stop, stop)
    assert file.asked == [(2 * STEP, stop)]


def test_what_is_on_the_disk_alone_is_left_to_be_read_when_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.truncate(tmp_path / "file", SIZE)  # A hole that nobody has read.
    with (tmp_path / "file").open("rb") as sparse:
        file = Noting(sparse.fileno(), 0, access=mmap.ACCESS_READ)
    file.asked = []
    Pages(file, np.frombuffer(file, np.uint8).ctypes.data).reach(STEP, SIZE)
    assert file.asked == []
