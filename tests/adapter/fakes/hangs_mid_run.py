"""Stops answering in the middle of a run, and answers late if it is let live."""

import time

from honest import Honest


class HangsMidRun(Honest):
    def clock_now(self, number, params):
        time.sleep(60)
        super().clock_now(number, params)


HangsMidRun().run()
