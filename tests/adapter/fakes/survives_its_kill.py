"""Is killed without its queue manager: what was in memory is there after it."""

from thorough import Thorough


class SurvivesItsKill(Thorough):
    def survives(self, message):
        return True


SurvivesItsKill().run()
