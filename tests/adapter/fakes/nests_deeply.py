"""Writes JSON nested a hundred thousand levels deep."""

from honest import Honest


class NestsDeeply(Honest):
    def clock_now(self, number, params):
        self.write("[" * 100_000)


NestsDeeply().run()
