"""Prints a debug line on stdout in the middle of a run."""

from honest import Honest


class PrintsGarbage(Honest):
    def clock_now(self, number, params):
        print("DEBUG now called")
        super().clock_now(number, params)


PrintsGarbage().run()
