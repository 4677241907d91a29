"""Answers hello with a failure."""

from honest import Honest


class RefusesHello(Honest):
    def hello(self, number, params):
        super().answer(number, status=None, failure={"kind": "LicenseError", "text": "the evaluation period is over"})


RefusesHello().run()
