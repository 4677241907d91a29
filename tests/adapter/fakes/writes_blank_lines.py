"""Does not read its second request, and writes blank lines meanwhile."""

from honest import Honest


class WritesBlankLines(Honest):
    def hello(self, number, params):
        super().hello(number, params)
        for _ in range(20_000):
            self.write("\n" * 1000)


WritesBlankLines().run()
