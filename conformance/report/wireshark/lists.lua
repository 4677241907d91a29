-- Lists of names inside a field of bytes. No document says from where alignment counts, so a list is read in every way,
-- and the ways that fit are a fact about it.

local PROTOCOLS = { "OS:", "TCP:", "IPX:", "SPX:", "HTTP://", "HTTPS://" }

local function declare_elements(key, elements)
  declare({ key = key .. "." .. elements.selector, type = "uint", width = 2, names = elements.selector })
  declare({ key = key .. ".Padding", type = "bytes" })
  for _, items in pairs(elements.options) do
    for _, item in ipairs(items) do
      if item.name then declare({ key = key .. "." .. item.name, type = item.type, width = item.width }) end
    end
  end
end

-- Two letters beyond ASCII have an ASCII letter as their upper case.
local function count_text(text, walk)
  local upper = text:sub(1, 32):gsub("\197\191", "S"):gsub("\196\177", "I"):upper()
  if upper:sub(1, 7) == "DIRECT=" then
    walk.prefixed = walk.prefixed + 1
    return
  end
  for _, protocol in ipairs(PROTOCOLS) do
    if upper:sub(1, #protocol) == protocol then
      walk.plain = walk.plain + 1
      return
    end
  end
  walk.foreign = walk.foreign + 1
end

-- Return the bytes of alignment. inside: offset from the element's start, outside: from the section's.
local function alignment(item, inside, outside, way)
  local origin, doubtful = way:match("^(%a+)%.?(%a*)$")
  if origin == "none" or (item.doubtful and doubtful == "packed") then return 0 end
  return -(origin == "header" and outside or inside) % item.align
end

-- Return the number of bytes of a text with its NUL, nil if it has none.
local function ended_width(data, at)
  local found = data:find("\0\0", at + 1, true)
  while found and (found - 1 - at) % 2 == 1 do found = data:find("\0\0", found + 1, true) end
  return found and found + 1 - at or nil
end

-- Return the offset in the list behind the element at `p`, or nil; call `emit` with the element's fields.
local function read_element(data, at, length, offset, p, elements, way, walk, emit)
  local begin, selector = p, number_at(data, at + p, 2)
  local items = elements.options[selector]
  if not items then
    walk.stopped, walk.selector = "type", selector
    return nil
  end
  if emit then emit(elements.selector, selector, p, 2) end
  p = p + 2
  for _, item in ipairs(items) do
    if item.align then
      local need = alignment(item, p - begin, offset + p, way)
      walk.aligned = walk.aligned or item.align > 2
      if need > 0 and emit then emit("Padding", "", p, math.min(need, length - p)) end
      p = p + need
    else
      local width = item.width or ended_width(data, at + p)
      if not width or p + width > length then
        walk.stopped = item.type == "text" and "unterminated" or "short"
        return nil
      end
      local value
      if item.type == "text" then
        value = wide_text(data, at + p, width - 2)
        count_text(value, walk)
      elseif item.type == "guid" then
        value = emit and guid_at(data, at + p) or ""
      else
        value = number_at(data, at + p, width)
      end
      if emit then emit(item.name, value, p, width) end
      p = p + width
    end
  end
  walk.kinds[selector] = (walk.kinds[selector] or 0) + 1
  return p
end

local function walk_list(data, at, length, offset, count, elements, way, emit)
  local walk = { count = 0, stopped = "", kinds = {}, prefixed = 0, plain = 0, foreign = 0, aligned = false }
  local p = 0
  while length - p > C.spare do
    local told = walk.count < C.most_elements and emit or nil
    local next_p = read_element(data, at, length, offset, p, elements, way, walk, told)
    if not next_p then
      if walk.count >= count then walk.stopped = "" end
      break
    end
    p = next_p
    walk.count = walk.count + 1
  end
  walk.spare = length - p
  local even = (offset + length) % 4 == 0
  walk.fits = walk.stopped == "" and (walk.spare == 0 or (walk.spare <= C.spare and even))
  return walk
end

-- Choose a way to read: one that fits with `count` elements, else one that fits, else the one that gets furthest.
local function better(a, b, count)
  local function flag(value) return value and 1 or 0 end
  local function trust(walk)
    return { flag(walk.fits), flag(walk.fits and walk.count == count), flag(walk.fits and walk.spare == 0), walk.count }
  end
  local x, y = trust(a), trust(b)
  for i = 1, 4 do
    if x[i] ~= y[i] then return x[i] > y[i] end
  end
  return false
end

local function read_list(reader, key, at, length, start, elements)
  local data, offset, count, fields = reader.data, at - start, reader.fields[elements.count], reader.fields
  local walks = { walk_list(data, at, length, offset, count, elements, WAYS[1]) }
  local chosen = 1
  for i = 2, #WAYS do
    walks[i] = walks[1].aligned and walk_list(data, at, length, offset, count, elements, WAYS[i]) or walks[1]
    if better(walks[i], walks[chosen], count) then chosen = i end
  end
  local walk = walks[chosen]
  fields[key .. ".Elements"], fields[key .. ".Stopped"] = walk.count, walk.stopped
  fields[key .. ".Left"], fields[key .. ".Way"] = walk.spare, WAYS[chosen]
  fields[key .. ".Plain"], fields[key .. ".Prefixed"] = walk.plain, walk.prefixed
  fields[key .. ".Foreign"] = walk.foreign
  if walk.stopped == "type" then fields[key .. ".StoppedType"] = walk.selector end
  for i, way in ipairs(WAYS) do fields[key .. ".Fits." .. way] = walks[i].fits end
  for code in pairs(elements.options) do fields[key .. ".Of" .. code] = walk.kinds[code] or 0 end
  walk_list(data, at, length, offset, count, elements, WAYS[chosen], function(name, value, p, width)
    reader.shown[#reader.shown + 1] = { key = key .. "." .. name, at = at + p, length = width, value = value }
  end)
end
