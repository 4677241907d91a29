"""Rolls a transaction back when a queue that it sent to is closed."""

from thorough import Thorough


class EndsTransactionsWithTheirQueue(Thorough):
    def queues_close(self, number, params):
        for name, sends in self.begun.items():
            if any(queue == params["queue"] for queue, _, _ in sends or ()):
                self.begun[name] = None
        super().queues_close(number, params)


EndsTransactionsWithTheirQueue().run()
