-- The verdict must name line 7|8|14, reason list|keys|closures, holder timers
-- A finished session cancels its repeating timer only by a flag, so that the scheduler keeps the timer.
local scheduler = {timers = {}, now = 0}

local function every(seconds, f)
  local timer
  timer = {at = scheduler.now + seconds, seconds = seconds, f = f, active = true}
  scheduler.timers[#scheduler.timers + 1] = timer
  return timer
end

local beats = 0
local function session(id)
  local state = {id = id, seen = 0}
  return every(5, function() state.seen = state.seen + 1 beats = beats + 1 end)
end

for i = 1, 5400 do
  scheduler.now = scheduler.now + 1
  local open = {}
  for k = 1, 4 do open[k] = session(i * 4 + k) end
  if i % 500 == 0 then
    for _, t in ipairs(scheduler.timers) do
      if t.active and t.at <= scheduler.now then t.f() t.at = scheduler.now + t.seconds end
    end
  end
  for _, timer in ipairs(open) do timer.active = false end
end
print(beats)
