"""Forgets a transaction at its end, and refuses a second end in its own words: its API is never asked to."""

from thorough import Thorough


class DisposesOfWhatItEnded(Thorough):
    def transactions_commit(self, number, params):
        if params["transaction"] not in self.begun:
            self.answer(number, status=None, failure={"kind": "NoSuchHandle", "text": "there is no such transaction"})
            return
        super().transactions_commit(number, params)
        del self.begun[params["transaction"]]


DisposesOfWhatItEnded().run()
