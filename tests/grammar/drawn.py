"""Texts to ask several parsers about: of a rule, and just outside it, each once."""

from __future__ import annotations

from conformance.grammar.automaton import Dfa
from tools.grammar_walks import generate, mutations

FEW, PATIENCE = 10, 3  # so many batches in a row that bring fewer new texts: the rule is small, and almost drawn
BATCH = 500


def drawn(rule: Dfa, count: int, *, length: int = 300) -> tuple[list[str], list[str]]:
    """Distinct texts, half of `count` each: of the rule, and not of it but one edit away from one.

    Fewer of a kind where the rule is so small that no more are found, such as one of a single character.
    """
    wanted = count // 2
    inside: dict[str, None] = {}
    outside: dict[str, None] = {}
    idle = seed = 0
    while idle < PATIENCE and (len(inside) < wanted or len(outside) < wanted):
        before = len(inside) + len(outside)
        for at, text in enumerate(generate(rule, count=min(BATCH, wanted), seed=seed, length=length)):
            if len(inside) < wanted:
                inside[text] = None
            if len(outside) < wanted:
                for other in mutations(text, count=2, seed=seed * BATCH + at):
                    if not rule.accepts(other):
                        outside[other] = None
        idle = idle + 1 if len(inside) + len(outside) < before + FEW else 0
        seed += 1
    return list(inside), list(outside)[:wanted]
