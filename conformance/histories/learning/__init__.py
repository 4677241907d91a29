"""Learn the state machine that an implementation follows, from its answers to words of an abstract alphabet."""
