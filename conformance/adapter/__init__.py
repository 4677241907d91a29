"""The port to implementations: the adapter protocol, driver processes, and the client that suites call."""
