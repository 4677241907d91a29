"use strict";
// MSMQApplication: MC-MQAC 3.2. It sees this computer; others cannot be reached, and there is no directory.

const { E, refuse } = require("./errors.js");
const V = require("./variants.js");

const VERSION = { Major: 4, Minor: 1, Build: 6000 }; // of MSMQ 4.0: product behaviour notes 13 to 15

const withoutName = (get) => (self, args, call) => (self.machine === null ? get(call.manager) : refuse(E.INVALID_PARAMETER));
// Of another computer than this one nothing can be told.
const reached = (get) => (self, args, { manager }) =>
  self.machine === null || manager.isLocal(self.machine) ? get(manager) : refuse(E.REMOTE_MACHINE_NOT_AVAILABLE);

const formatName = (queue) => queue.format || `DIRECT=OS:${queue.path}`;
const all = (manager) => [...manager.queues.values(), ...manager.outgoing.values()];
const bytes = (manager) => [...all(manager), ...Object.values(manager.system)].reduce((sum, each) => sum + each.totalBytes, 0);

function registerCertificate(self, [flags, certificate]) {
  if (self.machine !== null) refuse(E.E_NOTIMPL);
  const ifNew = !V.isLeftOut(flags) && V.number(flags) === 2; // MQCERT_REGISTER_IF_NOT_EXIST
  if (ifNew && !V.isNull(certificate)) refuse(E.INVALID_PARAMETER);
  refuse(E.NO_DS);
}

const members = {
  "method MachineIdOfMachineName": () => refuse(E.NO_DS),
  "method MachineNameOfMachineId": () => refuse(E.NO_DS),
  "method RegisterCertificate": registerCertificate,
  "get IsDsEnabled": withoutName(() => V.bool(false)),
  "get Properties": () => refuse(E.E_NOTIMPL),
  "method ActiveQueues": reached((manager) => V.texts(all(manager).filter((each) => each.active).map(formatName))),
  "get PrivateQueues": reached((manager) => V.texts([...manager.queues.values()].map((each) => each.path))),
  "get DirectoryServiceServer": reached(() => refuse(E.NO_DS)),
  "get IsConnected": reached((manager) => V.bool(manager.connected)),
  "get BytesInAllQueues": reached((manager) => V.i8(bytes(manager))),
  "put Machine": (self, [given]) => {
    self.machine = given.value || null;
  },
  "get Machine": (self, args, { manager }) => V.text(self.machine || manager.computer),
  "method Connect": reached((manager) => void (manager.connected = true)),
  "method Disconnect": reached((manager) => void (manager.connected = false)),
  "method Tidy": reached(() => undefined),
};
for (const [name, value] of Object.entries(VERSION)) members[`get MSMQVersion${name}`] = withoutName(() => V.i2(value));

module.exports = { MSMQApplication: { make: () => ({ machine: null }), members } };
