-- One registration. KEYS[1]: the group's hash. ARGV: interval length in ms, not-after time in
-- microseconds or '', a stamp never used before, the worker. docs/layouts.md has the reasons.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[2] ~= '' and now > tonumber(ARGV[2]) then
  return string.format('late %.0f', now)
end
local key, length, worker = KEYS[1], tonumber(ARGV[1]), 'w' .. ARGV[4]
local interval = (now - now % (length * 1000)) / (length * 1000)

local found = redis.pcall('HMGET', key, 'group', worker)
if found.err then
  local other = string.find(found.err, 'WRONGTYPE') and redis.pcall('GET', key)
  if not other then
    return redis.error_reply(found.err)
  end
  local theirs = type(other) == 'string' and string.match(other, '^counters (%d+) ')
  if theirs then
    return 'layout counters ' .. theirs
  end
  return redis.error_reply('BADGUARD ' .. key .. ' holds something else')
end

-- Of the open interval: position, count, one more than the highest index, the lowest index that may be
-- free, how many indices are written down, whether one was given back late; its stamp; count and stamp of
-- the closed interval; the server.
local position, count, top, free, known, gaps = 1, 0, 0, 0, 0, 0
local stamp, closing, previous, server = ARGV[3], -1, '-', ''
local same, follows = false, false
if found[1] then
  local g_length, g_interval, g_position, g_count, g_top, g_free, g_known, g_gaps, g_stamp, g_closing,
    g_previous, g_server = string.match(found[1],
      '^slots (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d) (%x+) (%-?%d+) ([%x-]+) (%x*)$')
  if not g_length then
    return redis.error_reply('BADGUARD ' .. key .. ' holds something else')
  end
  if g_length ~= ARGV[1] then
    return 'interval ' .. g_length
  end
  position, known = tonumber(g_position), tonumber(g_known)
  same, follows = tonumber(g_interval) == interval, tonumber(g_interval) == interval - 1
  if same then
    count, top, free, gaps = tonumber(g_count), tonumber(g_top), tonumber(g_free), tonumber(g_gaps)
    stamp, closing, previous, server = g_stamp, tonumber(g_closing), g_previous, g_server
  elseif follows then
    position, closing, previous, server = position + 1, tonumber(g_count), g_stamp, g_server
    -- If nobody left a gap the next newcomer is the first after all others.
    if tonumber(g_top) == closing and g_gaps == '0' then
      free = closing
    end
  else
    position = position + 2
  end
else
  -- Nobody's yet, or a hash of others.
  local other = redis.pcall('GET', key)
  if other then
    local theirs = string.find(other.err, 'WRONGTYPE')
    return redis.error_reply(theirs and 'BADGUARD ' .. key .. ' holds something else' or other.err)
  end
end
if not same then
  -- A server that was promoted or restarted may have lost the end of what it counted.
  local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
  if id ~= server then
    previous = '-'
  end
  server = id
end

local own_position, own_index
if found[2] then
  own_position, own_index = string.match(found[2], '^(%d+) (%d+)$')
  if not own_position then
    return 'gone'
  end
  own_position, own_index = tonumber(own_position), tonumber(own_index)
end

local function read(holder)
  local at, mark, who = string.match(holder, '^(%d+) ([+-])(%x+)$')
  return tonumber(at), mark, who
end

-- The field of a worker that has had no other index since; none if it has.
local function stale_worker(at, who, index)
  if who == ARGV[4] then
    return nil
  end
  local theirs = redis.call('HGET', key, 'w' .. who)
  if theirs == string.format('%.0f %.0f', at, index) or theirs == string.format('gone %.0f', index) then
    return 'w' .. who
  end
end

local index, replaced
if own_position == position then
  -- Asked again: the same answer.
  index = own_index
elseif own_position == position - 1 and own_index < closing then
  -- Keeps its index.
  index, count = own_index, count + 1
else
  -- The lowest index that was free in the closed interval and is not taken in the open one; if there
  -- is none, the next one above.
  while not index do
    local fields = {}
    for offset = 0, 31 do
      fields[offset + 1] = string.format('i%.0f', free + offset)
    end
    local holders = redis.call('HMGET', key, unpack(fields))
    for offset = 0, 31 do
      local candidate, at, mark, who = free + offset, nil, nil, nil
      if holders[offset + 1] then
        at, mark, who = read(holders[offset + 1])
      end
      local taken = mark == '+' and (at == position or at == position - 1 and candidate < closing)
      if not taken then
        index, replaced = candidate, who and { at, who }
        break
      end
    end
    free = index and index + 1 or free + 32
  end
  count = count + 1
end
top, known = math.max(top, index + 1), math.max(known, index + 1)

local function text(number)
  return string.format('%.0f', number)
end

-- At most two indices that nobody has any more are forgotten at a time, from the highest down.
local stale = {}
local lowest = math.max(top, closing)
for _ = 1, 2 do
  if known > lowest then
    known = known - 1
    local field = 'i' .. text(known)
    local holder = redis.call('HGET', key, field)
    stale[#stale + 1] = field
    if holder then
      local at, _, who = read(holder)
      stale[#stale + 1] = stale_worker(at, who, known)
    end
  end
end
if replaced then
  stale[#stale + 1] = stale_worker(replaced[1], replaced[2], index)
end

-- The first write must be one that is refused when memory is short: those after it are not.
local place, at_index = text(position) .. ' ', 'i' .. text(index)
redis.call('HSET', key,
  'group', string.format('slots %s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %s %.0f %s %s', ARGV[1], interval,
    position, count, top, free, known, gaps, stamp, closing, previous, server),
  worker, place .. text(index),
  at_index, place .. '+' .. ARGV[4])
local done
if #stale > 0 then
  done = redis.pcall('HDEL', key, unpack(stale))
end
if type(done) ~= 'table' then
  done = redis.pcall('PEXPIRE', key, 3 * length)
end
if type(done) == 'table' and done.err then
  -- A key of its own making would never expire.
  if not found[1] and type(redis.pcall('HDEL', key, 'group', worker, at_index)) ~= 'table' then
    return redis.error_reply(done.err)
  end
  return redis.error_reply('COUNTED ' .. done.err)
end
return string.format('ok %.0f %.0f %.0f %.0f %s %s', interval, index, closing, now, stamp, previous)
