"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. client - [18 to 19]: create transactional queue q2 -> ok
2. client - [74 to 81]: kill the queue manager and start it again -> ok
3. client - [142 to 145]: kill the queue manager and start it again -> ok
4. client - [168 to 169]: open q2 for receive as rB2e2 -> ok
5. client B [195 to 206]: receive from q2 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_5bac59ba3a7762f4.py` fails while the deviation is there.
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
  "requirement": "MQDMPR-3.1.7.1.10.no-wait-code",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "fails with": [
    "0xC00E001B",
    "0xC00E0088"
   ]
  },
  "actual": {
   "status": "0xC00E0001"
  },
  "evidence": {
   "kind": "history",
   "ref": "the smallest part",
   "data": {
    "history": [
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
       "method": "restart",
       "kill": true
      },
      "client": "-",
      "began": 74,
      "ended": 81,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "restart",
       "kill": true
      },
      "client": "-",
      "began": 142,
      "ended": 145,
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
      "began": 168,
      "ended": 169,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "rB2e2"
      },
      "client": "B",
      "began": 195,
      "ended": 206,
      "answer": {
       "status": 3222142977,
       "failed": true
      }
     }
    ]
   }
  }
 },
 "story": [
  "client - [18 to 19]: create transactional queue q2 -> ok",
  "client - [74 to 81]: kill the queue manager and start it again -> ok",
  "client - [142 to 145]: kill the queue manager and start it again -> ok",
  "client - [168 to 169]: open q2 for receive as rB2e2 -> ok",
  "client B [195 to 206]: receive from q2 -> fails with MQ_ERROR"
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
     "method": "restart",
     "kill": true
    },
    "client": "-",
    "began": 74,
    "ended": 81,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "restart",
     "kill": true
    },
    "client": "-",
    "began": 142,
    "ended": 145,
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
    "began": 168,
    "ended": 169,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "rB2e2"
    },
    "client": "B",
    "began": 195,
    "ended": 206,
    "answer": {
     "status": 3222142977,
     "failed": true
    }
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
