"""Small generated captures, by the generator that the benchmarks use; so much deviates that a few packets tell it."""

from __future__ import annotations

from functools import partial

import corpus
from corpus import Corpus
from corpus_messages import Template

write_corpus = partial(corpus.write_corpus, broken=0.1)

__all__ = ["Captures", "Corpus", "Template", "write_corpus"]


class Captures(list[bytes]):
    """Captures as bytes, which a failing test does not print."""

    def __repr__(self) -> str:
        return f"{len(self)} captures"
