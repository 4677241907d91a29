"use strict";
// What interfaces.json knows of classes and interfaces (MC-MQAC 6): signatures by name, slots, descriptions.

const { classes, enumerations, interfaces } = require("./interfaces.json");

const FIRST_SLOT = 7; // behind IUnknown and IDispatch
const IIDS = { unknown: "00000000-0000-0000-c000-000000000046", dispatch: "00020400-0000-0000-c000-000000000046",
  transaction: "0fb15084-af41-11ce-bd2b-204c4f4f5020", container: "b196b284-bab4-101a-b69c-00aa00341d07",
  events: interfaces._DMSMQEventEvents.iid };

// The members of an interface with those of its bases, each with its slot.
function membersOf(name) {
  const { base, members } = interfaces[name];
  const inherited = base in interfaces ? membersOf(base) : [];
  return [...inherited, ...members.map((each, place) => ({ ...each, slot: FIRST_SLOT + inherited.length + place }))];
}

const key = (kind, name) => `${kind} ${name.toLowerCase()}`;
const tables = new Map();

// "kind name" in small letters -> member, of one interface.
function table(name) {
  if (!tables.has(name)) tables.set(name, new Map(membersOf(name).map((each) => [key(each.kind, each.name), each])));
  return tables.get(name);
}

// Other names for a member of the newest interface: an older one has it in the same slot (Receive was what Receive_v1 is).
function newestOf(className, interfaceName, member) {
  const newest = classes[className].interfaces[0];
  const sameFamily = interfaceName.replace(/\d$/, "") === newest.replace(/\d$/, "");
  return sameFamily ? membersOf(newest).find((each) => each.slot === member.slot) : member;
}

// The member that IDispatch::Invoke finds: {member, known}. known: another kind of this name is there.
function find(className, extra, interfaceName, kind, name) {
  const own = classes[className].interfaces;
  const among = interfaceName ? [interfaceName] : [...own, ...extra];
  let known = false;
  for (const each of among) {
    const found = table(each).get(key(kind, name));
    if (found) return { member: newestOf(className, each, found), known: true };
    known = known || membersOf(each).some((one) => one.name.toLowerCase() === name.toLowerCase());
  }
  return { known };
}

function described(name) {
  const { iid, base } = interfaces[name];
  const own = interfaces[name].members.length;
  const members = membersOf(name).slice(-own || Infinity);
  return { name, iid, base, members };
}

function describe(className) {
  const { interfaces: list, source } = classes[className];
  return { interfaces: [...list, ...(source ? [source] : [])].map(described), constants: enumerations };
}

// The interfaces of a class and their bases, by IID.
function implemented(className, extra) {
  const found = new Map();
  const add = (name) => {
    if (!(name in interfaces)) return;
    found.set(interfaces[name].iid, name);
    add(interfaces[name].base);
  };
  [...classes[className].interfaces, ...extra].forEach(add);
  return found;
}

module.exports = { classes, describe, find, implemented, IIDS };
