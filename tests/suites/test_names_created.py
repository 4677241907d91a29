"""A queue is created and opened under valid names at their limits, and found after a kill however they are spelled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from late_stores import Stored

from conformance.adapter.client import Client
from conformance.harness.guarded_client import GuardedClient
from conformance.judge.names import PERSISTENT
from conformance.suites.names.checks import create_and_open, create_restart_open
from conformance.verdict import Outcome, Verdict

LENGTH = "MQMQ-2.1.1.queue-name-length"


class ForgetsCapitals(Stored):
    """A queue is stored only if its path name has `private$` in small letters."""

    def handle(self, method: str, params: Any, *rest: Any, **more: Any) -> None:
        super().handle(method, params, *rest, **more)
        if method == "queues.create" and "\\private$\\" not in params["path_name"]:
            queue = self.manager.queues.find_local(f"DIRECT=OS:{params['path_name']}")
            assert queue is not None
            self.manager.store.drop_queue(queue.id)
            self.manager.store.flush()


def silent(*told: object) -> None:
    """Take a step of a story that nobody reads."""


def failed(verdicts: list[Verdict]) -> list[tuple[str, str]]:
    return [(one.requirement, one.subject) for one in verdicts if one.outcome is Outcome.FAIL]


def test_a_name_that_is_refused_at_its_limit_is_found(opened: Callable[[str], Client]) -> None:
    honest, refuses = (GuardedClient(opened(f"embedded{fault}")) for fault in ("", "+refuses-longest-queue-name"))
    for length in (1, 123, 124):
        path = "HOST\\private$\\" + "q" * length
        assert not failed(create_and_open(path, LENGTH, honest, silent))
        found = failed(create_and_open(path, LENGTH, refuses, silent))
        assert found == ([(LENGTH, f"create {path}")] if length == 124 else [])


def test_a_queue_whose_spelling_is_not_stored_is_found(opened: Callable[[str], Client]) -> None:
    paths = ["HOST\\private$\\a", "HOST\\PRIVATE$\\b"]
    honest, forgets = (
        GuardedClient(opened(f"python:{name}")) for name in ("late_stores:Stored", "test_names_created:ForgetsCapitals")
    )
    assert not failed(create_restart_open(paths, honest, silent))
    assert failed(create_restart_open(paths, forgets, silent)) == [(PERSISTENT, f"open {paths[1]} after a kill")]
