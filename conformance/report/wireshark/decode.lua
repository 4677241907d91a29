-- Read a packet by the layout tables: the same fields at the same places, and the same facts, as `mqconform` reads.
-- Numbers are read with arithmetic alone, so that Lua 5.2 to 5.4 do the same.

local DECLARED = {}   -- every field in the order of the tables: { key, type, width, word, low, bits }
local SEEN = {}

local function declare(field)
  if not SEEN[field.key] then
    SEEN[field.key] = true
    DECLARED[#DECLARED + 1] = field
  end
end

local function number_at(data, at, width)
  local value = 0
  for i = at + width, at + 1, -1 do value = value * 256 + data:byte(i) end
  return value
end

-- Bits of a word at `at`; of a 64-bit word, of the half they lie in.
local function bits_at(data, at, width, low, count)
  if width > 4 then
    at, width = at + 4 * math.floor(low / 32), 4
    low = low % 32
  end
  return math.floor(number_at(data, at, width) / 2 ^ low) % 2 ^ count
end

local function guid_at(data, at)
  local b = { data:byte(at + 1, at + 16) }
  return string.format(
    "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
    b[4], b[3], b[2], b[1], b[6], b[5], b[8], b[7], b[9], b[10], b[11], b[12], b[13], b[14], b[15], b[16])
end

local function utf8_char(code)
  if code < 0x80 then return string.char(code) end
  if code < 0x800 then return string.char(0xC0 + math.floor(code / 0x40), 0x80 + code % 0x40) end
  if code < 0x10000 then
    return string.char(0xE0 + math.floor(code / 0x1000), 0x80 + math.floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
  end
  return string.char(0xF0 + math.floor(code / 0x40000), 0x80 + math.floor(code / 0x1000) % 0x40,
    0x80 + math.floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
end

-- UTF-16LE as UTF-8; lone surrogates are kept, half a WCHAR is left out.
local function wide_text(data, at, length)
  local out, i, stop = {}, at, at + length - length % 2
  while i < stop do
    local code = number_at(data, i, 2)
    i = i + 2
    if code >= 0xD800 and code < 0xDC00 and i < stop then
      local low = number_at(data, i, 2)
      if low >= 0xDC00 and low < 0xE000 then
        code = 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00)
        i = i + 2
      end
    end
    out[#out + 1] = utf8_char(code)
  end
  return table.concat(out)
end

-- A reader: data (a string), at, limit (no field may cross it), fields by key, shown (fields with their positions),
-- sections, trouble.
-- under: the alternative layouts assumed in this pass, by default none. lengths: of fields whose size field is wrong.
local function new_reader(data, at, limit, under)
  return { data = data, at = at, limit = limit, under = under or {}, lengths = {}, fields = {}, shown = {},
    sections = {}, trouble = {} }
end

local function note(reader, code, key, at, says)
  reader.trouble[#reader.trouble + 1] = { code = code, key = key, at = at, says = says }
end

local function show(reader, key, at, length, value)
  reader.fields[key] = value
  reader.shown[#reader.shown + 1] = { key = key, at = at, length = length, value = value }
end

-- Return whether `need` bytes are present; if not, note whether the capture or a length field is at fault.
local function enough(reader, key, need)
  if reader.at + need <= reader.limit then return true end
  if reader.at + need > #reader.data then
    note(reader, "truncated", key, reader.at,
      string.format("%s needs %d bytes, %d are left", key, need, #reader.data - reader.at))
  else
    note(reader, "overrun", key, reader.at,
      string.format("%s needs %d bytes, PacketSize leaves %d", key, need, reader.limit - reader.at))
  end
  return false
end

local function met(reader, condition)
  local value = reader.fields[condition.key]
  return (value ~= nil and condition.values[value] == true) ~= (condition.negate == true)
end

local function run_steps(reader, steps, start)
  for _, step in ipairs(steps) do
    if not step(reader, start) then return false end
  end
  return true
end

local function read_section(reader, one)
  local start = reader.at
  local place = { name = one.name, at = start, first = #reader.shown + 1 }
  reader.sections[#reader.sections + 1] = place
  local whole = run_steps(reader, one.steps, start)
  place.length, place.last = reader.at - start, #reader.shown
  return whole
end

local function has_section(reader, name)
  for _, place in ipairs(reader.sections) do
    if place.name == name then return place end
  end
  return nil
end
