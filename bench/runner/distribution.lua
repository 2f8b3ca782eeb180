-- SPDX-License-Identifier: MIT
-- Functions for distributions of times: parses the output of bench/pauses.c, and computes values such as
-- quantiles. All functions are pure. A distribution is a list of { ns, count } in ascending order of ns:
-- 'count' batches took 'ns' nanoseconds. For an empty distribution, quantiles are nil and sums are 0.

local distribution = {}

-- Parses the output of one run. Returns { live, peak (bytes), total, longest (ns), times (a distribution)
-- }, or nil if the text has another form.
function distribution.parse(text)
  local live, peak, total, longest, rest =
    text:match("^live (%d+)\npeak (%d+)\ntotal (%d+)\nlongest (%d+)\n(.*)$")
  if not live then return nil end
  local times = {}
  for ns, count in rest:gmatch("(%d+) (%d+)\n") do
    times[#times + 1] = { ns = math.tointeger(ns), count = math.tointeger(count) }
  end
  return {
    live = math.tointeger(live), peak = math.tointeger(peak),
    total = math.tointeger(total), longest = math.tointeger(longest), times = times,
  }
end

function distribution.count(times)
  local sum = 0
  for _, each in ipairs(times) do sum = sum + each.count end
  return sum
end

-- Returns the sum of all times in nanoseconds.
function distribution.sum(times)
  local sum = 0
  for _, each in ipairs(times) do sum = sum + each.ns * each.count end
  return sum
end

-- Returns the quantile q (0 to 1): the smallest of the times for which at least the fraction q of all times
-- is not longer.
function distribution.quantile(times, q)
  local wanted, seen = q * distribution.count(times), 0
  for _, each in ipairs(times) do
    seen = seen + each.count
    if seen >= wanted then return each.ns end
  end
end

-- Subtracts 'base' from all times, and returns the distribution of the differences that are at least
-- 'least'. All values are in nanoseconds.
function distribution.beyond(times, base, least)
  local out = {}
  for _, each in ipairs(times) do
    if each.ns - base >= least then
      out[#out + 1] = { ns = each.ns - base, count = each.count }
    end
  end
  return out
end

-- Counts the times of at least 'low' ns in ranges. The first range starts at 'low', and each range ends at
-- twice its start. Returns a list of { from, to, count } up to the last range that is not empty.
function distribution.doubling(times, low)
  local out = {}
  local at = 0
  for _, each in ipairs(times) do
    if each.ns >= low then
      while at == 0 or each.ns >= out[at].to do
        local from = at == 0 and low or out[at].to
        at = at + 1
        out[at] = { from = from, to = 2 * from, count = 0 }
      end
      out[at].count = out[at].count + each.count
    end
  end
  return out
end

-- Returns a bar of "#" for a logarithmic histogram. Its length is 0 for the count 0 and 1 for the count 1;
-- each doubling adds 1.
function distribution.bar(count)
  local length = 0
  while count > 0 do
    length, count = length + 1, count // 2
  end
  return ("#"):rep(length)
end

return distribution
