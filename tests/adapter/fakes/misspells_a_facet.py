"""Offers a method under a name the protocol lacks."""

import honest

honest.FACETS["messages"] = ["send", "receive", "peak", "cancel"]
honest.Honest().run()
