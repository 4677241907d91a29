-- Judge packets by those before them on their connection. The first pass over the frames does it, in their order, and
-- keeps what it has found for later passes. Nothing is judged on a connection any more once bytes of it are missing.

local CONNECTIONS, OLDEST, VERDICTS = {}, {}, {}
local AGES, SENT, SENT_BEFORE = {}, {}, {}   -- by queue manager; identifiers of messages, and those that came before
local MOST_CONNECTIONS, MOST_VERDICTS = 4096, 1000000
local CLOCK = {}

local ZERO = { __index = function() return 0 end }
-- A node that was never used is followed by the next one, which is free too.
local FREE = { __index = function(_, place) return place % NODE == 0 and place / NODE + 1 or 0 end }

local function copy(values)
  local out = setmetatable({}, ZERO)
  for place, value in pairs(values) do out[place] = value end
  return out
end

local function forget()
  CONNECTIONS, OLDEST, VERDICTS, AGES, SENT, SENT_BEFORE = {}, {}, {}, {}, {}, {}
  CLOCK = { first = 1, last = 0, latest = 0, doubted = 0, frames = 0, managers = 0, sent = 0 }
end

local epoch_of, stream_of = Field.new("frame.time_epoch"), Field.new("tcp.stream")

-- Return the time of a frame in ns since the second before the first one; 0 for one that says nothing.
local function time_of()
  local time = last_value(epoch_of)
  if not time then return 0 end
  CLOCK.base = CLOCK.base or time.secs - 1
  local now = (time.secs - CLOCK.base) * 1e9 + time.nsecs
  if now > CLOCK.latest then
    CLOCK.latest = now
  elseif now < CLOCK.latest - BACK_NS then
    CLOCK.doubted, AGES, CLOCK.managers = CLOCK.latest, {}, 0
  end
  return CLOCK.base >= FIRST_SECOND and now > 0 and now < 2 ^ 52 and now or 0
end

-- Record that something of a connection is missing, or is no packet.
function lose(stream) CONNECTIONS[stream] = false end

local received_of = Field.new("tcp.ack_raw")
local gaps_of = { Field.new("tcp.analysis.lost_segment"), Field.new("tcp.analysis.ack_lost_segment") }

-- Wireshark may wait for a segment that the capture lacks, and show what the other side says of it.
local function watch(stream)
  if not (gaps_of[1]() or gaps_of[2]()) then return end
  lose(stream)
  CLOCK.torn = true
end

-- Tell whether the sender has received bytes of a packet that has not come to its end here: PacketSize may be wrong.
local function knows_more(connection, key)
  local received = last_value(received_of)
  for other, place in pairs(connection.next) do
    local ahead = other ~= key and received and (received - place) % 2 ^ 32 or 0
    if ahead > 0 and ahead < 2 ^ 31 then return true end
  end
  return false
end

-- Begin a direction with its first byte.
function begin(stream, key, start)
  local connection = CONNECTIONS[stream]
  if connection == nil then
    connection = { rows = copy(ROW), shared = copy(SHARED), nodes = setmetatable({}, FREE) }
    connection.next, connection.side, connection.ends, connection.manager = {}, {}, 0, {}
    connection.last, connection.queues = {}, 0
    CONNECTIONS[stream] = connection
    CLOCK.last = CLOCK.last + 1
    OLDEST[CLOCK.last] = stream
    if CLOCK.last - CLOCK.first >= MOST_CONNECTIONS then
      lose(OLDEST[CLOCK.first])
      OLDEST[CLOCK.first], CLOCK.first = nil, CLOCK.first + 1
    end
  end
  if connection then
    connection.next[key], connection.side[key], connection.ends = start, connection.ends, connection.ends + 1
  end
end

-- Take over what a ConnectionParameters packet names.
local function name_parameters(rows, mine, fields)
  local at = "ConnectionParametersHeader."
  rows[AT.RECOVERABLE_MS] = fields[at .. "RecoverableAckTimeout"] or NONE
  rows[AT.EXPRESS_MS] = fields[at .. "AckTimeout"] or NONE
  local window = fields[at .. "WindowSize"]
  rows[mine + AT.NAMED] = window or NONE
  if window then rows[mine + AT.WINDOW] = math.max(rows[mine + AT.WINDOW], window, 0) end
end

-- Judge the age of a message by the smallest one of its queue manager. Where replay may see messages that are not seen
-- here, the smallest age is too large: only what is too old by it is certain.
local function judge_age(fields, now, followed, out)
  local source, sent = fields["UserHeader.SourceQueueManager"], fields["UserHeader.SentTime"]
  local allowed = fields["BaseHeader.TimeToReachQueue"]
  if not (source and sent and allowed) or now == 0 then return end
  if not AGES[source] then
    if CLOCK.managers == MOST_HOSTS then return end
    AGES[source], CLOCK.managers = { [NUMBER] = NONE, doubted = 0, blind = false }, CLOCK.managers + 1
  end
  local ages = AGES[source]
  ages.blind = ages.blind or not followed or CLOCK.torn
  if not followed then return end
  STEPS.age(setmetatable({}, ZERO), 0, 0, ages, 0, ages.doubted, out, now, sent - CLOCK.base, allowed, 1)
  for place = 1, out[0], 4 do
    local outcome = out[place + 1]
    if outcome == DOUBTS then ages.doubted = 1 elseif outcome == RIGHTS then ages.doubted = 0 end
    if ages.blind and out[place] ~= EXPIRED then out[place + 1] = OPEN end
  end
end

