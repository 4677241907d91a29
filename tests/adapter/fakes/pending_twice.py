"""Says of one request twice that it waits."""

from honest import Honest


class PendingTwice(Honest):
    def clock_now(self, number, params):
        for _ in range(2):
            self.write('{"jsonrpc":"2.0","method":"pending","params":{"id":' + str(number) + "}}")


PendingTwice().run()
