"""Journals, dead-letter queues, acknowledgments and times to be received: MS-MQDMPR 3.1.1.12, 3.1.2.4, 3.1.7.2."""
