-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/proofs: lua proofs.lua ROOT WORK RUNS NAME. If NAME is "", it measures all
-- programs. A program that leaks has a comment line "-- cut: CODE". CODE removes the reference that keeps the
-- leaked objects alive.

local root, work, runs, only = arg[1], arg[2], tonumber(arg[3]), arg[4]
local asamp = root .. "/build/bin/asamp"
package.path = root .. "/lualib/?.lua;" .. package.path

local json = require "cjson"

-- largest permitted error of the bytes of a proof, relative to the bytes that become free
local TOLERANCE <const> = 0.01

-- Code that is appended to a program that leaks. It runs CODE and prints two numbers to stderr: the bytes
-- of the objects that become free, and by how many bytes the memory in use shrinks. The second number
-- includes the string table.
local TRUTH <const> = [[

local alive = require "profiler".alive
collectgarbage() collectgarbage()
local before = collectgarbage "count"
local less = -alive(function() %s end)
collectgarbage() collectgarbage()
io.stderr:write(("%%d %%d"):format(less, (before - collectgarbage "count") * 1024))
]]

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local function output(command, ...)
  local pipe = assert(io.popen(command:format(...)))
  local text = pipe:read "a"
  pipe:close()
  return text
end

-- Returns the paths of the selected programs in a folder, sorted.
local function programs(folder)
  local list = {}
  for path in output("ls '%s/%s'/*.lua", root, folder):gmatch "[^\n]+" do
    list[#list + 1] = (only == "" or path:match "([^/]+)%.lua$" == only) and path or nil
  end
  return list
end

-- Runs a program by asamp run --prove-leaks. Returns its report, with each sequence of white space replaced
-- by one space.
local function report(path)
  local text = output("cd '%s' && timeout 120 '%s' run --prove-leaks -o run.vmprof '%s' 2>&1 >/dev/null",
                      work, asamp, path)
  return (text:gsub("%s+", " "))
end

-- Returns the proof of a program's leak, a table with the fields 'proved' and 'freed' (bytes). Repeats the
-- run up to 'runs' times until a leak is found; returns nil if none is.
local function prove(path)
  for _ = 1, runs do
    local snapshot = report(path):match "heap %-%-prove=%S+ (%S+) shows "
    if snapshot then
      local text = output("cd '%s' && '%s' heap --prove=run.vmprof --json '%s'", work, asamp, snapshot)
      return json.decode(text).proofs[1].proof
    end
  end
end

-- Runs a program (its source is 'text') followed by TRUTH with the code 'cut'. Returns the two numbers that
-- TRUTH prints.
local function freed(text, cut)
  local path = work .. "/truth.lua"
  local file = assert(io.open(path, "w"))
  file:write(text, TRUTH:format(cut))
  assert(file:close())
  local objects, all = output("'%s/build/bin/lua' '%s' 2>&1 >/dev/null", root, path):match "^(%d+) (%d+)"
  return tonumber(objects), tonumber(all)
end

print "| program | proved | bytes of the proof | freed by program | difference | with the string table |"
print "| --- | --- | ---: | ---: | ---: | ---: |"
local leaks, proved, near = 0, 0, 0
for _, folder in ipairs{"bench/proofs.d", "spec/planted"} do
  for _, path in ipairs(programs(folder)) do
    local text = read(path)
    local cut = text:match "\n%-%- cut: ([^\n]+)"
    if cut then
      local proof, truth, all = prove(path), freed(text, cut)
      local difference = proof and proof.freed and (proof.freed - truth) / truth
      leaks = leaks + 1
      proved = proved + (proof and proof.proved and 1 or 0)
      near = near + (difference and math.abs(difference) <= TOLERANCE and 1 or 0)
      local name, yes = path:match "([^/]+)%.lua$", proof and proof.proved
      print(("| %s | %s | %.0f | %d | %s | %d |"):format(
        name, yes and "yes" or "no", proof and proof.freed or 0, truth,
        difference and ("%+.2f%%"):format(100 * difference) or "-", all))
    end
  end
end

local innocent, accused = programs "spec/innocent", 0
if leaks + #innocent == 0 then
  io.stderr:write(("proofs: no program named %q; give one of bench/proofs.d, spec/planted (with a line " ..
                   "\"-- cut:\") or spec/innocent\n"):format(only))
  os.exit(2)
end
for _, path in ipairs(innocent) do
  local text = report(path)
  if text:find("Likely leak:", 1, true) or text:find("Proved:", 1, true) then
    accused = accused + 1
    print(path .. " is accused")
  end
end
print(("\n%d of %d leaks proved, %d within %g%% of the freed bytes"):format(
  proved, leaks, near, 100 * TOLERANCE))
print(("%d of %d programs without a leak accused"):format(accused, #innocent))
os.exit(proved == leaks and near == leaks and accused == 0)
