"""A small client of the embedded driver, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.embedded.driver import EmbeddedDriver

NAME = "DIRECT=OS:HOST\\private$\\q"


class Talk:
    """Calls of the embedded driver; a blocked call is a list that is empty until it is answered."""

    def __init__(self, state_dir: Path, faults: Sequence[str] = (), **options: Any) -> None:
        self.state_dir, self.faults, self.options = state_dir, faults, options
        self.driver = EmbeddedDriver(state_dir, faults, **options)

    def start(self, method: str, **params: Any) -> list[dict[str, Any]]:
        """Start a call; the list gets its one answer. A read that waits must have said so."""
        answers: list[dict[str, Any]] = []
        waits: list[bool] = []
        self.driver.handle(method, params, answers.append, lambda: waits.append(True))
        assert len(answers) + len(waits) == 1
        return answers

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        """A call that is answered at once."""
        [answer] = self.start(method, **params)
        return answer

    def ok(self, method: str, **params: Any) -> dict[str, Any]:
        answer = self(method, **params)
        assert answer["status"] == 0, f"{method}: 0x{answer['status']:08X}"
        return answer

    def queue(self, name: str = "private$\\q", **properties: Any) -> tuple[str, str]:
        """A new queue, open for send and for receive."""
        made = self.ok("queues.create", path_name=f"HOST\\{name}", properties=properties)["format_name"]
        return self.open(made, "send"), self.open(made, "receive")

    def open(self, format_name: str = NAME, access: str = "receive", **more: Any) -> str:
        return str(self.ok("queues.open", format_name=format_name, access=access, **more)["queue"])

    def send(self, queue: str, label: str, transaction: str | None = None, **message: Any) -> dict[str, Any]:
        return self.ok("messages.send", queue=queue, message={"label": label, **message}, transaction=transaction)

    def receive(self, queue: str, **more: Any) -> str:
        return str(self.ok("messages.receive", queue=queue, timeout_ms=0, **more)["message"]["label"])

    def drain(self, queue: str) -> list[str]:
        """The labels of all available messages, taken out in order."""
        labels = []
        while (answer := self("messages.receive", queue=queue, timeout_ms=0))["status"] == 0:
            labels.append(answer["message"]["label"])
        return labels

    def begin(self) -> str:
        return str(self.ok("transactions.begin")["transaction"])
