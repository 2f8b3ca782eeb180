-- SPDX-License-Identifier: MIT
-- The samples of one of our own profiles, one by one, with all that the file
-- tells of each: for specs that predict samples. Decodes by spec/support's own
-- means, not by asamp/'s reader. doc/profile-format.md has the layout.

local vmprof = require "spec.support.vmprof"

local M = {}

local function numbers(text)
  local list = {}
  for n in text:gmatch "%-?%d+" do list[#list + 1] = math.tointeger(n) end
  return list
end

-- "py:name:line:file" taken apart.
local function frame(log, id, line)
  local name = assert(log.names[id], "frame without a name")
  local prefix, fn, defined, file = name:match "^(%w+):([^:]*):(%d+):(.*)$"
  return {name = fn, line = line, defined = math.tointeger(defined), file = file,
          native = prefix == "n"}
end

-- Frames of a stack record, leaf first; of stock logs the type apart.
local function frames(log, cache, stack)
  local list, first, kind = {}, 1, nil
  if log.version == 6 then
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

local function batch(log, text, state, samples)
  local lines = {}
  local events = {}
  for letter, rest in text:gmatch "(%a)([^\n]*)" do
    if letter:find "[fgGp]" then events[#events + 1] = {letter, rest}
    else lines[letter] = rest end
  end
  local n = numbers(lines.n)[1]
  local sizes, counts, outside = numbers(lines.s or ""), {}, {}
  local triples = numbers(lines.c or "")
  for i = 1, #triples, 3 do
    counts[triples[i]] = {triples[i + 1], triples[i + 2]}
  end
  for _, i in ipairs(numbers(lines.o or "")) do outside[i] = true end
  for i = 1, n do
    local stack = assert(log.stacks[state.stack], "a sample without a stack")
    local list, kind = frames(log, state.cache, stack)
    if lines.k then
      kind = log.metas["__rtype_" .. lines.k:byte(i) - ("a"):byte()]
    end
    local s = {kind = kind, size = assert(sizes[i]), stack = list, outside = outside[i] or false,
               count = counts[i] and counts[i][1] or 1, thread = stack.thread}
    state.stack = state.stack + (counts[i] and counts[i][2] or 1)
    samples[#samples + 1] = s
  end
  for _, e in ipairs(events) do
    local list = numbers(e[2])
    if e[1] == "f" then
      local survived = false
      for _, run in ipairs(list) do
        for _ = 1, run do
          samples[state.fate].survived = survived
          samples[state.fate].collection = #samples.collections + 1
          state.fate = state.fate + 1
        end
        survived = not survived
      end
    elseif e[1] == "p" then
      samples.periods[#samples.periods + 1] = list[2]
    else
      samples.collections[#samples.collections + 1] = e[1] == "G" and "major" or "minor"
    end
  end
end

--- The samples of a profile, oldest first: {kind, size, count, outside,
-- survived (nil: undecided), collection (which one decided that), thread,
-- stack}; a stack is a list of frames, leaf first: {name, line, defined, file,
-- native}. The list also has 'points' (sum of counts), 'periods' (those set
-- after the first), 'collections' ("minor", "major"), 'undecided' (as the file
-- says it) and 'log'.
function M.read(path)
  local log = vmprof.read(path)
  local samples = {periods = {}, collections = {}, points = 0, log = log}
  local state = {stack = 1, fate = 1, cache = {}}
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

--- The frames of a stack as text, leaf first: "name:line name:line ...";
-- native frames without a line. At most n of them.
function M.text(stack, n)
  local list = {}
  for i = 1, math.min(n or #stack, #stack) do
    local f = stack[i]
    list[i] = f.native and f.name or f.name .. ":" .. f.line
  end
  return table.concat(list, " ")
end

--- Runs f while every allocation is sampled (period 64, or as options say) and
-- returns the samples. Options are those of profiler.core.open.
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
