"""Tells what of the input a command leaves out: files of a folder, packets behind a filter, rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.capture.inputs import LeftOut


@dataclass(frozen=True, slots=True)
class NotJudged:
    """What is left out. packets: those that a filter does not select, and all. option: what leaves out rules."""

    files: LeftOut = field(default_factory=LeftOut)
    packets: tuple[int, int] | None = None
    option: str | None = None

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each."""
        if self.files.sentence is not None:
            yield self.files.sentence
        if self.packets is not None:
            yield f"The filter leaves out {self.packets[0]:,} of {self.packets[1]:,} packets."
        if rules := self._rules():
            alone = [one for one, checked in rules.items() if checked == "packet"]
            told = f"{self.option} leaves out {len(rules)} requirements that the rules of connections judge"
            yield f"{told}, {len(alone)} of them on single packets: {', '.join(alone)}."

    def to_json(self) -> dict[str, Any]:
        """Return it as `--json` prints it."""
        files = {"count": self.files.count, "names": self.files.names}
        return {"files": files, "packets": self.packets and self.packets[0], "rules": list(self._rules())}

    def _rules(self) -> dict[str, str]:
        """Return the requirements that no rule on single packets judges, each with how it is checked."""
        if self.option is None:
            return {}
        from conformance.judge.packets.judge import RULES
        from conformance.judge.sessions.mutations import MUTATIONS
        from conformance.spec.catalogue import catalogue

        ids = {name.partition("/")[0] for name in MUTATIONS} - {rule.id.partition("/")[0] for rule in RULES}
        return {one: catalogue().requirements[one].checked for one in sorted(ids)}
