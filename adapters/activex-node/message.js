"use strict";
// MSMQMessage, MC-MQAC 3.17: one table of its properties; its members derive from that.

const { E, refuse } = require("./errors.js");
const names = require("./names.js");
const { infoFor, formatNameOf } = require("./queue_info.js");
const { send } = require("./send.js");
const V = require("./variants.js");

const INFINITE = 0xffffffff;
const NULL_GUID_BARE = names.NULL_GUID.slice(1, -1);
const ANONYMOUS = Buffer.from("010100000000000507000000", "hex"); // S-1-5-7

const either = (...values) => (value) => values.includes(value) || refuse(E.ILLEGAL_PROPERTY_VALUE);
const between = (least, most) => (value) => (value >= least && value <= most) || refuse(E.ILLEGAL_PROPERTY_VALUE);
const length = (most, code) => (value) => value.length <= most || refuse(code);
const guid = (value) => names.GUID_IN_BRACES.test(value) || refuse(E.ILLEGAL_PROPERTY_VALUE);

const long = { get: (value) => V.i4(value), put: (given) => given.value };
const unsigned = { get: (value) => V.i4(value), put: (given) => given.value >>> 0 };
const short = { get: (value) => V.i2(value ? 1 : 0) };
const bool = { get: (value) => V.bool(value) };
const words = { get: (value) => V.text(value || ""), put: (given) => given.value || "" };
const soap = { put: (given) => given.value };
const bytes = { get: (value) => V.bytes(value), put: (given) => V.buffer(given) };
const time = { get: (value) => V.date(value) };
const shownText = { get: (value) => V.text(value) };
const body = { get: (value) => value, put: (given) => (V.isBody(given) ? given : refuse(E.E_INVALIDARG)) };

// A queue that a message names: an MSMQQueueInfo of its own at each get.
const queueInfo = {
  get: (value, self, call) => infoFor(value, call),
  put: (given, self, call) => {
    if (!given.value) return null;
    if (given.value.className !== "MSMQQueueInfo") refuse(E.DISP_E_TYPEMISMATCH);
    return formatNameOf(given.value, call);
  },
};
const destination = {
  get: (value, self, call) => V.object(call.make("MSMQDestination", { formatName: value })),
  put: (given) => {
    if (!given.value) return null;
    if (given.value.className !== "MSMQDestination") refuse(E.DISP_E_TYPEMISMATCH);
    return given.value.formatName;
  },
};

