"""Answers protocol 1.0, and `accepts`, which that version lacks."""

from takes_little import TakesLittle


class OldAndParticular(TakesLittle):
    version = "1.0"


OldAndParticular().run()
