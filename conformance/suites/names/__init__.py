"""Suite `names`: queue names are taken apart, and refused, as MS-MQMQ 2.1 says."""
