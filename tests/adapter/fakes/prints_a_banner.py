"""Greets the user on stdout before it speaks the protocol."""

from honest import Honest

print("ExampleMQ 2.3 ready.")
Honest().run()
