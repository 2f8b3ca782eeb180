-- SPDX-License-Identifier: MIT
-- Constructs profiles as profiler.reader returns them, for specs of modules that process them.

local M = {}

M.TABLE, M.STRING, M.TIME, M.POINT = 1, 2, 3, 4

local function kinds()
  local list = {{name = "table"}, {name = "string"},
                {name = "[time sample]", time = true},
                {name = "table", class = "Point"}}
  for _, kind in ipairs(list) do
    kind.blocks, kind.objects, kind.outside = 0, 0, 0
  end
  return list
end

-- Parses the text of a frame: "name@line", "[C]name" for a native frame, or "<minor>" for a minor
-- collection. Returns name, line, whether the frame is native, and the file.
local function frameof(frame)
  if frame == "<minor>" then
    return "[minor collection]", 0, true, "-"
  end
  local name, line = frame:match "^([^@]+)@?(%d*)$"
  local native = name:find "^%[C%]" ~= nil
  return name, tonumber(line) or 0, native, native and "/lib/libx.so" or "x.lua"
end

-- Returns a profile with the given stacks. Each is {"root@1 f@2 [C]g", kind, samples, survived, undecided}.
-- Each allocation sample has 'size' bytes (default 100). The other fields of 'options' are set in the
-- profile.
function M.of(stacks, options)
  local size = options and options.size or 100
  local p = {path = "x.vmprof", command = "lua x.lua",
             nodes = {parent = {}, fn = {}, line = {}}, functions = {},
             kinds = kinds(), collections = {}, marks = {}, left = {},
             sites = {node = {}, kind = {}, samples = {}, bytes = {},
                      survived = {}, survivedbytes = {}, undecided = {},
                      undecidedbytes = {}},
             lines = true, samples = 0, timesamples = 0, survived = 0,
             own = true, complete = true, fates = true, period = size,
             periods = 0, timeperiod = 0.001, timeperiods = 0, duration = 1,
             undetailed = 0, minors = 0, majors = 0, random = false}
  local fns, nodes = {}, {}
  for i, stack in ipairs(stacks) do
    local node = 0
    for frame in stack[1]:gmatch "%S+" do
      local name, line, native, file = frameof(frame)
      if not fns[name] then
        p.functions[#p.functions + 1] = {name = name, file = file, line = 1,
                                         native = native}
        fns[name] = #p.functions
      end
      local key = node .. " " .. frame
      if not nodes[key] then
        nodes[key] = #p.nodes.fn + 1
        p.nodes.parent[nodes[key]] = node
        p.nodes.fn[nodes[key]] = fns[name]
        p.nodes.line[nodes[key]] = line
      end
      node = nodes[key]
    end
    local s = p.sites
    local time = p.kinds[stack[2]].time
    s.node[i], s.kind[i], s.samples[i] = node, stack[2], stack[3]
    s.bytes[i] = time and 0 or size * stack[3]
    s.survived[i] = stack[4] or 0
    s.survivedbytes[i] = size * s.survived[i]
    s.undecided[i] = stack[5] or 0
    s.undecidedbytes[i] = size * s.undecided[i]
    local sum = time and "timesamples" or "samples"
    p[sum] = p[sum] + stack[3]
    p.survived = p.survived + s.survived[i]
  end
  for k, v in pairs(options or {}) do
    p[k] = v
  end
  return M.summed(p)
end

-- Returns a quantile of a sorted list: its first member for which at least the fraction 'share' of all
-- members is not larger.
local function quantile(sorted, share)
  return sorted[math.max(1, math.ceil(#sorted * share))]
end

-- Returns the totals that the reader computes from a list of collections: numbers, first and last values,
-- peaks, and quantiles of the pauses.
local function courseof(list)
  local first, last = list[1], list[#list]
  local course = {n = #list, tenured = 0, ended = last.time, first = {}, peak = {},
                  last = {}, pauses = {n = #list, total = 0, longest = 0}}
  local pauses = course.pauses
  for _, key in ipairs{"inuse", "held", "rss"} do
    course.first[key], course.last[key], course.peak[key] = first[key], last[key], 0
  end
  local durations = {}
  for i, c in ipairs(list) do
    durations[i] = c.duration or 0
    pauses.total = pauses.total + durations[i]
    if i == 1 or durations[i] > pauses.longest then
      pauses.longest, pauses.at = durations[i], c.time
    end
    course.tenured = course.tenured + (c.tenured or 0)
    course.lastmajor = c.major and c.time or course.lastmajor
    for key, peak in pairs(course.peak) do
      course.peak[key] = math.max(peak, c[key] or 0)
    end
  end
  table.sort(durations)
  pauses.median, pauses.p99 = quantile(durations, 0.5), quantile(durations, 0.99)
  return course
end

local function marknames(marks)
  local rows, byname = {}, {}
  for _, mark in ipairs(marks) do
    local row = byname[mark.name]
    if not row then
      row = {name = mark.name, count = 0, first = mark.time, sum = 0, numbers = 0}
      byname[mark.name] = row
      rows[#rows + 1] = row
    end
    row.count = row.count + 1
    row.last, row.value = mark.time, mark.value
    local number = tonumber(mark.value)
    if number then
      row.numbers, row.sum = row.numbers + 1, row.sum + number
      row.least = math.min(row.least or number, number)
      row.most = math.max(row.most or number, number)
    end
  end
  for _, row in ipairs(rows) do
    if row.numbers == row.count then
      row.mean = row.sum / row.count
    else
      row.least, row.most = nil, nil
    end
    row.numbers, row.sum = nil, nil
  end
  return rows
end

-- Adds the totals that the reader computes: of the profile's collections, a list of {time, inuse, ...}, and
-- of its marks, a list of {time, name, value}. Returns the profile.
function M.summed(p)
  for _, c in ipairs(p.collections) do
    c.n, c.least = 1, c.inuse
    c.minorpause, c.majorpause = not c.major and c.duration, c.major and c.duration
  end
  p.course = #p.collections > 0 and courseof(p.collections) or nil
  p.marknames = marknames(p.marks)
  return p
end

return M
