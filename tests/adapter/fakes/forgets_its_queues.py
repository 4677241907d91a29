"""Keeps nothing in its state folder."""

from honest import Honest


class ForgetsItsQueues(Honest):
    def save(self):
        pass


ForgetsItsQueues().run()
