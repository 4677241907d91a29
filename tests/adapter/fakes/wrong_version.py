"""Chooses a protocol version that was not offered."""

from honest import Honest


class WrongVersion(Honest):
    def answer(self, number, **result):
        super().answer(number, **{**result, **({"protocol": "9.0"} if "protocol" in result else {})})


WrongVersion().run()
