-- SPDX-License-Identifier: MIT
-- Distributions of times: parses the output of bench/pauses.c, and computes values such as quantiles. Pure
-- functions. A distribution is a list of { ns, count } in ascending order of ns. An empty distribution has
-- no quantiles (nil), and its sums are 0.

local distribution = {}

-- Parses the output of one run. Returns { live, peak (bytes), total, longest (ns), times }, or nil
-- if the text has another form.
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

-- Returns the smallest time such that at least the fraction q (0 to 1) of all times is not above it.
function distribution.quantile(times, q)
  local wanted, seen = q * distribution.count(times), 0
  for _, each in ipairs(times) do
    seen = seen + each.count
    if seen >= wanted then return each.ns end
  end
end

-- Returns the distribution of (time - base), for the times that exceed 'base' by at least 'least'
-- nanoseconds.
function distribution.beyond(times, base, least)
  local out = {}
  for _, each in ipairs(times) do
    if each.ns - base >= least then
      out[#out + 1] = { ns = each.ns - base, count = each.count }
    end
  end
  return out
end

-- Returns the numbers of times in ranges. The first range starts at 'low' ns, and each range is twice as
-- long as the previous one. The result is a list of { from, to, count } up to the last range that is not
-- empty. Times below 'low' are excluded.
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

-- Returns a bar of "#" of logarithmic length: no character for 0, one for 1, and one more for each
-- doubling.
function distribution.bar(count)
  local length = 0
  while count > 0 do
    length, count = length + 1, count // 2
  end
  return ("#"):rep(length)
end

return distribution
