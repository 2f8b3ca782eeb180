-- SPDX-License-Identifier: MIT
-- Computes the values of bench/pauses and formats them as Markdown. No side effects. A run is the result of
-- distribution.parse, with the additional field 'rss' (bytes).

local pause_report = {}

local distribution = require "runner.distribution"
local report = require "runner.report"
local stats = require "runner.stats"

-- The time of a batch without a pause is estimated by this quantile of the times of all batches.
local UNDISTURBED = 0.1
-- A batch counts as a pause if it takes at least this many ns longer than a batch without a pause.
local LEAST = 64000
-- the same limit for the histograms, in ns
local SHOWN = 16000

-- Returns the values of one run, times in ns:
--   base                    time of a batch without a pause
--   longest, p999, p99, p50 maximum and quantiles of the pauses
--   batch999                99.9% quantile of all batches, minus base
--   pauses, share           number of pauses, and their fraction of the time of the run
--   total, rate             time of the run, and batches per second
--   shown                   distribution for the histogram
--   live, peak, rss         bytes
function pause_report.figures(run)
  local base = distribution.quantile(run.times, UNDISTURBED)
  local times = distribution.beyond(run.times, base, LEAST)
  return {
    base = base, total = run.total, shown = distribution.beyond(run.times, base, SHOWN),
    longest = math.max(0, run.longest - base),
    p999 = distribution.quantile(times, 0.999) or 0,
    p99 = distribution.quantile(times, 0.99) or 0,
    p50 = distribution.quantile(times, 0.5) or 0,
    batch999 = math.max(0, distribution.quantile(run.times, 0.999) - base),
    pauses = distribution.count(times),
    share = distribution.sum(times) / run.total,
    rate = distribution.count(run.times) / run.total * 1e9,
    live = run.live, peak = run.peak, rss = run.rss,
  }
end

local function column(rounds, key, scale)
  local out = {}
  for i, each in ipairs(rounds) do out[i] = each[key] / scale end
  return out
end

local function ms(rounds, key) return report.ratio(column(rounds, key, 1e6)) end
local function median(rounds, key, scale) return stats.median(column(rounds, key, scale)) end

local function row(...) return "| " .. table.concat({ ... }, " | ") .. " |\n" end

local function pauses(configs, found)
  local out = {
    row("configuration", "longest", "99.9%", "99%", "50%", "pauses", "share of time",
      "99.9% of all batches"),
    "|" .. (" --- |"):rep(8) .. "\n",
  }
  for _, config in ipairs(configs) do
    local rounds = found[config]
    out[#out + 1] = row(config.name, ms(rounds, "longest"), ms(rounds, "p999"),
      ms(rounds, "p99"), ms(rounds, "p50"), ("%.0f"):format(median(rounds, "pauses", 1)),
      ("%.1f%%"):format(median(rounds, "share", 0.01)), ms(rounds, "batch999"))
  end
  return table.concat(out)
end

-- Returns the configuration with the same interpreter as 'config' and the mode "full" (only full
-- collections), or nil.
local function stopping(configs, config)
  for _, other in ipairs(configs) do
    if other.mode == "full" and other.variant == config.variant then return other end
  end
end

local function throughput(configs, found)
  local out = {
    row("configuration", "batches/s", "total s", "of full's speed", "undisturbed batch, us",
      "live MB", "highest count MB", "peak RSS MB"),
    "|" .. (" --- |"):rep(8) .. "\n",
  }
  for _, config in ipairs(configs) do
    local rounds, full = found[config], stopping(configs, config)
    local speed = full and config.mode ~= "idle"
      and report.ratio(stats.ratios(column(found[full], "total", 1), column(rounds, "total", 1)))
    out[#out + 1] = row(config.name, ("%.0f"):format(median(rounds, "rate", 1)),
      report.ratio(column(rounds, "total", 1e9)), speed or "-",
      ("%.1f"):format(median(rounds, "base", 1e3)), ("%.1f"):format(median(rounds, "live", 1e6)),
      ("%.1f"):format(median(rounds, "peak", 1e6)), ("%.1f"):format(median(rounds, "rss", 1e6)))
  end
  return table.concat(out)
end

local function duration(ns)
  if ns < 1000000 then return ("%d us"):format(ns // 1000) end
  return ("%.1f ms"):format(ns / 1e6)
end

local function histogram(rounds)
  local all = {}
  for _, each in ipairs(rounds) do table.move(each.shown, 1, #each.shown, #all + 1, all) end
  table.sort(all, function(a, b) return a.ns < b.ns end)
  local lines = {}
  for _, range in ipairs(distribution.doubling(all, SHOWN)) do
    lines[#lines + 1] = ("%9s to %9s %9d %s"):format(duration(range.from), duration(range.to),
      range.count, distribution.bar(range.count)):gsub("%s+$", "")
  end
  return #lines > 0 and table.concat(lines, "\n") or "none"
end

-- Returns the whole report. 'found' maps each configuration to a list with the values of each round.
function pause_report.render(configs, found)
  local out = {
    "## Pauses, milliseconds\n\n", pauses(configs, found),
    "\n## Throughput and memory\n\n", throughput(configs, found),
    "\n## Histograms: longer than undisturbed, from .. to, how many, one # more at each doubling\n",
  }
  for _, config in ipairs(configs) do
    out[#out + 1] = ("\n```\n%s\n%s\n```\n"):format(config.name, histogram(found[config]))
  end
  return table.concat(out)
end

return pause_report
