"""Says pending in one order and serves waiting reads in the other."""

from honest import Honest


class ServesTheLastReader(Honest):
    def messages_send(self, number, params):
        self.waiting.reverse()
        super().messages_send(number, params)
        self.waiting.reverse()


ServesTheLastReader().run()
