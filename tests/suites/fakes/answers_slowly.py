"""Takes half a second for each answer but the first ones, and refuses every send. Notes each call in a file.

Its argument names the file.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from honest import BAD_HANDLE, Honest

AT_ONCE = 10


class AnswersSlowly(Honest):
    def answer(self, number, **result) -> None:
        time.sleep(0.5 if number > AT_ONCE else 0)
        with Path(sys.argv[1]).open("a") as calls:
            calls.write(f"{number}\n")
        super().answer(number, **result)

    def messages_send(self, number, params) -> None:
        self.answer(number, status=BAD_HANDLE)


AnswersSlowly().run()
