"""No defect: of protocol 1.0, where a failure of the kind NotExpressible is one like any other."""

from honest import Honest


class OldAndWordy(Honest):
    def messages_peek(self, number, params):
        self.answer(number, status=None, failure={"kind": "NotExpressible", "text": "no peeks here"})


OldAndWordy().run()
