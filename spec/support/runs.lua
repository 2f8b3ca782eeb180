-- SPDX-License-Identifier: MIT
-- Writes profiles with random events for specs: allocations of all kinds and classes, time samples,
-- collections, marks, changes of the period, and names that file formats must escape. The same seed gives
-- the same events.

local gen = require "profilegen"

local M = {}

-- Names that produce wrong output in a format unless the writer escapes them.
M.NAMES = {
  "plain", 'quo"te', "back\\slash", "semi;colon", "co:lon", "new\nline",
  "tab\there", "<script>alert(1)</script>", "a&amp;b", "caf\u{e9}",
  "bad\255utf8", "nul\0byte", "\u{1F600}", " 12", "", "x 5", "{", "</b>",
  "\u{2028}", "\127del", ("long"):rep(200),
}

-- Writes a profile with random events to 'path'. Options:
--   seed         of the events
--   format       version of the file, 6 or 7
--   plain        true: the file is not compressed
--   actions      number of events
--   time, allocations, classes, deaths    false: no such data
--   undecided    true: no collection at the end, so that the survival of the last samples is unknown
function M.write(path, options)
  local state = options.seed or 1
  local function random(n)
    state = state * 6364136223846793005 + 1442695040888963407
    return (state >> 33) % n
  end
  local timed = options.time ~= false
  local p = assert(gen.open{
    path = path, format = options.format or 6, plain = options.plain,
    period = 4096, timeperiod = timed and 1000000 or 0, native = true,
    followed = options.deaths ~= false and 1000 or 0,
    command = 'lua "x" <y>', resolve = random(2) == 0 and "plain" or "hostile",
  })
  for i = 1, #M.NAMES do
    p:name(8 * i, M.NAMES[i], i, "@" .. M.NAMES[1 + i * 5 % #M.NAMES])
    p:class(i, M.NAMES[i])
  end
  local clock, open, followed = gen.now(), 0, 0
  -- Reports random followed samples as dead. Returns run lengths: how many followed samples in a row are
  -- alive, then how many are dead, then alive, and so on.
  local function deaths()
    local runs, dead = {}, 0
    local left = followed
    while left > 0 and options.deaths ~= false do
      local alive, died = random(20), 1 + random(5)
      if alive + died > left then break end
      runs[#runs + 1], runs[#runs + 2] = alive, died
      left, dead = left - alive - died, dead + died
    end
    followed = followed - dead
    return #runs > 0 and runs or nil
  end
  local function collect()
    local fates, classes = {}, options.classes ~= false and {} or nil
    for i = 1, open do
      fates[i] = random(3) > 0 and "0" or random(9) > 0 and "1" or "2"
      if fates[i] == "1" then followed = followed + 1 end
      if classes then
        classes[i] = random(4) == 0 and 1 + random(#M.NAMES) or 0
      end
    end
    clock = clock + 1000 * random(3000)
    local major = random(2) == 0
    p:collection{
      fates = table.concat(fates), classes = classes, time = clock,
      major = major, deaths = major and deaths() or nil, duration = 1000 * random(900),
      inuse = random(1 << 30), held = random(1 << 31), rss = random(1 << 22) << 10,
      tenured = random(1 << 20), state = random(4), minors = random(3),
    }
    open = 0
  end
  for _ = 1, options.actions or 600 do
    local action = random(40)
    clock = clock + random(2000000)
    if action == 0 then
      collect()
    elseif action == 1 then
      p:period(1024 << random(8))
    elseif action == 2 and timed then
      p:timeperiod(1000 * (1 + random(5000)), random(2) == 0)
    elseif action == 3 then
      p:mark(M.NAMES[1 + random(#M.NAMES)],
             random(2) == 0 and tostring(random(1000) / 8)
             or M.NAMES[1 + random(#M.NAMES)], clock)
    else
      local frames = {time = clock, count = random(9) == 0 and 1 + random(20)}
      for i = 1, random(8) do
        frames[2 * i - 1] = random(5) == 0 and 0x7f0001 + 16 * random(4)
                            or 8 * (1 + random(#M.NAMES))
        frames[2 * i] = frames[2 * i - 1] & 1 == 0 and random(30) or 0
      end
      frames.count = frames.count or 1
      if timed and action < 15 then
        if random(6) == 0 then
          table.insert(frames, 1, 0)
          table.insert(frames, 1, random(2) == 0 and 57 or 59)
        end
        p:time(frames)
      elseif options.allocations ~= false then
        frames.kind, frames.size = random(#gen.kinds), 16 + 8 * random(500)
        frames.outside = random(9) == 0
        p:sample(frames)
        open = open + 1
      end
    end
  end
  if not options.undecided then
    collect()
  end
  p:allocated(123456789)
  assert(p:close())
end

return M
