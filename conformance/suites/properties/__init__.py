"""Properties of queues, and attributes of messages, through calls (MS-MQMQ 2.3.1, MS-MQDMPR 3.1.1.2 and 3.1.1.12)."""
