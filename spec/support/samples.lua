-- SPDX-License-Identifier: MIT
-- Decodes the samples of a profile with all their data, for specs that predict samples. It does not use the
-- reader of asamp/. doc/profile-format.md describes the layout of the file.

local vmprof = require "spec.support.vmprof"

local M = {}

local function numbers(text)
  local list = {}
  for n in text:gmatch "%-?%d+" do list[#list + 1] = math.tointeger(n) end
  return list
end

-- Parses "py:name:line:file".
local function frame(log, id, line)
  local name = assert(log.names[id], "frame without a name")
  local prefix, fn, defined, file = name:match "^(%w+):([^:]*):(%d+):(.*)$"
  return {name = fn, line = line, defined = math.tointeger(defined), file = file,
          native = prefix == "n"}
end

-- Largest id of a kind of allocation. The ids are the odd numbers from 1 to this one. In a file of the
-- stock format (version 6), the innermost frame of an allocation sample is not a function but such an id.
local LASTTYPE = 27

-- Returns true if the stack belongs to an allocation sample.
local function isallocation(log, stack)
  if log.version == 7 then return stack.marker == 9 end
  local leaf = stack.words[2]
  return leaf % 2 == 1 and leaf <= LASTTYPE
end

-- Returns the frames of a stack record, innermost first, and its kind of allocation (nil: it is a time
-- sample). In the stock format (version 6), the innermost frame is the kind; it is removed from the list.
local function frames(log, cache, stack)
  local list, first, kind = {}, 1, nil
  if log.version == 6 and isallocation(log, stack) then
    kind = frame(log, stack.words[2], 0).name
    first = 3
  end
  for i = first, #stack.words, 2 do
    local line, id = stack.words[i], stack.words[i + 1]
    local key = id << 24 | line
    cache[key] = cache[key] or frame(log, id, line)
    list[#list + 1] = cache[key]
  end
  return list, kind
end

-- Functions that process an event of a batch, by the letter of the event. 'rest' is the text after the
-- letter.
local events = {}

function events.f(rest, state, samples)
  local survived, first = false, state.fate
  state.walk = nil
  for _, run in ipairs(numbers(rest)) do
    for _ = 1, run do
      samples[state.fate].survived = survived
      samples[state.fate].collection = #samples.collections + 1
      if survived then state.followed[#state.followed + 1] = samples[state.fate] end
      state.fate = state.fate + 1
    end
    survived = not survived
  end
  state.fated = first
end

function events.l(rest, state, samples)
  local list, at = numbers(rest), assert(state.fated, "classes without fates")
  for i = 1, #list, 2 do
    for _ = 1, list[i] do
      if list[i + 1] > 0 then
        samples[at].class = assert(samples.classes[list[i + 1]], "unknown class")
      end
      at = at + 1
    end
  end
  assert(at == state.fate, "as many classes as fates")
end

-- Event "u" comes after the survival outcomes of a collection. It divides the survivors into those that are
-- followed until they die, and those that are not, which are removed from 'followed'. It has run lengths:
-- how many survivors in a row are followed, then how many are not, and so on.
function events.u(rest, state, samples)
  local not_, survivors = false, {}
  for i = state.fated, state.fate - 1 do
    if samples[i].survived then survivors[#survivors + 1] = samples[i] end
  end
  local before = #state.followed - #survivors
  local n = 0
  for _, run in ipairs(numbers(rest)) do
    for _ = 1, run do
      n = n + 1
      assert(survivors[n], "more than survived").unfollowed = not_
    end
    not_ = not not_
  end
  local to = before
  for i = before + 1, #state.followed do
    local s = state.followed[i]
    state.followed[i] = nil
    if not s.unfollowed then
      to = to + 1
      state.followed[to] = s
    end
  end
end

-- Event "d" reports deaths of followed samples. It has run lengths: how many samples in a row are alive,
-- then how many are dead, and so on. A second such event continues at the sample where the first one ended.
-- The next collection removes dead samples from 'followed'.
function events.d(rest, state, samples)
  local at, dead = state.walk or 0, false
  local runs = numbers(rest)
  assert(#runs > 0 and #runs % 2 == 0, "pairs of runs")
  for _, run in ipairs(runs) do
    for _ = 1, run do
      at = at + 1
      local s = assert(state.followed[at], "a run beyond those followed")
      if dead then s.death = #samples.collections + 1 end
    end
    dead = not dead
  end
  state.walk = at
end

local function bury(state)
  if state.walk then
    local to = 0
    for i, s in ipairs(state.followed) do
      state.followed[i] = nil
      if not s.death then
        to = to + 1
        state.followed[to] = s
      end
    end
    state.walk = nil
  end
end

function events.C(rest, _, samples)
  local id, name = rest:match "^ (%d+) (.*)$"
  assert(math.tointeger(id) == #samples.classes + 1, "class out of order")
  samples.classes[#samples.classes + 1] = name
end

local function collection(major)
  return function(rest, state, samples)
    local d = numbers(rest)
    bury(state)
    assert(#d <= 20 and d[#d] ~= 0, "fields of a collection")
    for i = #d + 1, 20 do d[i] = 0 end
    state.time = state.time + d[1] + d[2]
    state.inuse, state.held, state.rss = state.inuse + d[3] + d[4], state.held + d[5], state.rss + d[6] * 1024
    local planned = d[11] + (major and 0 or state.planned or 0)
    if not major then state.planned = planned end
    samples.collections[#samples.collections + 1] = major and "major" or "minor"
    samples.gcs[#samples.gcs + 1] = {
      major = major, time = state.time, inuse = state.inuse, held = state.held, rss = state.rss,
      duration = d[2], tenured = d[3], state = d[7], minors = d[8], majors = d[9],
      planned = planned, charged = planned + d[12], processor = d[2] + d[13],
      remembered = d[14], stacks = d[15], weak = d[16], listed = d[17], left = d[18],
      slices = d[19], mutator = d[20]}
  end
end
events.g, events.G = collection(false), collection(true)

function events.p(rest, _, samples)
  samples.periods[#samples.periods + 1] = numbers(rest)[2]
end

function events.q(rest, state, samples)
  local after, ns, clock = rest:match "^ (%d+) (%d+) ([cw])$"
  samples.timeperiods[#samples.timeperiods + 1] =
    {after = state.before + math.tointeger(after), ns = math.tointeger(ns), wall = clock == "w"}
end

function events.m(rest, state, samples)
  local d, length, text = rest:match "^ (%-?%d+) (%d+) (.*)$"
  state.time = state.time + math.tointeger(d)
  length = math.tointeger(length)
  assert(utf8.len(text:sub(1, length)), "a name cut within a character")
  samples.marks[#samples.marks + 1] =
    {time = state.time, name = text:sub(1, length), value = text:sub(length + 1)}
end

-- Event "H" defines a path of references: its id, its parent's id and the last step.
function events.H(rest, _, samples)
  local id, parent, step = rest:match "^ (%d+) (%d+) (.*)$"
  samples.paths = samples.paths or {}
  samples.paths[math.tointeger(id)] = {parent = math.tointeger(parent), step = step}
end

function events.h(rest, _, samples)
  local runs = numbers(rest)
  local list = table.remove(runs, 1) == 0 and samples.holders or {}
  samples.holders = table.move(runs, 1, #runs, #list + 1, list)
end

-- Event "w" reports the time and the duration of a heap walk that found paths of references.
function events.w(rest, state, samples)
  local d, duration = rest:match "^ (%-?%d+) (%d+)$"
  samples.walks = samples.walks or {}
  table.insert(samples.walks, {time = state.time + math.tointeger(d), duration = math.tointeger(duration)})
end

-- Event "r" is a row of a snapshot of resident memory. Its last field is stored as text.
function events.r(rest, _, samples)
  local time, bytes, what, text = rest:match "^ (%d+) (%-?%d+) (%S+) ?(.*)$"
  samples.pictures = samples.pictures or {}
  table.insert(samples.pictures, {time = math.tointeger(time), bytes = math.tointeger(bytes),
                                  what = what, text = text})
end

-- the letters of the columns of a batch, in their order in the file
local COLUMNS = "ntksco"

local function batch(log, text, state, samples)
  local lines, happened, column = {}, {}, 0
  for letter, rest in text:gmatch "(%a)([^\n]*)\n" do
    local at = COLUMNS:find(letter, 1, true)
    if at then
      assert(at > column and #happened == 0, "columns out of order")
      lines[letter], column = rest, at
    else happened[#happened + 1] = {assert(events[letter], letter), rest} end
  end
  local n = numbers(lines.n)[1]
  local sizes, counts, outside = numbers(lines.s or ""), {}, {}
  local times, kinds = numbers(lines.t or ""), 0
  local triples = numbers(lines.c or "")
  assert(#times == (log.version == 6 and n or 0), "a time for each sample")
  for i = 1, #triples, 3 do
    counts[triples[i]] = {triples[i + 1], triples[i + 2]}
  end
  for _, i in ipairs(numbers(lines.o or "")) do outside[i] = true end
  for i = 1, n do
    local stack = assert(log.stacks[state.stack], "a sample without a stack")
    local list, kind = frames(log, state.cache, stack)
    local s = {stack = list, count = counts[i] and counts[i][1] or 1, thread = stack.thread,
               number = state.before + i}
    if log.version == 6 then
      state.sampled = state.sampled + times[i]
      s.time = state.sampled
    else
      s.time = math.floor(stack.lead * 1e6 + 0.5) - math.tointeger(log.metas["asamp.start"])
    end
    if isallocation(log, stack) then
      kinds = kinds + 1
      s.kind = kind or log.metas["__rtype_" .. lines.k:byte(kinds) - ("a"):byte()]
      s.size = assert(sizes[kinds], "a sample without a size")
      s.outside = outside[i] or false
      samples[#samples + 1] = s
    else
      assert(not outside[i], "a time sample outside the nursery")
      samples.times[#samples.times + 1] = s
    end
    state.stack = state.stack + (counts[i] and counts[i][2] or 1)
  end
  assert(#sizes == kinds, "a size for each allocation sample")
  assert(#(lines.k or "") == (log.version == 7 and kinds or 0), "a kind for each")
  for _, e in ipairs(happened) do
    e[1](e[2], state, samples)
    if e[1] ~= events.f and e[1] ~= events.l then state.fated = nil end
  end
  state.before = state.before + n
end

-- Returns the list of the allocation samples of a log, oldest first. A sample is a table:
--   kind, size, count, outside   as in the file
--   survived     nil: the outcome is unknown
--   class        nil: none
--   collection   number of the collection that decided the outcome
--   death        number of the collection that found the survivor dead
--   unfollowed   true for a survivor whose death is not reported
--   time         microseconds since the start
--   number       index among all samples, also those of time
--   thread
--   stack        a list of frames {name, line, defined, file, native}, innermost first
-- The list has more fields:
--   times        time samples: {count, time, number, thread, stack}
--   points       the sum of the counts of the allocation samples
--   periods      sampling periods set after the first one
--   timeperiods  {after (number of all samples before it), ns, wall}
--   collections  for each collection, "minor" or "major"; gcs: all data of collections
--   marks        {time, name, value}
--   classes      names
--   undecided    number of samples of unknown survival, as the file states it
--   log          the log
function M.of_log(log) return vmprof.roomy(M.taken, log) end

function M.taken(log)
  local samples = {periods = {}, timeperiods = {}, collections = {}, gcs = {}, marks = {},
                   classes = {}, times = {}, points = 0, log = log}
  local state = {stack = 1, fate = 1, before = 0, sampled = 0, time = 0, inuse = 0, held = 0,
                 rss = 0, cache = {}, followed = {}}
  local n = 1
  while log.metas["asamp." .. n] do
    batch(log, log.metas["asamp." .. n], state, samples)
    n = n + 1
  end
  assert(state.stack == #log.stacks + 1, "stacks without details")
  for _, s in ipairs(samples) do samples.points = samples.points + s.count end
  samples.undecided = math.tointeger(log.metas["asamp.undecided"] or "0")
  return samples
end

--- Returns the allocation samples of a file, as of_log does.
function M.read(path)
  return M.of_log(vmprof.read(path))
end

-- Returns up to n frames of a stack as text, innermost first: "name:line name:line ...". Native frames have
-- no line.
function M.text(stack, n)
  local list = {}
  for i = 1, math.min(n or #stack, #stack) do
    local f = stack[i]
    list[i] = f.native and f.name or f.name .. ":" .. f.line
  end
  return table.concat(list, " ")
end

-- Calls f with a sampling period of 64 bytes, so that every allocation is sampled, and returns the samples.
-- 'options' are those of profiler.core.open.
function M.of(f, options)
  local core = require "profiler.core"
  local path = os.tmpname()
  local o = {out = path, period = 64, seed = 1}
  for k, v in pairs(options or {}) do o[k] = v end
  assert(core.open(o))
  core.on(o.period, o.random or false)
  local ok, message = xpcall(f, debug.traceback)
  core.off()
  assert(core.close())
  local samples = ok and M.read(path)
  os.remove(path)
  assert(ok, message)
  return samples
end

return M
