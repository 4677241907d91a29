"""Makes a queue that is opened and not there."""

from thorough import Thorough


class MakesWhatItOpens(Thorough):
    def queues_open(self, number, params):
        self.queues.setdefault(params["format_name"], [])
        super().queues_open(number, params)


MakesWhatItOpens().run()