// Property: [field, first value (3.17.3), kind, what may be put ("r": nothing, "w": it can only be put), check of a put].
const PROPERTIES = {
  Class: ["class", 0, long, "r"],
  MsgClass: ["class", 0, long, "rw"],
  PrivLevel: ["privacy", 0, long, "rw", either(0, 1, 3)],
  AuthLevel: ["requestedAuthentication", 0, long, "rw", either(0, 1, 2, 4, 8)],
  IsAuthenticated: ["authentication", 0, short, "r"],
  IsAuthenticated2: ["authentication", 0, bool, "r"],
  ReceivedAuthenticationLevel: ["authentication", 0, { get: (value) => V.i2(value) }, "r"],
  Delivery: ["delivery", 0, long, "rw", either(0, 1)],
  Trace: ["trace", 0, long, "rw", either(0, 1)],
  Priority: ["priority", 3, long, "rw", between(0, 7)],
  Journal: ["journal", 0, long, "rw", between(0, 3)],
  AppSpecific: ["tag", 0, long, "rw"],
  SourceMachineGuid: ["source", NULL_GUID_BARE, shownText, "r"],
  Body: ["body", { vt: "EMPTY" }, body, "rw"],
  Id: ["id", null, bytes, "r"],
  CorrelationId: ["correlation", null, bytes, "rw"],
  Ack: ["acknowledge", 0, long, "rw", either(0, 1, 2, 4, 5, 8, 0xc, 0xe)],
  Label: ["label", "", words, "rw", length(249, E.LABEL_TOO_LONG)],
  MaxTimeToReachQueue: ["timeToReachQueue", INFINITE, unsigned, "rw"],
  MaxTimeToReceive: ["timeToBeReceived", INFINITE, unsigned, "rw"],
  HashAlgorithm: ["hash", 0x8004, long, "rw"],
  EncryptAlgorithm: ["encryption", 0x6801, long, "rw"],
  SentTime: ["sent", INFINITE, time, "r"],
  ArrivedTime: ["arrived", INFINITE, time, "r"],
  SenderCertificate: ["certificate", null, bytes, "rw"],
  SenderId: ["sender", null, bytes, "rw"],
  SenderIdType: ["senderType", 1, long, "rw"],
  Extension: ["extension", null, bytes, "rw"],
  ConnectorTypeGuid: ["connectorType", names.NULL_GUID, { ...words, get: (value) => V.text(value) }, "rw", guid],
  DestinationSymmetricKey: ["key", null, bytes, "rw"],
  Signature: ["signature", null, bytes, "rw"],
  AuthenticationProviderType: ["providerType", 1, long, "rw"],
  AuthenticationProviderName: ["providerName", "Microsoft Base Cryptographic Provider, v1.0", words, "rw"],
  TransactionId: ["transactionId", null, bytes, "r"],
  IsFirstInTransaction: ["firstInTransaction", false, short, "r"],
  IsFirstInTransaction2: ["firstInTransaction", false, bool, "r"],
  IsLastInTransaction: ["lastInTransaction", false, short, "r"],
  IsLastInTransaction2: ["lastInTransaction", false, bool, "r"],
  LookupId: ["lookup", 0n, { get: (value) => V.text(String(value)) }, "r"],
  SoapEnvelope: ["soapEnvelope", null, shownText, "r"],
  CompoundMessage: ["compound", null, bytes, "r"],
  SoapHeader: ["soapHeader", null, soap, "w"],
  SoapBody: ["soapBody", null, soap, "w"],
  DestinationQueueInfo: ["destination", null, queueInfo, "r"],
  TransactionStatusQueueInfo: ["transactionStatusQueue", null, queueInfo, "r"],
  ResponseDestination: ["responses", null, destination, "rp"],
  Destination: ["destinationName", null, destination, "r"],
};
for (const version of ["", "_v1", "_v2"]) {
  PROPERTIES[`ResponseQueueInfo${version}`] = ["responseQueue", null, queueInfo, "rp"];
  PROPERTIES[`AdminQueueInfo${version}`] = ["adminQueue", null, queueInfo, "rp"];
}

const members = {
  "get BodyLength": (self) => V.i4(V.byteLength(self.body)),
  "get SenderVersion": () => V.i4(0x10),
  "get Properties": () => refuse(E.E_NOTIMPL),
  "method Send": send,
  "method AttachCurrentSecurityContext": attach,
  "method AttachCurrentSecurityContext2": attach,
};

// The caller is anonymous, and has no certificate but one that was put.
function attach(self) {
  self.cachedSender = ANONYMOUS;
  self.cachedCertificate = self.certificate;
}

function derive([name, [field, , kind, access, check]]) {
  if (access.includes("r")) members[`get ${name}`] = (self, args, call) => kind.get(self[field], self, call);
  if (access === "r") return;
  members[`${access.includes("p") ? "putref" : "put"} ${name}`] = (self, [given], call) => {
    const value = kind.put(given, self, call);
    if (check) check(value);
    self[field] = value;
    self.put.add(field);
  };
}
Object.entries(PROPERTIES).forEach(derive);

const first = () => Object.fromEntries(Object.values(PROPERTIES).map(([field, value]) => [field, value]));
const make = () => ({ ...first(), put: new Set(), cachedSender: null, cachedCertificate: null });

// A message of a queue as a read shows it. wants: which of the five it shows.
function received(message, wants, queue, call) {
  const shown = { ...message, requestedAuthentication: 0, soapHeader: null, soapBody: null };
  if (!wants.body) shown.body = { vt: "EMPTY" };
  shown.destinationName = message.destination;
  shown.destination = wants.destination ? queue.descriptor.format : null;
  if (!wants.connector) shown.connectorType = names.NULL_GUID;
  if (message.sequence) shown.transactionId = call.manager.objectId(message.sequence);
  return call.make("MSMQMessage", shown);
}

module.exports = { MSMQMessage: { make, members }, received };
