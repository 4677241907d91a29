"""Receives the second message in place of the first, but only once its folder has been used by another process."""

from pathlib import Path
from typing import Any

from conformance.embedded.driver import EmbeddedDriver


class DeviatesAfterRestart(EmbeddedDriver):
    def __init__(self, state_dir: str | Path | None = None, *given: Any, **named: Any) -> None:
        mark = Path(str(state_dir)) / "ran-before"
        faults = ("receive-returns-second-message",) if mark.exists() else ()
        super().__init__(state_dir, faults, **named)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
