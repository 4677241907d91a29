"""Judges structures that implementations write and read (MS-MQMQ 2.2, MS-MQMP 2.2.3.2), member by member."""
