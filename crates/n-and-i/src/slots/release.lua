-- A worker leaves in order. KEYS[1]: the group's hash. ARGV: interval length in ms, the worker.
local key, length, worker = KEYS[1], tonumber(ARGV[1]), 'w' .. ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = (now - now % (length * 1000)) / (length * 1000)
local found = redis.call('HMGET', key, 'group', worker)
local at, index = string.match(found[2] or '', '^(%d+) (%d+)$')
local g_length, g_interval, g_position, g_count, g_top, g_free, g_rest, g_gaps, g_end = string.match(found[1] or '',
  '^slots (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d) (.*)$')
if not at or g_length ~= ARGV[1] then
  return 'none'
end
at, index = tonumber(at), tonumber(index)
local position, count, free, gaps = tonumber(g_position), tonumber(g_count), tonumber(g_free), g_gaps
local open = tonumber(g_interval) == interval
if open and at == position then
  -- The open interval does not count it any more.
  count, free = count - 1, math.min(free, index)
elseif open and at == position - 1 then
  free = math.min(free, index)
elseif at == position and tonumber(g_interval) == interval - 1 then
  -- Closed, though nobody has registered since: its count is what others rest on.
  gaps = '1'
else
  return 'none'
end
redis.call('HSET', key,
  'group', string.format('slots %s %s %s %.0f %s %.0f %s %s %s', g_length, g_interval, g_position, count, g_top,
    free, g_rest, gaps, g_end),
  worker, string.format('gone %.0f', index),
  string.format('i%.0f', index), string.format('%.0f -%s', at, ARGV[2]))
return 'released'
