"""The Python API: the commands as functions. `import conformance` offers every name of this module, lazily."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.adapter.errors import AdapterError
from conformance.captures.replay_run import replay_captures as replay
from conformance.command_options import BadInput, check_chosen, check_words
from conformance.command_options import RunResult as Run
from conformance.judge.packets.judge import judge_packet as judge_by_rules
from conformance.rejudge import judge_again
from conformance.report.records import read_run
from conformance.run import run
from conformance.spec.catalogue import assignment
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome, Verdict

__all__ = [
    "AdapterError",
    "BadInput",
    "Outcome",
    "Run",
    "Verdict",
    "judge_again",
    "judge_packet",
    "read_run",
    "replay",
    "run",
]

MAX_PACKET = 64 << 20


def judge_packet(
    packet: bytes | bytearray | memoryview | str | Path,
    *,
    profile: str | None = None,
    level: str = "must",
    readings: str = "windows",
    chosen: Sequence[str] = (),
    cut: bool = False,
) -> list[Verdict]:
    """Judge one packet. Returns the verdicts, passes included, of every rule that applies; none if no rule applies.

    packet: the bytes of the whole packet, or the path of a file with exactly these bytes. cut: the bytes may end too
    early, because the recorder did not keep all of them. The other arguments are those of `run`.

    Raises BadInput for an unknown name and for a file that cannot be read, never for the content of the bytes.
    """
    check_words(profile=profile, level=level, readings=readings)
    return judge_by_rules(
        _bytes(packet) if isinstance(packet, (str, Path)) else bytes(packet),
        profile=profile or DEFAULT_PROFILE,
        readings=assignment(readings, check_chosen(chosen)),
        transport="tcp" if cut else "buffer",
        level=level,
    )


def _bytes(path: str | Path) -> bytes:
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_PACKET + 1)
    except (OSError, ValueError) as error:
        raise BadInput(f"The packet {path} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if len(data) > MAX_PACKET:
        raise BadInput(f"{path} has more than {MAX_PACKET >> 20} MiB: it is not a packet.")
    return data
