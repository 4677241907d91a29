"""`mqconform replay`."""

from __future__ import annotations

from pathlib import Path


def command(
    captures: list[Path], *, profile: str | None, level: str, readings: str, out: Path | None, json: bool
) -> None:
    """Judge captures, print a line a packet and the summary, end with the exit code."""
    raise SystemExit(f"{captures} {profile} {level} {readings} {out} {json}")
