"""Writes its state in place and slowly, so that a kill leaves half of it, and crashes in hello after that, for ever."""

import json
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def save(self):
        text = json.dumps([self.last, self.queues])
        with self.file().open("w") as file:
            for part in range(0, len(text), 64):
                file.write(text[part:part + 64])
                file.flush()
                time.sleep(0.0005)

    def load(self):
        if self.file().exists():
            self.last, self.queues = json.loads(self.file().read_text())


Hostile().run()