-- Tell whether a message was not sent before. More are remembered than replay does.
local function is_new(fields)
  local key = fields["UserHeader.SourceQueueManager"] .. fields["UserHeader.MessageID"]
  local new = not (SENT[key] or SENT_BEFORE[key])
  if CLOCK.sent == MOST_MESSAGES then SENT, SENT_BEFORE, CLOCK.sent = {}, SENT, 0 end
  if not SENT[key] then SENT[key], CLOCK.sent = true, CLOCK.sent + 1 end
  return new
end

-- Judge the identifier of a message by the last one to its queue, if its queue manager itself sends it, and only now.
local function judge_identifier(connection, side, fields, new, out)
  local at, class = "UserHeader.DestinationQueue.", fields["MessagePropertiesHeader.MessageClass"]
  local direct = fields[at .. "DirectFormatName"]
  if fields["UserHeader.Flags.TH"] ~= 0 or (class or 0) ~= 0 then return end
  local own = fields["UserHeader.SourceQueueManager"] == connection.manager[side] and fields["UserHeader.Flags.RC"] == 0
  if not (own and new) or CLOCK.torn or (direct and direct:find("[\128-\255]")) then
    connection.last, connection.queues = {}, 0
    return
  end
  local queue = table.concat({ side, fields["BaseHeader.Flags.PR"], tostring(fields["UserHeader.QueueManagerAddress"]),
    tostring(fields[at .. "PrivateQueueIdentifier"]), tostring(fields[at .. "PublicQueueIdentifier"]),
    tostring(direct):lower() }, "|")
  if not connection.last[queue] then
    if connection.queues == MOST_HOSTS then connection.last, connection.queues = {}, 0 end
    connection.last[queue], connection.queues = { [NUMBER] = NONE }, connection.queues + 1
  end
  STEPS.name(connection.last[queue], 0, out, fields["UserHeader.MessageID"])
end

local function results(out, found)
  for place = 1, out[0], 4 do
    local one, outcome = SESSION_RULES[out[place]], out[place + 1]
    local kind = outcome % 8
    if one and kind == FAILS then
      found[#found + 1] = { one.broken, one }
    elseif one and kind == HOLDS then
      local default = not one.default or both(math.floor(outcome / 8), one.default) ~= 0
      if not default then found[#found + 1] = { "reading", one } end
      if default and msmq.prefs.passes then found[#found + 1] = { "pass", one } end
    end
  end
end

-- Return the connection of a packet that comes in its turn, and that is whole; nil for another packet, and whether it is
-- repeated.
-- ends: a head follows, or nothing yet. After a packet of a wrong PacketSize none does.
local function followed(stream, key, place, reader, ends)
  local connection = CONNECTIONS[stream]
  local wanted = connection and connection.next[key]
  if wanted and wanted ~= place and (place - wanted) % 2 ^ 32 >= 2 ^ 31 then return nil, true end
  local plain = ends and #reader.trouble == 0 and (reader.fields["Packet.Unexplained"] or 0) == 0
  if wanted ~= place or not plain or reader.fields["Packet.Kind"] == C.malformed or CLOCK.frames >= MOST_VERDICTS then
    lose(stream)
    return nil, false
  end
  connection.next[key] = (place + #reader.data) % 2 ^ 32
  return connection, false
end

-- Change the registers of a connection; write what is found.
local function see(connection, side, fields, frame, now, out)
  local rows, kind, values = connection.rows, fields["Packet.Kind"], {}
  for at, name in ipairs(READ) do values[at] = fields[name] or NONE end
  connection.shared[AT.DOUBTED_NS] = CLOCK.doubted
  STEPS.see(rows, 0, side, connection.nodes, connection.shared, out, KINDS[kind] or OTHER, now, frame, values[1],
    values[2], values[3], values[4], values[5], values[6], values[7], values[8], 0, 0)
  if kind == "ConnectionParameters" then
    name_parameters(rows, SIDES[side + 1], fields)
  elseif kind == "EstablishConnection" then
    connection.manager[side] = fields["EstablishConnectionHeader." .. (side == 0 and "ClientGuid" or "ServerGuid")]
  end
end

-- Return what is said of the packet at a place of a stream, a list of outcomes and rules.
function judge_session(stream, key, place, reader, pinfo, ends)
  if pinfo.visited then return VERDICTS[pinfo.number] and VERDICTS[pinfo.number][place] or {} end
  watch(stream)
  local fields, now, out, about, found, new = reader.fields, time_of(), { [0] = 0 }, { [0] = 0 }, {}, false
  local connection, repeated = followed(stream, key, place, reader, ends)
  local kind = fields["Packet.Kind"]
  if repeated then return found end
  if KINDS[kind] and KINDS[kind] ~= KINDS.SessionAck and fields["UserHeader.MessageID"] then
    judge_age(fields, now, connection ~= nil, about)
    new = is_new(fields)
  end
  if not connection then return found end
  local side = connection.side[key]
  see(connection, side, fields, pinfo.number, now, out)
  if kind == C.user_message then judge_identifier(connection, side, fields, new, about) end
  if not knows_more(connection, key) then
    results(out, found)
    results(about, found)
  end
  if #found > 0 then
    if not VERDICTS[pinfo.number] then VERDICTS[pinfo.number], CLOCK.frames = {}, CLOCK.frames + 1 end
    VERDICTS[pinfo.number][place] = found
  end
  return found
end

-- Frames of no packet may show that the clock was set, or that segments are missing.
local clock = Proto("msmq_clock", "Microsoft Message Queuing, the recording")

function clock.dissector(tvb, pinfo, tree)
  if pinfo.visited then return end
  time_of()
  local stream = last_value(stream_of)
  if stream and CONNECTIONS[stream] ~= nil then watch(stream) end
end

function clock.init() forget() end

forget()
register_postdissector(clock)
