"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. client - [0 to 1]: create transactional queue q1 -> ok
2. client - [4 to 5]: open q1 for receive as r1 -> ok
3. client - [19 to 20]: begin transaction t2 -> ok
4. client - [23 to 28]: receive from q1 (transaction t2) -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_5823c858b61b4b6c.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "concurrency",
 "test": "concurrency/test_mqdmpr_3_1_7_at_the_same_time.py::test_an_abort_and_receives",
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
       "name": "r1",
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
       "method": "transactions.begin",
       "name": "t2"
      },
      "client": "-",
      "began": 19,
      "ended": 20,
      "answer": {
       "status": 0,
       "failed": false
      }
     },
     {
      "call": {
       "method": "messages.receive",
       "handle": "r1",
       "transaction": "t2"
      },
      "client": "-",
      "began": 23,
      "ended": 28,
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
  "client - [0 to 1]: create transactional queue q1 -> ok",
  "client - [4 to 5]: open q1 for receive as r1 -> ok",
  "client - [19 to 20]: begin transaction t2 -> ok",
  "client - [23 to 28]: receive from q1 (transaction t2) -> fails with MQ_ERROR"
 ],
 "repro": {
  "kind": "concurrency",
  "format": 1,
  "before": [
   {
    "method": "queues.create",
    "queue": "q1",
    "transactional": true
   },
   {
    "method": "queues.open",
    "name": "s",
    "queue": "q1",
    "access": "send"
   },
   {
    "method": "queues.open",
    "name": "r1",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "queues.open",
    "name": "r2",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "queues.open",
    "name": "r3",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "queues.open",
    "name": "d1",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "transactions.begin",
    "name": "t1"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "a"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "b"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "c"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "d"
   },
   {
    "method": "transactions.commit",
    "transaction": "t1"
   },
   {
    "method": "transactions.begin",
    "name": "t2"
   },
   {
    "method": "messages.receive",
    "handle": "r1",
    "transaction": "t2"
   },
   {
    "method": "messages.receive",
    "handle": "r1",
    "transaction": "t2"
   },
   {
    "method": "messages.receive",
    "handle": "r1",
    "transaction": "t2"
   }
  ],
  "together": [
   {
    "method": "transactions.abort",
    "transaction": "t2"
   },
   {
    "method": "messages.receive",
    "handle": "r2"
   },
   {
    "method": "messages.receive",
    "handle": "r3"
   },
   {
    "method": "messages.receive",
    "handle": "r2"
   },
   {
    "method": "messages.receive",
    "handle": "r3"
   }
  ],
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
     "name": "r1",
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
     "method": "transactions.begin",
     "name": "t2"
    },
    "client": "-",
    "began": 19,
    "ended": 20,
    "answer": {
     "status": 0,
     "failed": false
    }
   },
   {
    "call": {
     "method": "messages.receive",
     "handle": "r1",
     "transaction": "t2"
    },
    "client": "-",
    "began": 23,
    "ended": 28,
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
