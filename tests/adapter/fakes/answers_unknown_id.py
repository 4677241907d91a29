"""Answers a request that was never made."""

from honest import Honest


class AnswersUnknownId(Honest):
    def clock_now(self, number, params):
        super().clock_now(number + 1000, params)


AnswersUnknownId().run()
