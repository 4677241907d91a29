"""One session in the files of a rotated recording, named as the programs that rotate name them."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import build_captures
from record_edits import records_of

PARTS = 12


def parts() -> list[bytes]:
    """The session in twelve files, in the order of recording."""
    head, records = records_of(build_captures.consistent_session().pcap())
    size = -(-len(records) // PARTS)
    return [head + b"".join(records[at * size : (at + 1) * size]) for at in range(PARTS)]


LOGROTATE = [*(f"cap.pcap.{11 - at}" for at in range(11)), "cap.pcap"]
COUNTED = ["cap.pcap", *(f"cap.pcap{at}" for at in range(1, PARTS))]
DOTTED = [f"cap.pcap.{at}" for at in range(PARTS)]
TIMED = [f"timed_dumps.{1_700_000_000 + 10 * at}" for at in range(PARTS)]
DATED = [f"cap-2023-11-14_22:13:{at:02}.pcap" for at in range(PARTS)]
SETS = {"logrotate": LOGROTATE, "counted": COUNTED, "dotted": DOTTED, "timed": TIMED, "dated": DATED}


def write(folder: Path, names: Sequence[str], packed: Sequence[int] = ()) -> list[str]:
    """Write the files; return their paths in the order of recording. packed: places of those that are compressed."""
    folder.mkdir()
    out = []
    for at, (name, content) in enumerate(zip(names, parts(), strict=True)):
        path = folder / (f"{name}.gz" if at in packed else name)
        path.write_bytes(gzip.compress(content) if at in packed else content)
        out.append(str(path))
    return out
