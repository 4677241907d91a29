"""Takes a tenth of a second for each answer and refuses every send. Notes each call in the file its argument names."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from honest import BAD_HANDLE, Honest


class AnswersSlowly(Honest):
    def answer(self, number, **result) -> None:
        time.sleep(0.1)
        with Path(sys.argv[1]).open("a") as calls:
            calls.write(f"{number}\n")
        super().answer(number, **result)

    def messages_send(self, number, params) -> None:
        self.answer(number, status=BAD_HANDLE)


AnswersSlowly().run()
