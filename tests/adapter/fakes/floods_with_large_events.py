"""Writes events of half a megabyte, a thousand of them."""

from honest import Honest


class FloodsWithLargeEvents(Honest):
    def clock_now(self, number, params):
        event = '{"jsonrpc":"2.0","method":"event","params":{"object":"o1","name":"Arrived","arguments":["%s"]}}'
        for _ in range(1000):
            self.write(event % ("x" * 500_000))


FloodsWithLargeEvents().run()
