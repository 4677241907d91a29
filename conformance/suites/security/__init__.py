"""Rights and security descriptors: MS-MQMQ 2.2.3, 2.2.23, 2.2.24, MS-MQDMPR 3.1.7.1.3.1, MS-MQMP 3.1.4.6, 3.1.4.7."""
