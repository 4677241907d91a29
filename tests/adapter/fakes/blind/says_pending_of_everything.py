"""Says pending of each request, ten times, of requests that are long answered, and of ones that never were."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        for other in [number] * 10 + [number - 1, number + 5, 0, -1, 2**64]:
            if self.asked > 5:
                self.line(method="pending", params={"id": other})

    def after(self, number, name, result):
        self.line(id=number, result=result)
        self.line(method="pending", params={"id": number})


Hostile().run()
