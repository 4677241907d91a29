"""Sessions: dialogues with a queue manager on its network, judged by rules of captures and by what must be answered."""
