"""Management of machine, queues and outgoing queues: MS-MQMQ 2.3.11-12, MS-MQDMPR 3.1.1.3-5 and 3.1.4.12-15."""
