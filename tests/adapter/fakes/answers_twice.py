"""Answers a request two times."""

from honest import Honest


class AnswersTwice(Honest):
    def clock_now(self, number, params):
        super().clock_now(number, params)
        super().clock_now(number, params)


AnswersTwice().run()
