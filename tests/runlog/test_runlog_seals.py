"""Seals: a flipped bit, and a line that is gone, doubled or moved, never pass unseen; what was cut off is told."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from conformance.runlog import Header, RunRecordError, RunWriter, StoryStep, read_run
from conformance.runlog.events import PacketLine
from conformance.verdict import Outcome, Verdict

HEADER = Header(run_id="r1", connector="embedded", readings={"R-MQDMPR-seek-from-head": ("head", "tail")})
FAIL = Verdict("MQDMPR-3.2.7.3.illegal-cursor-action", Outcome.FAIL, "peek_next", expected=1, actual="J*J*J*")
FLIPS = 250


def write(folder: Path, worker: str = "main", verdicts: int = 12) -> Path:
    with RunWriter(folder, worker) as writer:
        writer.header(HEADER)
        for number in range(verdicts):
            ref = writer.verdict(FAIL, suite="cursors", test=f"t::{number}", count=number + 1)
            writer.story(ref, [StoryStep("open"), StoryStep("peek", {"method": "m"}, {"status": number})])
            writer.packet(PacketLine(number, 12.5, "a -> b", "user message", "q1", Outcome.PASS))
        writer.footer("completed", stateful_steps=10, steps_per_second=5.0, examples=3)
    return writer.path


def seen(folder: Path) -> bool:
    """Whether a reader notices that something is wrong."""
    try:
        return not read_run(folder).complete
    except RunRecordError as error:
        assert "\n" not in str(error)
        return True


def test_no_flipped_bit_passes_unseen(tmp_path: Path) -> None:
    part = write(tmp_path)
    whole = part.read_bytes()
    draw = random.Random(14)
    # Besides those drawn: bits of the header, of the footer and of every line end.
    ends = [at for at, byte in enumerate(whole) if byte == 0x0A]
    chosen = [draw.randrange(len(whole) * 8) for _ in range(FLIPS)]
    chosen += [draw.randrange(whole.index(b"\n") * 8) for _ in range(FLIPS // 5)]
    chosen += [draw.randrange(ends[-2] * 8, len(whole) * 8) for _ in range(FLIPS // 5)]
    chosen += [at * 8 + bit for at in (ends[0], ends[len(ends) // 2], ends[-2], ends[-1]) for bit in range(8)]
    assert not seen(tmp_path)
    for at in chosen:
        changed = bytearray(whole)
        changed[at // 8] ^= 1 << at % 8
        part.write_bytes(changed)
        assert seen(tmp_path), at


def test_a_line_that_is_gone_doubled_or_moved_is_told_with_its_number(tmp_path: Path) -> None:
    part = write(tmp_path)
    lines = part.read_bytes().splitlines(keepends=True)
    for at in range(1, len(lines) - 1):
        for changed, number in (
            (lines[:at] + lines[at + 1 :], at + 1),
            (lines[: at + 1] + lines[at:], at + 2),
            ([*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]], at),
            ([*lines[:at], b"\n", *lines[at:]], at + 1),
        ):
            part.write_bytes(b"".join(changed))
            told = "not a header" if number == 1 else f"{part} is damaged in line {number} \\(its checksum"
            with pytest.raises(RunRecordError, match=told):
                read_run(tmp_path)


def test_a_record_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """Anywhere: within a line, and between two."""
    part = write(tmp_path)
    whole = part.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 0x0A]
    for end in (ends[6], ends[6] + 1, ends[7] - 2, ends[7] - 1, ends[-2], len(whole) - 1):
        part.write_bytes(whole[:end])
        run = read_run(tmp_path)
        assert not run.complete and run.footer is None and len(run.problems) == 1 and run.sealed
        assert len(run.verdicts) == whole[:end].rpartition(b"\n")[0].count(b'"event":"verdict"')


def test_what_came_before_the_damage_can_be_read_as_the_sentence_says(tmp_path: Path) -> None:
    part = write(tmp_path)
    lines = part.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join([*lines[:7], lines[7].replace(b"seal", b"zeal"), *lines[8:]]))
    with pytest.raises(RunRecordError, match="head -n 7"):
        read_run(tmp_path)
    part.write_bytes(b"".join(lines[:7]))
    assert len(read_run(tmp_path).verdicts) == 2


def test_a_part_that_is_missing_makes_the_run_incomplete(tmp_path: Path) -> None:
    for worker in ("gw0", "gw1", "main"):
        write(tmp_path, worker)
    assert read_run(tmp_path).complete
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path, content in kept.items():
        path.unlink()
        run = read_run(tmp_path)
        assert not run.complete and run.problems[0].startswith(f"{path.name} is missing")
        path.write_bytes(content)
    assert read_run(tmp_path / "run-gw1.ndjson").complete  # one part, as it was asked for


def test_a_record_without_seals_is_read_and_told_as_unsealed(tmp_path: Path) -> None:
    part = write(tmp_path)
    assert read_run(tmp_path).sealed
    new = {"seal", "sealed", "lines", "chain", "parts"}
    events = [json.loads(line) for line in part.read_bytes().splitlines()]
    bare = [{name: value for name, value in event.items() if name not in new} for event in events]
    part.write_text("".join(json.dumps(event) + "\n" for event in bare))
    run = read_run(tmp_path)
    assert run.complete and not run.sealed and len(run.verdicts) == 12


def test_a_seal_that_the_header_does_not_announce_is_checked_all_the_same(tmp_path: Path) -> None:
    part = write(tmp_path)
    part.write_bytes(part.read_bytes().replace(b'"sealed"', b'"smaled"', 1))
    with pytest.raises(RunRecordError, match="damaged in line 1"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    "line", [b'{"event":"note","at":"x","text":"a","text":"b"}', b'{"event":"x","a":{"b":1,"b":1}}']
)
def test_a_name_that_is_given_twice_is_refused(tmp_path: Path, line: bytes) -> None:
    with (tmp_path / "run-main.ndjson").open("wb") as file:
        header = {"event": "header", "format": 1, "worker": "main", **HEADER.to_json()}
        file.write(json.dumps(header).encode() + b"\n" + line + b"\n")
    with pytest.raises(RunRecordError, match="damaged in line 2"):
        read_run(tmp_path)


@pytest.mark.parametrize("at", [1, 40, 1 << 20], ids=["first-byte", "middle", "all-of-it"])
@pytest.mark.parametrize("kind", ["note", "footer"])
def test_a_line_that_a_signal_interrupted_damages_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, kind: str
) -> None:
    """at: bytes of the line that are written when the signal comes."""
    real = os.write

    def interrupted(fd: int, data: bytes) -> int:
        real(fd, bytes(data)[:at])
        raise KeyboardInterrupt

    with RunWriter(tmp_path) as writer:
        writer.header(HEADER)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(os, "write", interrupted)
            writer.note("so") if kind == "note" else writer.footer("interrupted")
        if kind == "note":
            writer.note("and on")
        writer.footer("interrupted")
    run = read_run(tmp_path)
    assert run.complete and run.footer is not None and run.footer.stop_reason == "interrupted"
    assert [note.text for note in run.notes] == (
        [] if kind == "footer" else ["so", "and on"] if at == 1 << 20 else ["and on"]
    )
