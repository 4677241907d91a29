"""After a restart on the same folder, reads never answer: a transaction of the dead process waits for its own lock."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.embedded.driver import EmbeddedDriver


class HangsAfterRestart(EmbeddedDriver):
    def __init__(self, state_dir: str | Path | None = None, *given: Any, **named: Any) -> None:
        super().__init__(state_dir, *given, **named)
        mark = Path(str(state_dir)) / "ran-before"
        self.second = mark.exists()
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()

    def handle(
        self,
        method: str,
        params: dict[str, Any],
        reply: Callable[[Any], None],
        pending: Callable[[], None] = lambda: None,
        *,
        request: int | None = None,
    ) -> None:
        if self.second and method in ("messages.receive", "messages.peek"):
            time.sleep(3600)
        super().handle(method, params, reply, pending, request=request)
