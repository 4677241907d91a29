"""MQMQ-2.2.19.1.transactional-priority-zero is broken.

A message sent in a transaction has priority 0, whatever was asked for.

1. client - [0 to 1]: create transactional queue q1 -> ok
2. client - [2 to 3]: open q1 for send as sA1 -> ok
3. client - [4 to 5]: open q1 for receive as rA1 -> ok
4. client - [6 to 7]: open q1 for send as sB1 -> ok
5. client - [8 to 9]: open q1 for receive as rB1 -> ok
6. client - [10 to 11]: open q1 for send as sC1 -> ok
7. client - [12 to 13]: open q1 for receive as rC1 -> ok
8. client - [14 to 15]: open q1 for send as sD1 -> ok
9. client - [16 to 17]: open q1 for receive as rD1 -> ok
10. client - [18 to 19]: create transactional queue q2 -> ok
11. client - [20 to 21]: open q2 for send as sA2 -> ok
12. client - [22 to 23]: open q2 for receive as rA2 -> ok
13. client - [24 to 25]: open q2 for send as sB2 -> ok
14. client - [26 to 27]: open q2 for receive as rB2 -> ok
15. client - [28 to 29]: open q2 for send as sC2 -> ok
16. client - [30 to 31]: open q2 for receive as rC2 -> ok
17. client - [32 to 33]: open q2 for send as sD2 -> ok
18. client - [34 to 35]: open q2 for receive as rD2 -> ok
19. client - [85 to 86]: open q1 for send as sA1e1 -> ok
20. client - [87 to 88]: open q1 for receive as rA1e1 -> ok
21. client - [89 to 90]: open q1 for send as sB1e1 -> ok
22. client - [91 to 92]: open q1 for receive as rB1e1 -> ok
23. client - [93 to 94]: open q1 for send as sC1e1 -> ok
24. client - [95 to 96]: open q1 for receive as rC1e1 -> ok
25. client - [97 to 98]: open q1 for send as sD1e1 -> ok
26. client - [99 to 100]: open q1 for receive as rD1e1 -> ok
27. client - [101 to 102]: open q2 for send as sA2e1 -> ok
28. client - [103 to 104]: open q2 for receive as rA2e1 -> ok
29. client - [105 to 106]: open q2 for send as sB2e1 -> ok
30. client - [107 to 108]: open q2 for receive as rB2e1 -> ok
31. client - [109 to 110]: open q2 for send as sC2e1 -> ok
32. client - [111 to 112]: open q2 for receive as rC2e1 -> ok
33. client - [113 to 114]: open q2 for send as sD2e1 -> ok
34. client - [115 to 116]: open q2 for receive as rD2e1 -> ok
35. client - [187 to 188]: open q1 for send as sA1e2 -> ok
36. client - [189 to 190]: open q1 for receive as rA1e2 -> ok
37. client - [191 to 192]: open q1 for send as sB1e2 -> ok
38. client - [193 to 194]: open q1 for receive as rB1e2 -> ok
39. client - [195 to 196]: open q1 for send as sC1e2 -> ok
40. client - [197 to 198]: open q1 for receive as rC1e2 -> ok
41. client - [199 to 200]: open q1 for send as sD1e2 -> ok
42. client - [201 to 202]: open q1 for receive as rD1e2 -> ok
43. client - [203 to 204]: open q2 for send as sA2e2 -> ok
44. client - [205 to 206]: open q2 for receive as rA2e2 -> ok
45. client - [207 to 208]: open q2 for send as sB2e2 -> ok
46. client - [209 to 210]: open q2 for receive as rB2e2 -> ok
47. client - [211 to 212]: open q2 for send as sC2e2 -> ok
48. client - [213 to 214]: open q2 for receive as rC2e2 -> ok
49. client - [215 to 216]: open q2 for send as sD2e2 -> ok
50. client - [217 to 218]: open q2 for receive as rD2e2 -> ok
51. client B [248 to 292]: send 'B6' to q1 (transaction tB5) -> ok
52. client C [252 to 259]: receive from q1 -> message 'B6' (priority 3)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_91f5c53bf7541ed6.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "restart",
 "test": "restart/test_mqdmpr_3_1_3_kills.py::test_kills_again_and_again",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQMQ-2.2.19.1.transactional-priority-zero",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": 0,
  "actual": 3,
  "evidence": {
   "kind": "history",
   "ref": "the smallest part",
   "data": {
    "history": [
     {
      "call": {
       "method": "queues.create",
       "queue": "q1",
       "transactional": true
      },
      "client": "-",
      "began": 0,
      "ended": 1,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sA1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 2,
      "ended": 3,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rA1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 4,
      "ended": 5,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sB1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 6,
      "ended": 7,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rB1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 8,
      "ended": 9,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sC1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 10,
      "ended": 11,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rC1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 12,
      "ended": 13,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sD1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 14,
      "ended": 15,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rD1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 16,
      "ended": 17,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.create",
       "queue": "q2",
       "transactional": true
      },
      "client": "-",
      "began": 18,
      "ended": 19,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sA2",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 20,
      "ended": 21,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rA2",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 22,
      "ended": 23,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sB2",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 24,
      "ended": 25,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rB2",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 26,
      "ended": 27,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sC2",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 28,
      "ended": 29,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rC2",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 30,
      "ended": 31,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sD2",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 32,
      "ended": 33,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rD2",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 34,
      "ended": 35,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sA1e1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 85,
      "ended": 86,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rA1e1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 87,
      "ended": 88,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sB1e1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 89,
      "ended": 90,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rB1e1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 91,
      "ended": 92,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sC1e1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 93,
      "ended": 94,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rC1e1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 95,
      "ended": 96,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sD1e1",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 97,
      "ended": 98,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rD1e1",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 99,
      "ended": 100,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sA2e1",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 101,
      "ended": 102,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rA2e1",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 103,
      "ended": 104,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sB2e1",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 105,
      "ended": 106,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rB2e1",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 107,
      "ended": 108,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sC2e1",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 109,
      "ended": 110,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rC2e1",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 111,
      "ended": 112,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sD2e1",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 113,
      "ended": 114,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rD2e1",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 115,
      "ended": 116,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sA1e2",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 187,
      "ended": 188,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rA1e2",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 189,
      "ended": 190,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sB1e2",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 191,
      "ended": 192,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rB1e2",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 193,
      "ended": 194,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sC1e2",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 195,
      "ended": 196,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rC1e2",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 197,
      "ended": 198,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sD1e2",
       "queue": "q1",
       "access": "send"
      },
      "client": "-",
      "began": 199,
      "ended": 200,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rD1e2",
       "queue": "q1",
       "access": "receive"
      },
      "client": "-",
      "began": 201,
      "ended": 202,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sA2e2",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 203,
      "ended": 204,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rA2e2",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 205,
      "ended": 206,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sB2e2",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 207,
      "ended": 208,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rB2e2",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 209,
      "ended": 210,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sC2e2",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 211,
      "ended": 212,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rC2e2",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 213,
      "ended": 214,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "sD2e2",
       "queue": "q2",
       "access": "send"
      },
      "client": "-",
      "began": 215,
      "ended": 216,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "rD2e2",
       "queue": "q2",
       "access": "receive"
      },
      "client": "-",
      "began": 217,
      "ended": 218,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.send",
       "handle": "sB1e2",
       "transaction": "tB5",
       "message": "B6"
      },
      "client": "B",
      "began": 248,
      "ended": 292,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rC1e2"
      },
      "client": "C",
      "began": 252,
      "ended": 259,
      "answer": {
       "status": 0,
       "failed": false,
       "message": {
        "body": "4236",
        "label": "B6",
        "priority": 3,
        "delivery": "express",
        "lookup_identifier": null
       }
      }
     }
    ]
   }
  }
 },
 "story": [
  "client - [0 to 1]: create transactional queue q1 -> ok",
  "client - [2 to 3]: open q1 for send as sA1 -> ok",
  "client - [4 to 5]: open q1 for receive as rA1 -> ok",
  "client - [6 to 7]: open q1 for send as sB1 -> ok",
  "client - [8 to 9]: open q1 for receive as rB1 -> ok",
  "client - [10 to 11]: open q1 for send as sC1 -> ok",
  "client - [12 to 13]: open q1 for receive as rC1 -> ok",
  "client - [14 to 15]: open q1 for send as sD1 -> ok",
  "client - [16 to 17]: open q1 for receive as rD1 -> ok",
  "client - [18 to 19]: create transactional queue q2 -> ok",
  "client - [20 to 21]: open q2 for send as sA2 -> ok",
  "client - [22 to 23]: open q2 for receive as rA2 -> ok",
  "client - [24 to 25]: open q2 for send as sB2 -> ok",
  "client - [26 to 27]: open q2 for receive as rB2 -> ok",
  "client - [28 to 29]: open q2 for send as sC2 -> ok",
  "client - [30 to 31]: open q2 for receive as rC2 -> ok",
  "client - [32 to 33]: open q2 for send as sD2 -> ok",
  "client - [34 to 35]: open q2 for receive as rD2 -> ok",
  "client - [85 to 86]: open q1 for send as sA1e1 -> ok",
  "client - [87 to 88]: open q1 for receive as rA1e1 -> ok",
  "client - [89 to 90]: open q1 for send as sB1e1 -> ok",
  "client - [91 to 92]: open q1 for receive as rB1e1 -> ok",
  "client - [93 to 94]: open q1 for send as sC1e1 -> ok",
  "client - [95 to 96]: open q1 for receive as rC1e1 -> ok",
  "client - [97 to 98]: open q1 for send as sD1e1 -> ok",
  "client - [99 to 100]: open q1 for receive as rD1e1 -> ok",
  "client - [101 to 102]: open q2 for send as sA2e1 -> ok",
  "client - [103 to 104]: open q2 for receive as rA2e1 -> ok",
  "client - [105 to 106]: open q2 for send as sB2e1 -> ok",
  "client - [107 to 108]: open q2 for receive as rB2e1 -> ok",
  "client - [109 to 110]: open q2 for send as sC2e1 -> ok",
  "client - [111 to 112]: open q2 for receive as rC2e1 -> ok",
  "client - [113 to 114]: open q2 for send as sD2e1 -> ok",
  "client - [115 to 116]: open q2 for receive as rD2e1 -> ok",
  "client - [187 to 188]: open q1 for send as sA1e2 -> ok",
  "client - [189 to 190]: open q1 for receive as rA1e2 -> ok",
  "client - [191 to 192]: open q1 for send as sB1e2 -> ok",
  "client - [193 to 194]: open q1 for receive as rB1e2 -> ok",
  "client - [195 to 196]: open q1 for send as sC1e2 -> ok",
  "client - [197 to 198]: open q1 for receive as rC1e2 -> ok",
  "client - [199 to 200]: open q1 for send as sD1e2 -> ok",
  "client - [201 to 202]: open q1 for receive as rD1e2 -> ok",
  "client - [203 to 204]: open q2 for send as sA2e2 -> ok",
  "client - [205 to 206]: open q2 for receive as rA2e2 -> ok",
  "client - [207 to 208]: open q2 for send as sB2e2 -> ok",
  "client - [209 to 210]: open q2 for receive as rB2e2 -> ok",
  "client - [211 to 212]: open q2 for send as sC2e2 -> ok",
  "client - [213 to 214]: open q2 for receive as rC2e2 -> ok",
  "client - [215 to 216]: open q2 for send as sD2e2 -> ok",
  "client - [217 to 218]: open q2 for receive as rD2e2 -> ok",
  "client B [248 to 292]: send 'B6' to q1 (transaction tB5) -> ok",
  "client C [252 to 259]: receive from q1 -> message 'B6' (priority 3)"
 ],
 "repro": {
  "kind": "concurrency",
  "format": 1,
  "workload": {
   "queues": [
    [
     "q1",
     true
    ],
    [
     "q2",
     true
    ],
    [
     "q3",
     false
    ]
   ],
   "clients": 4,
   "operations": 90,
   "weights": [
    [
     "send",
     5
    ],
    [
     "receive",
     3
    ],
    [
     "peek",
     1
    ]
   ],
   "burst": 6,
   "shared": false,
   "rivals": 0,
   "aborts": 30
  },
  "seed": 0,
  "kills": 2,
  "history": [
   {
    "call": {
     "method": "queues.create",
     "queue": "q1",
     "transactional": true
    },
    "client": "-",
    "began": 0,
    "ended": 1,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sA1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 2,
    "ended": 3,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rA1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 4,
    "ended": 5,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sB1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 6,
    "ended": 7,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rB1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 8,
    "ended": 9,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sC1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 10,
    "ended": 11,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rC1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 12,
    "ended": 13,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sD1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 14,
    "ended": 15,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rD1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 16,
    "ended": 17,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.create",
     "queue": "q2",
     "transactional": true
    },
    "client": "-",
    "began": 18,
    "ended": 19,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sA2",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 20,
    "ended": 21,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rA2",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 22,
    "ended": 23,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sB2",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 24,
    "ended": 25,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rB2",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 26,
    "ended": 27,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sC2",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 28,
    "ended": 29,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rC2",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 30,
    "ended": 31,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sD2",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 32,
    "ended": 33,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rD2",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 34,
    "ended": 35,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sA1e1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 85,
    "ended": 86,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rA1e1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 87,
    "ended": 88,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sB1e1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 89,
    "ended": 90,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rB1e1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 91,
    "ended": 92,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sC1e1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 93,
    "ended": 94,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rC1e1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 95,
    "ended": 96,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sD1e1",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 97,
    "ended": 98,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rD1e1",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 99,
    "ended": 100,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sA2e1",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 101,
    "ended": 102,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rA2e1",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 103,
    "ended": 104,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sB2e1",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 105,
    "ended": 106,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rB2e1",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 107,
    "ended": 108,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sC2e1",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 109,
    "ended": 110,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rC2e1",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 111,
    "ended": 112,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sD2e1",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 113,
    "ended": 114,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rD2e1",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 115,
    "ended": 116,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sA1e2",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 187,
    "ended": 188,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rA1e2",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 189,
    "ended": 190,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sB1e2",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 191,
    "ended": 192,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rB1e2",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 193,
    "ended": 194,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sC1e2",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 195,
    "ended": 196,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rC1e2",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 197,
    "ended": 198,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sD1e2",
     "queue": "q1",
     "access": "send"
    },
    "client": "-",
    "began": 199,
    "ended": 200,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rD1e2",
     "queue": "q1",
     "access": "receive"
    },
    "client": "-",
    "began": 201,
    "ended": 202,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sA2e2",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 203,
    "ended": 204,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rA2e2",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 205,
    "ended": 206,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sB2e2",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 207,
    "ended": 208,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rB2e2",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 209,
    "ended": 210,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sC2e2",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 211,
    "ended": 212,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rC2e2",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 213,
    "ended": 214,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "sD2e2",
     "queue": "q2",
     "access": "send"
    },
    "client": "-",
    "began": 215,
    "ended": 216,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "rD2e2",
     "queue": "q2",
     "access": "receive"
    },
    "client": "-",
    "began": 217,
    "ended": 218,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "sB1e2",
     "transaction": "tB5",
     "message": "B6"
    },
    "client": "B",
    "began": 248,
    "ended": 292,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rC1e2"
    },
    "client": "C",
    "began": 252,
    "ended": 259,
    "answer": {
     "status": 0,
     "failed": false,
     "message": {
      "body": "4236",
      "label": "B6",
      "priority": 3,
      "delivery": "express",
      "lookup_identifier": null
     }
    }
   }
  ]
 }
}''')


def test_mqmq_2_2_19_1_transactional_priority_zero():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
