-- The part that uses Wireshark's API: fields, framing of a TCP stream, the tree, and verdicts as expert information.

local msmq = Proto("msmq", "Microsoft Message Queuing")
local msmq_packet = Proto("msmq_packet", "Microsoft Message Queuing, one packet a record")

msmq.prefs.passes = Pref.bool("Show rules that hold", false, "Add a field msmq.pass for each rule that holds")

local FIELDS, BY_KEY, SECTION_FIELD = {}, {}, {}

local function register(proto_field)
  FIELDS[#FIELDS + 1] = proto_field
  return proto_field
end

local UINT = { [1] = ProtoField.uint8, [2] = ProtoField.uint16, [4] = ProtoField.uint32, [8] = ProtoField.uint64 }

local function proto_field(one, filter, name)
  local names = NAMES[one.names or one.key]
  if one.type == "uint" then
    local shown = one.word and base.HEX or (one.width == 8 and base.DEC or base.DEC_HEX)
    return UINT[one.width](filter, name, shown, names)
  elseif one.type == "bits" then
    if one.width > 4 then return ProtoField.uint32(filter, name, base.DEC, names) end
    local mask = (2 ^ one.bits - 1) * 2 ^ one.low
    return UINT[one.width](filter, name, base.DEC, names, math.floor(mask))
  elseif one.type == "guid" then
    return ProtoField.guid(filter, name)
  elseif one.type == "text" then
    return ProtoField.string(filter, name)
  end
  return ProtoField.bytes(filter, name)
end

for _, one in ipairs(DECLARED) do
  one.field = register(proto_field(one, FILTER[one.key], one.key:match("^[^.]+%.(.+)$")))
  BY_KEY[one.key] = one
end
for name in pairs(SECTION) do SECTION_FIELD[name] = register(ProtoField.none(FILTER[name], name)) end

local F = {
  kind = register(ProtoField.string("msmq.kind", "Kind")),
  queue = register(ProtoField.string("msmq.queue", "Destination queue")),
  placement = register(ProtoField.string("msmq.session_header_placement", "SessionHeader placement")),
  unexplained = register(ProtoField.uint32("msmq.unexplained", "Bytes no header explains", base.DEC)),
  trouble = register(ProtoField.string("msmq.trouble", "Not decoded")),
  junk = register(ProtoField.bytes("msmq.junk", "No packet header here")),
  pass = register(ProtoField.string("msmq.pass", "Holds")),
  fail = register(ProtoField.string("msmq.fail", "Broken")),
  warn = register(ProtoField.string("msmq.warn", "Broken, weaker than the level")),
  reading = register(ProtoField.string("msmq.reading", "Follows another reading")),
  inconclusive = register(ProtoField.string("msmq.inconclusive", "Cannot be told")),
}
msmq.fields = FIELDS

local E = {
  fail = ProtoExpert.new("msmq.expert.fail", "A requirement is broken", expert.group.PROTOCOL, expert.severity.ERROR),
  warn = ProtoExpert.new("msmq.expert.warn", "A requirement weaker than the level is broken", expert.group.PROTOCOL,
    expert.severity.WARN),
  reading = ProtoExpert.new("msmq.expert.reading", "The documents are read in another way", expert.group.PROTOCOL,
    expert.severity.NOTE),
  inconclusive = ProtoExpert.new("msmq.expert.inconclusive", "A requirement cannot be judged", expert.group.UNDECODED,
    expert.severity.NOTE),
  trouble = ProtoExpert.new("msmq.expert.trouble", "Not decoded", expert.group.MALFORMED, expert.severity.WARN),
}
msmq.experts = { E.fail, E.warn, E.reading, E.inconclusive, E.trouble }

-- Return a text for the tree: control characters become control pictures, invalid characters U+FFFD.
local function visible(text)
  text = text:gsub("%c", function(one)
    return one == "\127" and "\226\144\161" or "\226\144" .. string.char(0x80 + one:byte())
  end)
  text = text:gsub("\237[\160-\191][\128-\191]", "\239\191\189"):gsub("\239\191[\190\191]", "\239\191\189")
  return text
end

local function add_field(tree, tvb, one)
  local declared = BY_KEY[one.key]
  local range = tvb:range(one.at, one.length)
  if declared.type == "text" then return tree:add(declared.field, range, visible(one.value)) end
  if declared.type == "bits" and declared.width > 4 then return tree:add(declared.field, range, one.value) end
  if declared.type == "bytes" then return tree:add(declared.field, range) end
  return tree:add_le(declared.field, range)
end

-- Return the destination of a message as a format name, as far as the packet has it.
local function queue_name(fields)
  local at = "UserHeader.DestinationQueue."
  local direct, public = fields[at .. "DirectFormatName"], fields[at .. "PublicQueueIdentifier"]
  local private = fields[at .. "PrivateQueueIdentifier"]
  if direct then return "DIRECT=" .. direct end
  if public then return "PUBLIC=" .. public end
  if private then
    return string.format("PRIVATE=%s\\%08x", tostring(fields["UserHeader.QueueManagerAddress"]), private)
  end
  return nil
end

local HEADER_MARKS = {}
for _, id in ipairs(MARKS) do HEADER_MARKS[id] = true end

-- Add a verdict as a field, and a broken rule as expert information at the first field that the rule reads.
local function verdict(found, one, root, items)
  if not found or (found == "pass" and not msmq.prefs.passes) then return end
  root:add(F[found], one.id):set_generated()
  if found == "pass" then return end
  local item = root
  for _, key in ipairs(one.fields) do
    if items[key] then
      item = items[key]
      break
    end
  end
  item:add_proto_expert_info(E[found], one.id .. ": " .. one.says)
end

-- Judge a packet. judged: "marks" (only the marks of a header), "all", "whole" (nothing of it is missing: also by the
-- rules on single fields), "alone" (by those only).
local function judge(reader, root, items, judged)
  if judged ~= "alone" then
    for _, one in ipairs(RULES) do
      if judged ~= "marks" or HEADER_MARKS[one.id] then verdict(outcome(one, reader.fields), one, root, items) end
    end
  end
  if judged == "whole" or judged == "alone" then
    for _, one in ipairs(ALONE[reader.fields["Packet.Kind"]] or {}) do
      verdict(outcome_alone(one, reader.fields), one, root, items)
    end
  end
end

-- Add the tree of one decoded packet.
local function render(reader, tvb, root)
  local items, drawn = {}, {}
  for _, place in ipairs(reader.sections) do
    if place.last >= place.first then
      local branch = root:add(SECTION_FIELD[place.name], tvb:range(place.at, place.length))
      local word
      for i = place.first, place.last do
        local one = reader.shown[i]
        if not drawn[i] then
          drawn[i] = true
          local kind = BY_KEY[one.key].type
          local item = add_field(kind == "bits" and word or branch, tvb, one)
          if kind ~= "bits" then word = item end
          items[one.key] = item
        end
      end
    end
  end
  return items
end

local INFO = {}   -- the information column of the frame being dissected

local function dissect_one(reader, tvb, pinfo, tree, judged, session)
  local root = tree:add(msmq, tvb:range(0, #reader.data))
  local fields = reader.fields
  root:append_text(", " .. fields["Packet.Kind"])
  root:add(F.kind, fields["Packet.Kind"]):set_generated()
  local queue = queue_name(fields)
  if queue then root:add(F.queue, visible(queue)):set_generated() end
  local items = render(reader, tvb, root)
  if fields["Packet.SessionHeaderPlacement"] then
    root:add(F.placement, fields["Packet.SessionHeaderPlacement"]):set_generated()
  end
  if (fields["Packet.Unexplained"] or 0) > 0 then
    root:add(F.unexplained, fields["Packet.Unexplained"]):set_generated()
  end
  for _, one in ipairs(reader.trouble) do
    root:add(F.trouble, one.says):set_generated()
    root:add_proto_expert_info(E.trouble, one.says)
  end
  if judged then judge(reader, root, items, judged) end
  for _, one in ipairs(session or {}) do verdict(one[1], one[2], root, items) end
  local label = fields["MessagePropertiesHeader.Label"]
  local text = fields["Packet.Kind"] .. (queue and " " .. queue or "")
  if label and label ~= "" then text = text .. " '" .. label .. "'" end
  INFO[#INFO + 1] = visible(text)
  pinfo.cols.protocol:set("MSMQ")
  pinfo.cols.info:set(table.concat(INFO, "; "))
end
