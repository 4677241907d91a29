"""MQDMPR-3.1.7.1.15.no-wait-code is broken.

A peek with time-out zero and nothing available fails with MQ_ERROR_IO_TIMEOUT.

1. client - [0 to 1]: create queue q1 -> ok
2. client - [20 to 21]: open q1 for receive as rE1 -> ok
3. client E [168 to 219]: peek from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_bb39b2fe2988a58b.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "concurrency",
 "test": "concurrency/test_mqdmpr_3_1_7_clients_at_once.py::test_a_purge_among_many_clients",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.15.no-wait-code",
  "outcome": "fail",
  "subject": "messages.peek",
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
       "method": "queues.open",
       "name": "rE1",
       "queue": "q1",
       "access": "receive"
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
       "method": "messages.peek",
       "handle": "rE1"
      },
      "client": "E",
      "began": 168,
      "ended": 219,
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
  "client - [20 to 21]: open q1 for receive as rE1 -> ok",
  "client E [168 to 219]: peek from q1 -> fails with MQ_ERROR"
 ],
 "repro": {
  "kind": "concurrency",
  "format": 1,
  "workload": {
   "queues": [
    [
     "q1",
     false
    ]
   ],
   "clients": 5,
   "operations": 100,
   "weights": [
    [
     "send",
     8
    ],
    [
     "receive",
     3
    ],
    [
     "peek",
     1
    ],
    [
     "purge",
     1
    ]
   ],
   "burst": 6,
   "shared": false,
   "rivals": 0,
   "aborts": 30
  },
  "seed": 0,
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
     "name": "rE1",
     "queue": "q1",
     "access": "receive"
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
     "method": "messages.peek",
     "handle": "rE1"
    },
    "client": "E",
    "began": 168,
    "ended": 219,
    "answer": {
     "status": 3222142977,
     "failed": true
    }
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
