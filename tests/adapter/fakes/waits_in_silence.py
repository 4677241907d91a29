"""Never says that a read waits, and never ends its waiting."""

from honest import Honest


class WaitsInSilence(Honest):
    def read(self, number, params, takes):
        if params["timeout_ms"] == 0:
            super().read(number, params, takes)


WaitsInSilence().run()
