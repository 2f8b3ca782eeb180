-- SPDX-License-Identifier: MIT
-- Describes the machine: machine.line() returns a line with processor, cores, kernel, compiler and commit,
-- to be printed above the results. Also finds shared libraries. Unknown items are omitted or nil; no
-- function fails.

local machine = {}

local function output(line)
  local pipe = io.popen(line .. " 2>/dev/null")
  local text = pipe and pipe:read("l")
  if pipe then pipe:close() end
  return text ~= "" and text or nil
end

function machine.line()
  local parts = {}
  local function add(format, value)
    if value then parts[#parts + 1] = format:format(value) end
  end
  add("%s", output("sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1"))
  add("%s cores", output("nproc"))
  add("%s", output("uname -srm"))
  add("gcc %s", output("gcc -dumpfullversion"))
  add("commit %s", output("git describe --always --dirty"))
  return table.concat(parts, ", ")
end

-- Returns the path of the first library whose name starts with 'name', or nil. 'listing' is the output of
-- ldconfig -p.
function machine.library_in(listing, name)
  for found, path in listing:gmatch("(%S+) %b() => (%S+)") do
    if found:sub(1, #name) == name then return path end
  end
end

-- Returns the path of an installed shared library such as "libm.so", or nil.
function machine.library(name)
  local pipe = io.popen("PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null")
  local listing = pipe and pipe:read("a") or ""
  if pipe then pipe:close() end
  return machine.library_in(listing, name)
end

return machine
