-- SPDX-License-Identifier: MIT
-- One line that says where figures come from: processor, cores, kernel, commit.
-- What cannot be found is left out; nothing here fails.

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

return machine
