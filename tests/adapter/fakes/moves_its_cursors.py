"""Moves a cursor on after each removal."""

from thorough import Thorough


class MovesItsCursors(Thorough):
    def messages_receive(self, number, params):
        super().messages_receive(number, params)
        message = self.seek(params) if "cursor" in params else None
        if message is not None:
            self.cursors[params["cursor"]] = [int(message["lookup_identifier"]), True]


MovesItsCursors().run()
