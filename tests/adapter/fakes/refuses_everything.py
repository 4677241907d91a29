"""Answers every call with MQ_ERROR, whatever the call."""

from expresses_nothing import ExpressesNothing


class RefusesEverything(ExpressesNothing):
    def refuse(self, number, method) -> None:
        self.answer(number, status=0xC00E0001)


RefusesEverything().run()
