"""Queues on other computers, paused and resumed: MS-MQDMPR 3.1.1.3, 3.1.4.14-15, 3.1.7.2.3-4 and 3.1.7.3.9."""
