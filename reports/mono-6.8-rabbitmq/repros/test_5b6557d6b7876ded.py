"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. client - [0 to 1]: create queue q1 -> ok
2. client - [11 to 15]: kill the queue manager and start it again -> ok
3. client - [18 to 19]: open q1 for receive as r1x -> ok
4. client - [22 to 23]: receive from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_5b6557d6b7876ded.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "restart",
 "test": "restart/test_mqdmpr_3_1_3_kills.py::test_a_kill_after_a_purge",
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
       "method": "restart",
       "kill": true
      },
      "client": "-",
      "began": 11,
      "ended": 15,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "queues.open",
       "name": "r1x",
       "queue": "q1",
       "access": "receive"
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
       "method": "messages.receive",
       "handle": "r1x"
      },
      "client": "-",
      "began": 22,
      "ended": 23,
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
  "client - [0 to 1]: create queue q1 -> ok",
  "client - [11 to 15]: kill the queue manager and start it again -> ok",
  "client - [18 to 19]: open q1 for receive as r1x -> ok",
  "client - [22 to 23]: receive from q1 -> fails with MQ_ERROR"
 ],
 "repro": {
  "kind": "kill",
  "format": 1,
  "steps": [
   {
    "call": {
     "method": "queues.create",
     "queue": "q1"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "s1",
     "queue": "q1",
     "access": "send"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r1",
     "queue": "q1",
     "access": "receive"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s1",
     "message": "a",
     "delivery": "recoverable"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s1",
     "message": "b",
     "delivery": "recoverable"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.purge",
     "handle": "r1"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "messages.send",
     "handle": "s1",
     "message": "c",
     "delivery": "recoverable"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "restart",
     "kill": true
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "s1x",
     "queue": "q1",
     "access": "send"
    },
    "flies": false,
    "after_ms": 0.0
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r1x",
     "queue": "q1",
     "access": "receive"
    },
    "flies": false,
    "after_ms": 0.0
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
     "method": "restart",
     "kill": true
    },
    "client": "-",
    "began": 11,
    "ended": 15,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "queues.open",
     "name": "r1x",
     "queue": "q1",
     "access": "receive"
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
     "method": "messages.receive",
     "handle": "r1x"
    },
    "client": "-",
    "began": 22,
    "ended": 23,
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
