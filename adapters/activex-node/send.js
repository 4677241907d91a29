"use strict";
// MSMQMessage.Send, MC-MQAC 3.17.4.1.48.

const { E, refuse } = require("./errors.js");
const { formatNameOf } = require("./queue_info.js");
const { NULL_GUID } = require("./names.js");
const V = require("./variants.js");

const ANONYMOUS = Buffer.from("010100000000000507000000", "hex");
const NEEDS_CONNECTOR = ["class", "sender", "key", "signature", "providerName"];
// What a message on a queue does not have: state of the object alone.
const OF_THE_OBJECT = ["put", "cachedSender", "cachedCertificate", "className", "soapHeader", "soapBody", "requestedAuthentication"];

function check(self, destination) {
  if (!destination.value) refuse(E.E_INVALIDARG);
  if (NEEDS_CONNECTOR.some((field) => self.put.has(field)) && self.connectorType === NULL_GUID) refuse(E.MISSING_CONNECTOR_TYPE);
  if (Boolean(self.providerType) !== Boolean(self.providerName)) refuse(E.INSUFFICIENT_PROPERTIES);
}

// {descriptor, formatName, close} of the queue to send to. A destination that is not open is opened for this message.
function target({ value: object }, { manager }, call) {
  if (object.className === "MSMQQueue") {
    if (!object.isInitialized) refuse(E.OLE_E_BLANK);
    if (object.isClosed) refuse(E.INVALID_HANDLE);
    if (object.descriptor.access !== 2) refuse(E.ACCESS_DENIED);
    return { descriptor: object.descriptor, formatName: object.info.formatName || formatNameOf(object.info, call) };
  }
  if (object.className !== "MSMQDestination") refuse(E.E_INVALIDARG);
  if (object.descriptor) return { descriptor: object.descriptor, formatName: object.formatName || object.descriptor.format };
  const descriptor = manager.open(object.formatName, 2, 0);
  return { descriptor, formatName: object.formatName, close: () => manager.close(descriptor) };
}

function fill(self, formatName, manager) {
  if (self.sender === null) self.sender = self.cachedSender || ANONYMOUS;
  if (self.certificate === null) self.certificate = self.cachedCertificate;
  self.source = manager.guid;
  if (self.connectorType === NULL_GUID) self.class = 0;
  self.id = manager.messageId();
  self.destination = formatName;
  self.destinationName = formatName;
  self.sent = manager.clock.seconds();
  // The text lengthens the time to receive, which would undo it wherever no time to reach the queue was put.
  self.timeToReachQueue = Math.min(self.timeToReachQueue, self.timeToBeReceived);
}

function stored(self, formatName, transactional) {
  const message = { ...self, destination: formatName, transactional, firstInTransaction: transactional, lastInTransaction: transactional };
  OF_THE_OBJECT.forEach((field) => delete message[field]);
  message.size = V.byteLength(self.body) + 2 * self.label.length + (self.extension || "").length;
  return message;
}

function send(self, [destination, transaction], call) {
  const { transactionOf } = require("./queue.js");
  check(self, destination);
  const given = transactionOf(transaction);
  const to = target(destination, call, call);
  if (self.requestedAuthentication && self.signature === null && !self.certificate && !self.cachedCertificate) refuse(E.CERTIFICATE_NOT_PROVIDED);
  try {
    fill(self, to.formatName, call.manager);
    const transactional = Boolean(given.single || given.transaction);
    call.manager.send(to.descriptor, stored(self, to.formatName, transactional), given.transaction || null);
  } finally {
    if (to.close) to.close();
  }
}

module.exports = { send };
