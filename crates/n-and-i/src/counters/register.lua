-- One registration. KEYS[1]: the group's guard. ARGV: interval length in ms, not-after time in
-- microseconds or '', a stamp never used before. docs/layouts.md has the reasons.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[2] ~= '' and now > tonumber(ARGV[2]) then
  return string.format('late %.0f', now)
end
local length = tonumber(ARGV[1])
local interval = (now - now % (length * 1000)) / (length * 1000)
local tag = string.sub(KEYS[1], 1, -6)
local open = tag .. string.format('%.0f', interval)

local same, stamp, count, closing, previous, server = false, ARGV[3], 0, -1, '-', ''
local guard = redis.pcall('GET', KEYS[1])
if type(guard) == 'table' then
  -- A hash is how the slots layout keeps its groups.
  local group = string.find(guard.err, 'WRONGTYPE') and redis.call('HGET', KEYS[1], 'group')
  local theirs = group and string.match(group, '^slots (%d+) ')
  if theirs then
    return 'layout slots ' .. theirs
  end
  return redis.error_reply(group and 'BADGUARD ' .. KEYS[1] .. ' holds something else' or guard.err)
end
if guard then
  local g_length, g_interval, g_count, g_stamp, g_closing, g_previous, g_server =
    string.match(guard, '^counters (%d+) (%d+) (%d+) (%x+) (%-?%d+) ([%x-]+) (%x*)$')
  if not g_length then
    return redis.error_reply('BADGUARD ' .. KEYS[1] .. ' holds something else')
  end
  if g_length ~= ARGV[1] then
    return 'interval ' .. g_length
  end
  count = tonumber(g_count)
  if tonumber(g_interval) == interval then
    same, stamp, closing, previous, server = true, g_stamp, g_closing, g_previous, g_server
  elseif tonumber(g_interval) == interval - 1 then
    previous, server = g_stamp, g_server
  end
end
if not same then
  -- A server that was promoted or restarted may have lost the end of what it counted.
  local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
  local closed = redis.call('GET', tag .. string.format('%.0f', interval - 1))
  closing = closed and tonumber(string.match(closed, '^%d+$')) or -1
  if closing > 4294967295 then
    closing = -1
  end
  if id ~= server or closing < count then
    previous = '-'
  end
  server = id
end

local kept = 3 * length
-- Fails here, before anything is counted, if it is not allowed, and a counter always has an end.
-- As the first write it must be one that is refused when memory is short: those after it are not.
local made = not same and redis.call('SET', open, 0, 'PX', kept, 'NX')
local index = redis.call('INCR', open) - 1
local lost = same and index < count
if not same or lost then
  stamp = ARGV[3]
end
local guarded = string.format('counters %s %.0f %.0f %s %.0f %s %s',
  ARGV[1], interval, index + 1, stamp, closing, previous, server)
local done
if lost or not (same or made) then
  done = redis.pcall('PEXPIRE', open, kept)
end
if type(done) ~= 'table' then
  done = redis.pcall('SET', KEYS[1], guarded, 'PX', kept)
end
if type(done) == 'table' and done.err then
  return redis.error_reply('COUNTED ' .. done.err)
end
return string.format('ok %.0f %.0f %.0f %.0f %s %s', interval, index, closing, now, stamp, previous)
