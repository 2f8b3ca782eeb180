-- SPDX-License-Identifier: MIT
-- Renders the statistics of processes in Prometheus' text format.

local layout = require "asamp.show.layout"

local M = {}

-- Formats a number (as string.format) with a decimal point in all locales.
local function decimal(format, n)
  return (format:format(n):gsub("[^%w+-]+", "."))
end

M.TYPE = "text/plain; version=0.0.4; charset=utf-8"

-- The metrics of a process, each as {name, type, help text, field of asamp.sums.living.stats}.
local METRICS = {
  {"states", "gauge", "Number of Lua states at present.", "states"},
  {"states_total", "counter", "Number of Lua states created while the process was profiled.", "made"},
  {"allocated_bytes_total", "counter", "Bytes allocated while sampling was on.", "allocated"},
  {"tenured_bytes", "counter",
   "Bytes that survived their first collection, of all present and former Lua states.", "tenured"},
  {"inuse_bytes", "gauge", "Bytes in objects that are alive or not freed yet.", "inuse"},
  {"held_bytes", "gauge", "Bytes reserved by the heaps, in use or free.", "held"},
  {"resident_bytes", "gauge", "Resident set of the process.", "rss"},
  {"samples_total", "counter", "Allocation samples.", "samples"},
  {"time_samples_total", "counter", "Time samples.", "timesamples"},
  {"lost_samples_total", "counter", "Samples that were lost and are in no profile.", "lost"},
  {"unfollowed_samples_total", "counter", "Samples whose death is not recorded, because too many survived.",
   "unfollowed"},
  {"untimed_threads_total", "counter", "Threads whose time cannot be sampled.", "untimed"},
  {"alloc_period_bytes", "gauge", "Bytes that a sample represents; 0: allocations are not sampled.", "alloc"},
  {"time_rate_hertz", "gauge", "Time samples per second; 0: time is not sampled.", "time"},
  {"profile_bytes", "gauge", "Size of the profile that is being written.", "filebytes"},
}

-- List of the metrics of Lua states by their name, which is the label "name": {metric, type, help text, field
-- of a row of asamp.sums.living.names, factor (nil: 1)} each. Counters include closed states. A state without
-- a sample has no name yet; only the gauges include it.
local NAMED = {
  {"named_states", "gauge", "Number of Lua states at present, by their name.", "states"},
  {"named_states_total", "counter", "Number of Lua states created so far, by their name.", "made"},
  {"named_inuse_bytes", "gauge", "Bytes in objects that are alive or not freed yet.", "inuse"},
  {"named_held_bytes", "gauge", "Bytes reserved by the heaps, in use or free.", "held"},
  {"named_allocated_bytes_total", "counter", "Bytes allocated while sampling was on.", "allocated"},
  {"named_samples_total", "counter", "Allocation samples.", "samples"},
  {"named_minor_collections_total", "counter", "Minor collections.", "minors"},
  {"named_major_collections_total", "counter", "Major collections.", "majors"},
  {"named_pause_seconds_total", "counter", "Pauses of collections.", "pauses", 1e-9},
}
local UNNAMED = "(no sample yet)"

local function escaped(text)
  return (layout.printable(text):gsub('[\\"\n]', {["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n"}))
end

-- Makes a text unique, because Prometheus rejects a response with duplicate rows. Returns 'name' if it is not
-- in the set 'known', which contains the results so far. Otherwise returns the first unused text
-- numbered:format(name, n) with n = 2, 3, ...
local function distinct(name, numbered, known)
  local result, n = name, known[name] or 1
  while known[result] do
    n = n + 1
    result = numbered:format(name, n)
  end
  known[name], known[result] = n, known[result] or 1
  return result
end

-- Returns the labels of a row for Prometheus as text with a leading comma, such as ',label_NAME="value"'.
-- Replaces characters that are not allowed in names by "_". If an earlier row has the same text, appends a
-- label "twin" with a number. 'known': set of the texts of earlier rows; receives this one (distinct).
local function setof(row, known)
  local parts, used = {}, {}
  for _, label in ipairs(row.labels or {{"set", "(others)"}}) do
    local name = (row.labels and "label_" or "") .. label[1]:gsub("[^%w]", "_")
    parts[#parts + 1] = (',%s="%s"'):format(distinct(name, "%s_%d", used), escaped(label[2]))
  end
  table.sort(parts)
  return distinct(table.concat(parts), '%s,twin="%d"', known)
end

--- Returns the metrics of processes as text. 'targets': the list of processes. Fields of a process:
--
--   - name: value of the label "target"
--   - stats: result of asamp.sums.living.stats; nil: the process did not answer
--   - names: rows of asamp.sums.living.names, or nil
--   - labels: rows of asamp.sums.living.labels, or nil
function M.text(targets)
  local lines = {}
  local function put(...) lines[#lines + 1] = string.format(...) end
  local function head(name, kind, help)
    put("# HELP asamp_%s %s", name, help)
    put("# TYPE asamp_%s %s", name, kind)
  end
  -- Appends the value v of a metric for one process, 'target'. 'more': further labels, as text with a leading
  -- comma.
  local function value(name, target, more, v)
    put('asamp_%s{target="%s"%s} %s', name, escaped(target.name), more, v)
  end
  local function each(name, of, more)
    for _, t in ipairs(targets) do
      local v = of(t)
      if v then
        value(name, t, more or "", v)
      end
    end
  end
  head("up", "gauge", "1 if the process answers, else 0.")
  each("up", function(t) return t.stats and 1 or 0 end)
  for _, m in ipairs(METRICS) do
    head(m[1], m[2], m[3])
    each(m[1], function(t) return t.stats and t.stats[m[4]] end)
  end
  for _, m in ipairs(NAMED) do
    head(m[1], m[2], m[3])
    for _, t in ipairs(targets) do
      local known = {}
      for _, row in ipairs(t.names or {}) do
        local name = distinct(escaped(row.name or UNNAMED), "%s [%d]", known)
        if row.name or m[2] == "gauge" then
          value(m[1], t, (',name="%s"'):format(name),
                m[5] and decimal("%.9f", row[m[4]] * m[5]) or row[m[4]])
        end
      end
    end
  end
  head("labelled_allocated_bytes_total", "counter",
       "Exact bytes allocated while sampling was on, by the labels of profiler.label.")
  for _, t in ipairs(targets) do
    local known = {}
    for _, row in ipairs(t.labels or {}) do
      value("labelled_allocated_bytes_total", t, setof(row, known), row.bytes)
    end
  end
  head("collections", "counter", "Collections of all present and former Lua states.")
  each("collections", function(t) return t.stats and t.stats.minors end, ',generation="minor"')
  each("collections", function(t) return t.stats and t.stats.majors end, ',generation="major"')
  head("pause_seconds", "histogram", "Pauses of collections, of all present and former Lua states.")
  for _, t in ipairs(targets) do
    local sum, bound = 0, 16e-6
    for n in (t.stats and t.stats.pausebins or ""):gmatch "%d+" do
      sum = sum + math.tointeger(n)
      value("pause_seconds_bucket", t,
            (',le="%s"'):format(bound < 2 and decimal("%.6f", bound) or "+Inf"), sum)
      bound = bound * 2
    end
    if t.stats and t.stats.pausebins then
      value("pause_seconds_sum", t, "", decimal("%.9f", (t.stats.pauses or 0) / 1e9))
      value("pause_seconds_count", t, "", sum)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
