"""Stories of a suite that are told by their names alone, in a test and from a repro file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pytest

from conformance.harness.repro_files import NotRepeatable, verdicts_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions
    from conformance.verdict import Verdict

S = TypeVar("S")
Story: TypeAlias = "Callable[[Port, Recorder], None]"


class Untold(ValueError):
    """The driver did not let a story happen, and nothing is judged; the message is its reason."""


def on(scene: Callable[[Port, Recorder], S], stories: Mapping[str, Callable[[S], None]]) -> Mapping[str, Story]:
    """Return stories that are given a scene as stories that are given the client and the recorder."""

    def run(story: Callable[[S], None], mq: Port, judge: Recorder) -> None:
        story(scene(mq, judge))

    return {name: partial(run, story) for name, story in stories.items()}


@dataclass(frozen=True)
class StoryTable:
    """Stories by name. kind: of their examples in repro files. needs: the methods without which none makes sense."""

    suite: str
    kind: str
    stories: Mapping[str, Story]
    needs: tuple[str, ...] = ()

    def tell(self, name: str, mq: Port, judge: Recorder) -> None:
        """Tell a story. Raises ConformanceFailure, and Untold if the driver does not let it happen."""
        judge.begin_example(self.kind, {"story": name})
        self.stories[name](mq, judge)

    def play(self, name: str, mq: Port, judge: Recorder, mq_need: Any, *needs: str) -> None:
        """Tell a story on a fresh manager, or skip the test. needs: methods instead of those of all stories."""
        mq_need(*(needs or self.needs))
        if mq.offers("reset"):
            mq.call("reset")
        try:
            self.tell(name, mq, judge)
        except Untold as nothing:
            pytest.skip(str(nothing))

    def rejudge(self, repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
        """Return the verdicts of one example on `client`. Raises NotRepeatable for a repro of another suite."""
        name = str(repro.get("story"))
        if repro.get("kind") != self.kind or name not in self.stories:
            raise NotRepeatable(f"The suite {self.suite} has no story {name[:80]!r}.")
        if client.offers("reset"):
            client.call("reset")
        try:
            return verdicts_of(options, partial(self.tell, name, client))
        except Untold as nothing:
            raise NotRepeatable(f"The example cannot be run: {nothing}.") from None
