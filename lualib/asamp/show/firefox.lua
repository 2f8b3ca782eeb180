-- SPDX-License-Identifier: MIT
-- The head of a Firefox profile: metadata, categories and marker schemas, as JSON made from a summary of the
-- profile. The tables of the profile are written by profiler.convert.

local json = require "asamp.show.json"
local units = require "asamp.show.units"

local M = {}

local MOST = 8  -- number of threads that the viewer shows at first

-- The categories of samples and their colours, in the order of enum FirefoxCategory
-- (asamp/convert/firefox.h).
local CATEGORIES = {
  {"Other", "grey"}, {"Lua", "yellow"}, {"C", "blue"}, {"Collector", "purple"},
  {"Died young", "green"}, {"Survived", "red"}, {"Undecided", "orange"},
  {"Holder", "lightblue"}, {"Labels", "brown"},
}

local function categories()
  local list = {}
  for i, c in ipairs(CATEGORIES) do
    list[i] = {name = c[1], color = c[2], subcategories = {"Other"}}
  end
  return list
end

local function field(key, label, format)
  return {key = key, label = label, format = format}
end

local function collection(name, description)
  return {
    name = name, description = description,
    display = {"marker-chart", "marker-table", "timeline-overview",
               "timeline-memory"},
    tooltipLabel = "{marker.name}",
    tableLabel = "{marker.data.survived} of {marker.data.decided} samples " ..
                 "survived, {marker.data.tenured} tenured",
    chartLabel = "{marker.name}",
    fields = {
      field("inuse", "In use", "bytes"), field("held", "Reserved", "bytes"),
      field("rss", "RSS", "bytes"), field("tenured", "Tenured", "bytes"),
      field("decided", "Samples whose survival is known", "integer"),
      field("survived", "Samples that survived", "integer"),
      field("survival", "Survival", "percentage"),
      field("left", "Earlier collections, which have no marker", "integer"),
      field("state", "Major collection", "string"),
    },
    graphs = {{key = "tenured", type = "bar", color = "red"}},
  }
end

local SCHEMAS = {
  collection("Minor GC", "A minor collection: each sampled young object died or was tenured (became old)."),
  collection("Major GC", "A major collection, or a slice of one."),
  {
    name = "Mark", description = "Set by the program: profiler.mark.",
    display = {"marker-chart", "marker-table", "timeline-overview"},
    tooltipLabel = "{marker.name}", tableLabel = "{marker.data.value}",
    chartLabel = "{marker.name} {marker.data.value}",
    fields = {field("value", "Value", "string"),
              field("number", "Number", "decimal")},
  },
}

local function entry(label, format, value)
  return {label = label, format = format, value = value}
end

local function extra(s)
  local list = {entry("Complete", "string", s.complete and "yes"
                      or "no: " .. (s.message or "cut"))}
  if s.command then
    list[#list + 1] = entry("Command", "string", s.command)
  end
  if s.samples > 0 then
    list[#list + 1] = entry("Allocation samples", "integer", s.samples)
    list[#list + 1] = entry("Bytes a sample represents", "string",
      s.period > 0 and units.bytes(s.period) ..
      (s.random and " (random intervals)" or "") or "unknown")
  end
  if s.timesamples > 0 then
    list[#list + 1] = entry("Time samples", "integer", s.timesamples)
    list[#list + 1] = entry("Time a sample represents", "nanoseconds",
                            s.timeperiod)
    list[#list + 1] = entry("Clock", "string", s.wall and "wall" or "CPU")
  end
  if s.states > 1 then
    list[#list + 1] = entry("Lua states", "integer", s.states)
    list[#list + 1] = entry("Threads", "string", s.groups == 1 and "one thread for all states"
                            or ("%d: a thread shows one Lua state, or all states of one script")
                              :format(s.groups))
  end
  list[#list + 1] = entry("Minor collections", "integer", s.minors)
  list[#list + 1] = entry("Major collections", "integer", s.majors)
  return {{label = "Lua", entries = list}}
end

-- Returns the indices of the threads that are visible at first. These are the first MOST threads, and the
-- last thread if it shows live objects below their holders (the references that keep them alive).
local function visible(s)
  local list = {}
  for i = 1, math.min(s.groups, MOST) do
    list[i] = i - 1
  end
  if s.held then
    list[#list + 1] = s.groups
  end
  return list
end

--- Returns the members "meta" and "libs" of a profile, without braces. 's': a summary from
-- profiler.convert.
function M.head(s)
  local interval = s.timesamples > 0 and s.timeperiod > 0
                   and s.timeperiod / 1e6 or 1
  local meta = {
    version = 27, preprocessedProfileVersion = 64, product = "Lua",
    interval = interval, startTime = s.started // 1000,
    -- The viewer omits a sample at exactly the end time, so the profile ends one interval later.
    profilingStartTime = 0, profilingEndTime = s.duration / 1000 + interval,
    processType = 0, stackwalk = 1, debug = false, symbolicated = true,
    importedFrom = "asamp", platform = "X11", oscpu = "Linux",
    sourceCodeIsNotOnSearchfox = true, usesOnlyOneStackType = true,
    keepProfileThreadOrder = true, initialVisibleThreads = visible(s),
    initialSelectedThreads = {0}, abi = s.interpreter,
    sampleUnits = {time = "ms", eventDelay = "ms", threadCPUDelta = "ns"},
    categories = categories(), markerSchema = SCHEMAS, extra = extra(s),
    arguments = s.command,
  }
  return '"meta":' .. json.encode(meta) .. ',\n"libs":[]'
end

return M
