-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/longrun: CPU time and peak RSS of asamp report, for profiles of servers
-- that ran for a long time. Prints Markdown. Fails if the bytes of a report differ from the exact ones by
-- more than the sampling error permits, or if its numbers of collections are wrong.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/longrun"
local root, work, fail, runner = start.root, start.work, start.fail, start.runner

local machine = require "runner.machine"

local N = 10000000
-- default of --names
local NAMES = 200000
-- largest permitted error of the estimated bytes, in standard errors
local SIGMA = 5

local found, size = start.options "loads names collections lines asamp", start.size
local asamp = found.asamp or root .. "/build/bin/asamp"

-- Runs a program that writes a profile. Returns the list of the numbers that the program prints.
local function made(words_, settings)
  local usage, out = runner:run(words_, settings)
  if not usage then fail(table.concat(words_, " ") .. ": " .. out) end
  local numbers = {}
  for number in out:gmatch "%d+" do numbers[#numbers + 1] = math.tointeger(number) end
  return numbers, usage
end

local function field(json, key)
  return math.tointeger(json:match('\n  "' .. key .. '": (%d+)'))
end

local function row(name, path, exact)
  local usage, text = runner:run({ asamp, "report", path }, {})
  if not usage then fail(name .. ": " .. text) end
  local again, json = runner:run({ asamp, "report", "--json", path }, {})
  if not again then fail(name .. ": " .. json) end
  local bytes, minors, majors = field(json, "bytes"), field(json, "minors"), field(json, "majors")
  print(("| %s | %.1f | %.2f | %.0f | %.4f | %d of %d | %d of %d |"):format(name,
    size(path) / 1e6, usage.cpu, usage.rss / 1e6, bytes / exact[1], minors, exact[2], majors,
    exact[3]))
  -- the error is computed from the exact bytes, because the estimate of a short run may be 0
  local sigma = math.sqrt(exact[1] * field(json, "period"))
  if math.abs(bytes - exact[1]) > SIGMA * sigma then fail(name .. ": the bytes are wrong") end
  if minors ~= exact[2] or majors ~= exact[3] then fail(name .. ": the collections are wrong") end
  os.remove(path)
end

print(machine.line())
print "\n| profile | MB | report, CPU s | peak RSS, MB | bytes, of the exact | minor | major |"
print "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
for _, what in ipairs { "loads", "names", "collections" } do
  local n, path = start.positive(found, what, what == "names" and NAMES or N), work .. "/" .. what
  row(("%d %s"):format(n, what), path, made({
    root .. "/build/bin/lua", root .. "/bench/runner/long_program.lua", path, what, n,
  }, {}))
end
local n, path = start.positive(found, "lines", N), work .. "/lines"
row(("a file of %d collections"):format(n), path, made({
  root .. "/build/bin/lua", root .. "/bench/runner/long_profile.lua", path, n,
}, { "LUA_CPATH=" .. root .. "/build/spec/?.so;;" }))
