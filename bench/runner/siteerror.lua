-- SPDX-License-Identifier: MIT
-- The error of a sampled profile, compared with an exact trace of the same run. No side effects.
-- A site is the type of a block and the innermost Lua line of its stack. Its key is "type\tline\tfile". If
-- a site has the exact fraction p of all bytes, then N p of all N samples are expected at it, with a
-- standard error of sqrt(N p (1 - p)). The error of a site in standard errors is called z.

local siteerror = {}

-- Parses the output of exact.c. Returns { bytes (total), sites = { [key] = bytes } }. Returns nil and a
-- message if the sum of all sites differs from the total, which the core has counted.
function siteerror.exact(text)
  local all = math.tointeger(tonumber(text:match("^(%d+)\n")))
  if not all then return nil, "no exact trace in " .. ("%q"):format(text:sub(1, 40)) end
  local found, sum = { bytes = all, sites = {} }, 0
  for bytes, key in text:gmatch("\n(%d+)\t%d+\t([^\n]+)") do
    local more = math.tointeger(tonumber(bytes))
    found.sites[key] = (found.sites[key] or 0) + more
    sum = sum + more
  end
  if sum ~= all then
    return nil, ("the exact trace has %d bytes, the core has counted %d"):format(sum, all)
  end
  return found
end

-- Returns the line and the file of the innermost Lua function in the stack that ends at 'node'; 0 and "-"
-- if it has none.
local function place(profile, node)
  local nodes = profile.nodes
  while node and node > 0 do
    local f = profile.functions[nodes.fn[node]]
    if not f.native and f.file ~= "-" then return nodes.line[node], f.file end
    node = nodes.parent[node]
  end
  return 0, "-"
end

-- Converts a profile of profiler.reader to { samples (total), undecided (samples of unknown survival),
-- sites = { [key] = samples } }. Leaves out time samples.
function siteerror.sampled(profile)
  local found = { samples = profile.samples, undecided = profile.undecided, sites = {} }
  local sites = profile.sites
  for i = 1, #sites.node do
    local kind = profile.kinds[sites.kind[i]]
    if not kind.time then
      local line, file = place(profile, sites.node[i])
      local key = ("%s\t%d\t%s"):format(kind.name, line, file)
      found.sites[key] = (found.sites[key] or 0) + sites.samples[i]
    end
  end
  return found
end

-- Compares a trace and a profile. Returns a list of { key, share, expected, found, z }, one for each site
-- with at least 'least' expected samples. The largest shares come first.
function siteerror.compare(exact, sampled, least)
  local list, n = {}, sampled.samples
  for key, bytes in pairs(exact.sites) do
    local share = bytes / exact.bytes
    local expected, found = n * share, sampled.sites[key] or 0
    if expected >= least then
      local error = math.sqrt(expected * (1 - share))
      list[#list + 1] = {
        key = key, share = share, expected = expected, found = found,
        z = error > 0 and (found - expected) / error or 0,
      }
    end
  end
  table.sort(list, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.key < b.key
  end)
  return list
end

-- Returns the number of samples at sites that are not in the exact trace.
function siteerror.unknown(exact, sampled)
  local n = 0
  for key, samples in pairs(sampled.sites) do
    if not exact.sites[key] then n = n + samples end
  end
  return n
end

-- Summarizes a list of errors z. Returns a table: n (their number), within (how many are at most 3), rms
-- (root mean square), worst (the largest).
function siteerror.tally(list)
  local within, square, worst = 0, 0, 0
  for _, z in ipairs(list) do
    if math.abs(z) <= 3 then within = within + 1 end
    square, worst = square + z * z, math.max(worst, math.abs(z))
  end
  return {
    n = #list, within = within, worst = worst,
    rms = #list > 0 and math.sqrt(square / #list) or 0,
  }
end

-- Returns the fraction of the errors z in 'list' that are at most 'limit', without their sign.
function siteerror.below(list, limit)
  local n = 0
  for _, z in ipairs(list) do
    if math.abs(z) <= limit then n = n + 1 end
  end
  return #list > 0 and n / #list or 0
end

-- Returns a sampling period for about 'samples' samples of 'bytes' allocated bytes: the largest power of
-- two that gives at least this number, but no less than 64.
function siteerror.period(bytes, samples)
  local period = 64
  while bytes // (2 * period) >= samples do period = 2 * period end
  return period
end

return siteerror
