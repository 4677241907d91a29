"""What can go wrong with a lake, Spark or what they need: one sentence each, with the exit code it asks for."""

from __future__ import annotations

from conformance.verdict import ExitCode


class PipelineError(Exception):
    """A sentence that names whose fault it is and what to do. code: what the command ends with."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code
