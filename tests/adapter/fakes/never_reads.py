"""Says hello, and then never reads its input again."""

import time

from honest import Honest


class NeverReads(Honest):
    def hello(self, number, params):
        super().hello(number, params)
        time.sleep(60)


NeverReads().run()
