"""MQMQ-2.3.1.7.propid-q-journal-quota is broken.

PROPID_Q_JOURNAL_QUOTA is property 107 with variant type VT_UI4.

1. create q1 with PROPID_Q_TYPE = '6F9619FF-8B86-D011-B42D-00C04FC964FF', PROPID_Q_QUOTA = 7, PROPID_Q_JOURNAL = 1, PROPID_Q_TRANSACTION = 1: succeeds
2. read all properties of q1: succeeds

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_2c51c6a7652e138f.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "properties",
 "test": "properties/test_mqmq_2_3_1_queue_properties.py::test_several_at_once",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQMQ-2.3.1.7.propid-q-journal-quota",
  "outcome": "fail",
  "subject": "PROPID_Q_JOURNAL_QUOTA of q1",
  "expected": {
   "type": "UI4"
  },
  "actual": -1
 },
 "story": [
  "create q1 with PROPID_Q_TYPE = '6F9619FF-8B86-D011-B42D-00C04FC964FF', PROPID_Q_QUOTA = 7, PROPID_Q_JOURNAL = 1, PROPID_Q_TRANSACTION = 1: succeeds",
  "read all properties of q1: succeeds"
 ],
 "repro": {
  "kind": "properties",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1",
    "values": {
     "PROPID_Q_TYPE": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
     "PROPID_Q_QUOTA": 7,
     "PROPID_Q_JOURNAL": 1,
     "PROPID_Q_TRANSACTION": 1
    }
   }
  ]
 }
}''')


def test_mqmq_2_3_1_7_propid_q_journal_quota():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
