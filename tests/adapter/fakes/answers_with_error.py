"""Answers an MSMQ failure as a JSON-RPC error."""

from honest import Honest


class AnswersWithError(Honest):
    def clock_now(self, number, params):
        self.error(number, -32000, "queue not found")


AnswersWithError().run()
