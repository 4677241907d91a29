"""The port to an implementation: the protocol, the processes that speak it, and the client the suites call."""
