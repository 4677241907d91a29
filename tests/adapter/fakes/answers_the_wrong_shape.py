"""Answers success without the member a success must have."""

from honest import Honest


class AnswersTheWrongShape(Honest):
    def clock_now(self, number, params):
        self.answer(number)


AnswersTheWrongShape().run()
