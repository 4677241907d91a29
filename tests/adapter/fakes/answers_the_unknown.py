"""Answers success to a method nobody knows."""

from honest import Honest


class AnswersTheUnknown(Honest):
    def error(self, number, code, text):
        self.answer(number)


AnswersTheUnknown().run()
