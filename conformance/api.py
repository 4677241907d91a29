"""The Python API: what the commands do, as functions. `import conformance` offers all names of this module, lazily."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.adapter.errors import AdapterError
from conformance.asking import BadInput, check_chosen, check_words
from conformance.asking import RunResult as Run
from conformance.judge.packets import judge_packet as judge_by_rules
from conformance.rejudge import judge_again
from conformance.replay.recorded import replay_captures as replay
from conformance.run import run
from conformance.runlog import read_run
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
    """Verdicts on one packet, passes among them, for each rule that applies to it; none for what no rule speaks of.

    packet: the bytes of the whole packet, or the path of a file that holds nothing else. cut: the bytes may end too
    early, because whoever recorded them did not keep all. The other words are those of `run`.

    Raises BadInput for a word that names nothing and a file that cannot be read; never for what the bytes are.
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
        raise BadInput(f"{path} has more than {MAX_PACKET >> 20} MiB: it is no packet.")
    return data
