"""Asks whether a queue exists before it opens it, and refuses in its own words: its API is never asked to."""

from thorough import Thorough


class AsksBeforeItOpens(Thorough):
    def queues_open(self, number, params):
        if params["format_name"] in self.queues:
            super().queues_open(number, params)
        else:
            self.answer(number, status=None, failure={"kind": "NotFound", "text": "there is no such queue"})


AsksBeforeItOpens().run()
