"""Errors of a lake, of Spark or of what they need: one sentence each, with the exit code."""

from __future__ import annotations

from conformance.verdict import ExitCode


class PipelineError(Exception):
    """A sentence that says whose fault it is and what to do. code: the exit code of the command."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code
