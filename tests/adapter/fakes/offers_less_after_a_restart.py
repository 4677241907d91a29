"""Offers fewer methods once it finds its state folder used."""

import honest
from honest import Honest


class OffersLess(Honest):
    def hello(self, number, params):
        used = self.state / params["state_dir"] / "used"
        if used.exists():
            honest.FACETS = {**honest.FACETS, "messages": ["send"]}
        used.touch()
        super().hello(number, params)


OffersLess().run()
