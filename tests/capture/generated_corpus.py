"""Small generated captures, by the generator that the benchmarks use."""

from __future__ import annotations

from corpus import Corpus, write_corpus
from corpus_messages import Template

__all__ = ["Captures", "Corpus", "Template", "write_corpus"]


class Captures(list[bytes]):
    """Captures as bytes, which a failing test does not print."""

    def __repr__(self) -> str:
        return f"{len(self)} captures"
