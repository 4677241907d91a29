"""Which readings an implementation follows: every alternative is allowed, and what is seen rules alternatives out."""
