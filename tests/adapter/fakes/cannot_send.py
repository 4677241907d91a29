"""Offers send, and fails every one."""

from honest import Honest


class CannotSend(Honest):
    def messages_send(self, number, params):
        self.answer(number, status=None, failure={"kind": "NotSupported", "text": "read-only"})


CannotSend().run()
