-- SPDX-License-Identifier: MIT
-- Does the measurements of bench/budgets and prints the results: lua budgets.lua WORK SPECS RUNS KEEP. Must
-- be called in the root folder of the project.

local work, specs, runs, keep = arg[1], arg[2], tonumber(arg[3]), arg[4]

-- The functions of Penlight to which an allocation is added, one at a time: file, first line of the
-- definition.
local PLANTED = {
  {"array2d", "function array2d.size (a)"},
  {"array2d", "function array2d.flatten (t)"},
  {"array2d", "function array2d.iter(a,indices,i1,j1,i2,j2)"},
  {"array2d", "function array2d.reshape (t,nrows,co)"},
  {"Set", "function Set.union (self,set)"},
  {"Set", "function Set.intersection (self,set)"},
  {"Set", "function Set.issubset (self,set)"},
  {"MultiMap", "function MultiMap:set (key,val)"},
  {"stringx", "function stringx.splitlines(s, keep_ends)"},
  {"stringx", "function stringx.split(s,re,n)"},
  {"stringx", "function stringx.replace(s,old,new,n)"},
  {"stringx", "function stringx.count(s,sub,allow_overlap)"},
  {"stringx", "local function _strip(s,left,right,chrs)"},
  {"stringx", "local function _just(s,w,ch,left,right)"},
  {"stringx", "function stringx.partition(s,ch)"},
  {"stringx", "function stringx.dedent (s)"},
  {"permute", "function permute.list_iter(...)"},
  {"utils", "function utils.npairs(t, i_start, i_end, step)"},
  {"utils", "function utils.enum(...)"},
  {"utils", "function utils.kpairs(t)"},
}

-- Lua code that allocates about 1 KiB. It is inserted after the first line of a function.
local CODE = " local planted = {" .. ("1, "):rep(62) .. "}"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  assert(file:close())
end

local folder = assert(package.searchpath("pl.utils", "/usr/share/lua/5.4/?.lua")):match "^(.*)/"
assert(os.execute(("cp -rL '%s' '%s/pl' && cp -r '%s' '%s/spec'"):format(folder, work, specs, work)))
local root = io.popen("pwd"):read "l"
-- The script that runs the tests. Its name must be busted, because a test of pl.app expects this name.
write(work .. "/busted", ([[
package.path = "%s/?.lua;%s/lualib/?.lua;/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;" ..
  package.path
require "busted.runner" {standalone = false}]]):format(work, root))

-- Runs Penlight's tests with their budgets. Returns the number of tests that exceed their budget, and the
-- output of the run.
local function run(lua, more)
  local p = assert(io.popen(("cd '%s' && '%s/%s' ./busted -o TAP --helper=asamp.budget.busted %s spec 2>&1")
    :format(work, root, lua, more or "")))
  local text = p:read "a"
  p:close()
  assert(text:find "\n1%.%.%d+\n", text)
  return select(2, text:gsub("' exceeds its budget", "")), text
end

local FORK <const>, PLAIN <const> = "build/bin/lua", "build/plain/bin/lua"
run(FORK, "-Xhelper update")
local tests = select(2, read(work .. "/asamp-budget.lua"):gsub("{bytes = ", ""))
print(("%d tests with a budget"):format(tests))

local alarms = 0
for i = 1, runs do
  local n, text = run(FORK)
  if n > 0 then
    alarms = alarms + 1
    local file = assert(io.open(keep, "a"))
    file:write(("run %d\n"):format(i), (text:gsub("ok [^\n]*\n", {})))
    file:close()
  end
end
print(("%d runs without a change: %d with an alarm\n"):format(runs, alarms))

print "| planted in | tests over budget | messages that name the line | as the first |"
print "| --- | ---: | ---: | ---: |"
local missed = 0
for _, case in ipairs(PLANTED) do
  local path = ("%s/pl/%s.lua"):format(work, case[1])
  local source = read(path)
  local from, last = source:find(case[2], 1, true)
  assert(from, case[2])
  local line = select(2, source:sub(1, from):gsub("\n", "")) + 1
  write(path, source:sub(1, last) .. CODE .. source:sub(last + 1))
  local named, first = 0, 0
  local n, text = run(FORK)
  write(path, source)
  for message in (text .. "\nok "):gmatch "exceeds its budget(.-)\n[^\n]*ok " do
    local place = ("/%s.lua:%d "):format(case[1], line)
    local at = message:find(place, 1, true)
    named = named + (at and 1 or 0)
    first = first + (at and select(2, message:sub(1, at):gsub("bytes  ", "")) == 1 and 1 or 0)
  end
  missed = missed + (named > 0 and 0 or 1)
  print(("| `%s` | %d | %d | %d |"):format(case[2]:match "function ([%w_.:]+)", n, named, first))
end
print(("\n%d of %d found with the line"):format(#PLANTED - missed, #PLANTED))

local over, text = run(PLAIN)
local notices = select(2, text:gsub("this Lua does not count allocated bytes", ""))
print(("plain Lua: %d alarms, %d notice"):format(over, notices))
os.exit(alarms == 0 and missed == 0 and over == 0 and notices == 1 and 0 or 1)
