"""MQDMPR-3.1.7.1.5.exclusive-then-exclusive is broken.

While a queue is open exclusively for receive, opening it exclusively for receive fails.

1. client - [0 to 1]: create queue q1 -> ok
2. client A [2 to 6]: open q1 for receive, denying receive to others, as x0 -> ok
3. client B [3 to 7]: open q1 for receive, denying receive to others, as x1 -> ok
4. client C [4 to 8]: open q1 for receive, denying receive to others, as x2 -> ok
5. client D [5 to 9]: open q1 for receive, denying receive to others, as x3 -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_0e640d3e59403f84.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "concurrency",
 "test": "concurrency/test_mqdmpr_3_1_7_at_the_same_time.py::test_opens_that_deny_each_other",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.5.exclusive-then-exclusive",
  "outcome": "fail",
  "subject": "queues.open",
  "expected": {
   "fails with": [
    "0xC00E0009"
   ]
  },
  "actual": {
   "status": "0x00000000"
  },
  "evidence": {
   "kind": "history",
   "ref": "the smallest part",
   "data": {
    "history": [
     {
      "call": {
       "method": "queues.create",
       "queue": "q1"
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
       "name": "x0",
       "queue": "q1",
       "access": "receive",
       "share": "deny_receive"
      },
      "client": "A",
      "began": 2,
      "ended": 6,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "x1",
       "queue": "q1",
       "access": "receive",
       "share": "deny_receive"
      },
      "client": "B",
      "began": 3,
      "ended": 7,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "x2",
       "queue": "q1",
       "access": "receive",
       "share": "deny_receive"
      },
      "client": "C",
      "began": 4,
      "ended": 8,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "x3",
       "queue": "q1",
       "access": "receive",
       "share": "deny_receive"
      },
      "client": "D",
      "began": 5,
      "ended": 9,
      "answer": {
       "status": 0,
       "failed": false
      }
     }
    ]
   }
  }
 },
 "story": [
  "client - [0 to 1]: create queue q1 -> ok",
  "client A [2 to 6]: open q1 for receive, denying receive to others, as x0 -> ok",
  "client B [3 to 7]: open q1 for receive, denying receive to others, as x1 -> ok",
  "client C [4 to 8]: open q1 for receive, denying receive to others, as x2 -> ok",
  "client D [5 to 9]: open q1 for receive, denying receive to others, as x3 -> ok"
 ],
 "repro": {
  "kind": "concurrency",
  "format": 1,
  "before": [
   {
    "method": "queues.create",
    "queue": "q1"
   }
  ],
  "together": [
   {
    "method": "queues.open",
    "name": "x0",
    "queue": "q1",
    "access": "receive",
    "share": "deny_receive"
   },
   {
    "method": "queues.open",
    "name": "x1",
    "queue": "q1",
    "access": "receive",
    "share": "deny_receive"
   },
   {
    "method": "queues.open",
    "name": "x2",
    "queue": "q1",
    "access": "receive",
    "share": "deny_receive"
   },
   {
    "method": "queues.open",
    "name": "x3",
    "queue": "q1",
    "access": "receive",
    "share": "deny_receive"
   }
  ],
  "history": [
   {
    "call": {
     "method": "queues.create",
     "queue": "q1"
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
     "name": "x0",
     "queue": "q1",
     "access": "receive",
     "share": "deny_receive"
    },
    "client": "A",
    "began": 2,
    "ended": 6,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "x1",
     "queue": "q1",
     "access": "receive",
     "share": "deny_receive"
    },
    "client": "B",
    "began": 3,
    "ended": 7,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "x2",
     "queue": "q1",
     "access": "receive",
     "share": "deny_receive"
    },
    "client": "C",
    "began": 4,
    "ended": 8,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "x3",
     "queue": "q1",
     "access": "receive",
     "share": "deny_receive"
    },
    "client": "D",
    "began": 5,
    "ended": 9,
    "answer": {
     "status": 0,
     "failed": false
    }
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_5_exclusive_then_exclusive():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
