"use strict";
// Path names and format names: MS-MQMQ 2.1.

const GUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}";
const NAME = '[!#-*\\-.-:<-\\[\\]-\\x7f]{1,124}'; // MSMQ 4.0: no backslash, semicolon, plus, comma, quotation mark
const SUBQUEUE = NAME.replace("124", "32");
const PATH = new RegExp(`^([!-\\[\\]-~]{1,256})\\\\(private\\$\\\\)?(${NAME})(?:;(${SUBQUEUE}))?$`, "i");
const DIRECT = new RegExp(
  `^DIRECT=(TCP|OS|IPX|HTTPS?):(//[^/\\\\]+/MSMQ|[!-\\[\\]-~]+)[\\\\/](?:(SYSTEM\\$);(JOURNAL|DEADLETTER|DEADXACT)|` +
    `(private\\$[\\\\/])?(${NAME})(?:;(${SUBQUEUE}))?)$`, "i");
const OTHERS = [
  ["public", new RegExp(`^PUBLIC=(${GUID})$`, "i")],
  ["private", new RegExp(`^PRIVATE=(${GUID})\\\\([0-9a-f]{1,8})(;JOURNAL)?$`, "i")],
  ["machine", new RegExp(`^MACHINE=(${GUID})(?:;(JOURNAL|DEADLETTER|DEADXACT))?$`, "i")],
  ["connector", new RegExp(`^CONNECTOR=(${GUID})$`, "i")],
  ["list", new RegExp(`^DL=(${GUID})(?:@[!-~]{1,255})?$`, "i")],
  ["multicast", /^MULTICAST=(\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})$/i],
];
const GUID_IN_BRACES = new RegExp(`^\\{${GUID}\\}$`, "i");
const NULL_GUID = "{00000000-0000-0000-0000-000000000000}";

// {computer, isPrivate, name, subqueue}, or null. "." is the computer itself.
function path(value) {
  const parsed = PATH.exec(value || "");
  if (!parsed || /^system\$$/i.test(parsed[1])) return null;
  return { computer: parsed[1], isPrivate: Boolean(parsed[2]), name: parsed[3], subqueue: parsed[4] || null };
}

// One element of a format name: {kind, ...}, or null.
function element(value) {
  const direct = DIRECT.exec(value);
  if (direct) {
    const [, protocol, address, system, special, isPrivate, name, suffix] = direct;
    const kind = /^http/i.test(protocol) ? "http" : "direct";
    return { kind, protocol: protocol.toUpperCase(), address, system: Boolean(system), special: (special || "").toUpperCase(),
      isPrivate: Boolean(isPrivate), name, suffix: suffix || null };
  }
  for (const [kind, pattern] of OTHERS) {
    const parsed = pattern.exec(value);
    if (parsed) return { kind, parts: parsed.slice(1), special: (parsed[2] || "").toUpperCase() };
  }
  return null;
}

// The elements of a format name, or null where it is none.
function format(value) {
  const list = (value || "").split(",").map((each) => element(each.trim()));
  return list.every(Boolean) ? list : null;
}

module.exports = { path, format, GUID_IN_BRACES, NULL_GUID };
