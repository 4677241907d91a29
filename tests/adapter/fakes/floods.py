"""Writes events without end."""

from honest import Honest


class Floods(Honest):
    def clock_now(self, number, params):
        while True:
            self.write('{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"Arrived"}}')


Floods().run()
