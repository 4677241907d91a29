-- The words of the layout tables. Each returns a step: (reader, start of the section) -> whether to go on.

local function section(name, steps)
  return { name = name, steps = steps }
end

local function uint(key, width, ...)
  local bits = { ... }
  declare({ key = key, type = "uint", width = width, word = #bits > 0 })
  for _, one in ipairs(bits) do
    declare({ key = one[1], type = "bits", width = width, low = one[2], bits = one[3] })
  end
  return function(reader)
    if not enough(reader, key, width) then return false end
    local at = reader.at
    show(reader, key, at, width, number_at(reader.data, at, width))
    for _, one in ipairs(bits) do
      show(reader, one[1], at, width, bits_at(reader.data, at, width, one[2], one[3]))
    end
    reader.at = at + width
    return true
  end
end

local function guid(key)
  declare({ key = key, type = "guid" })
  return function(reader)
    if not enough(reader, key, 16) then return false end
    show(reader, key, reader.at, 16, guid_at(reader.data, reader.at))
    reader.at = reader.at + 16
    return true
  end
end

-- Return the number of bytes of a counted field, nil if its size field is impossible.
local function counted(reader, key, length)
  local of = length.of
  if reader.under[C.body_allocated] and key == C.body then of = C.extent end
  if not of then return length.fixed end
  local times = length.times or 1
  if length.bytes_under and reader.under[length.bytes_under] then times = 1 end
  local bytes = reader.lengths[key] or reader.fields[of] * times - (length.minus or 0)
  if bytes < 0 then
    note(reader, "size", of, reader.at, string.format("%s is too small by %d for what it counts", of, -bytes))
    return nil
  end
  return bytes
end

-- The text up to its first NUL: whether there is one, the bytes behind it, and whether those are zero.
local function filled_facts(raw)
  for i = 1, #raw - 1, 2 do
    if raw:byte(i) == 0 and raw:byte(i + 1) == 0 then
      return true, #raw - i - 1, not raw:find("[^\0]", i + 2)
    end
  end
  return false, 0, true
end

-- Text that a NUL ends and zeros fill up; its value is the bytes.
local function filled(key, length)
  declare({ key = key, type = "bytes" })
  return function(reader)
    local bytes = counted(reader, key, length)
    if bytes == nil then return false end
    if bytes == 0 then return true end
    if not enough(reader, key, bytes) then return false end
    local raw = reader.data:sub(reader.at + 1, reader.at + bytes)
    show(reader, key, reader.at, bytes, raw)
    local fields = reader.fields
    fields[key .. ".Ended"], fields[key .. ".Behind"], fields[key .. ".Zeros"] = filled_facts(raw)
    reader.at = reader.at + bytes
    return true
  end
end

local function octets(key, length, elements)
  declare({ key = key, type = "bytes" })
  if elements then declare_elements(key, elements) end
  return function(reader, start)
    local bytes = counted(reader, key, length)
    if bytes == nil then return false end
    if bytes > 0 then
      if not enough(reader, key, bytes) then return false end
      show(reader, key, reader.at, bytes, reader.data:sub(reader.at + 1, reader.at + bytes))
    end
    if elements then read_list(reader, key, reader.at, bytes, start, elements) end
    reader.at = reader.at + bytes
    return true
  end
end

local function wide(key, length)
  declare({ key = key, type = "text" })
  return function(reader)
    local bytes = counted(reader, key, length)
    if bytes == nil then return false end
    if bytes == 0 then return true end
    if not enough(reader, key, bytes) then return false end
    local text, odd = wide_text(reader.data, reader.at, bytes), bytes % 2 == 1
    local terminated = not odd and text:sub(-1) == "\0"
    if terminated then text = text:sub(1, -2) end
    show(reader, key, reader.at, bytes, text)
    reader.fields[key .. ".Terminated"] = terminated
    reader.fields[key .. ".Inner"] = text:find("\0", 1, true) ~= nil
    reader.fields[key .. ".Odd"] = odd
    reader.at = reader.at + bytes
    return true
  end
end

local function pad(key, to, not_under)
  declare({ key = key, type = "bytes" })
  return function(reader, start)
    local need = (start - reader.at) % to
    if not_under and reader.under[not_under] then need = 0 end
    local there = math.min(need, reader.limit - reader.at)
    if need > 0 then
      show(reader, key, reader.at, there, reader.data:sub(reader.at + 1, reader.at + there))
    end
    reader.fields[key .. ".Complete"] = there == need
    reader.at = reader.at + there
    return true
  end
end

local function when(condition, steps)
  return function(reader, start)
    return not met(reader, condition) or run_steps(reader, steps, start)
  end
end

local function choice(by, options)
  return function(reader, start)
    local selector = reader.fields[by]
    local steps = options[selector]
    if steps == nil then
      note(reader, "queue-type", by, reader.at, string.format("%s is %d, which has no layout", by, selector))
      return false
    end
    return run_steps(reader, steps, start)
  end
end
