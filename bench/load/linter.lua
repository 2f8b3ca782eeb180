-- SPDX-License-Identifier: MIT
-- A real program: luacheck (Debian's lua-check) parses and analyses Lua sources. 'size' is the number of
-- files to check. They are the first ones in the sorted list of the files below a folder. If the folder has
-- fewer files, they are checked again, as in an editor. LINT_TREE=dir selects another folder of files,
-- LUACHECK=dir another folder of luacheck. The result is the number of warnings, and a checksum of their
-- positions and codes.

local TREE = os.getenv("LINT_TREE") or "/usr/share/lua/5.1"
local LUACHECK = os.getenv("LUACHECK") or "/usr/share/lua/5.1"

local function fail(message, ...)
  io.stderr:write("linter: ", message:format(...), "\n")
  os.exit(3)
end

local function luacheck()
  package.path = ("%s/?.lua;%s/?/init.lua;%s"):format(LUACHECK, LUACHECK, package.path)
  local found, module = pcall(require, "luacheck")
  if not found then
    local why = tostring(module):match("^[^\n]*")
    fail("no luacheck in %s that this Lua runs; apt-get install lua-check, or set LUACHECK=dir (%s)",
         LUACHECK, why)
  end
  return module
end

-- Returns the texts of at most 'count' files, and their total number of bytes.
local function sources(count)
  local quoted = "'" .. TREE:gsub("'", "'\\''") .. "'"
  local list = io.popen("find -L " .. quoted .. " -name '*.lua' -type f 2>/dev/null | LC_ALL=C sort")
  local texts, bytes = {}, 0
  for path in list:lines() do
    if #texts == count then break end
    local file = assert(io.open(path, "rb"))
    texts[#texts + 1] = file:read("a")
    bytes = bytes + #texts[#texts]
    file:close()
  end
  list:close()
  if #texts == 0 then fail("no Lua file under %q; set LINT_TREE=dir", TREE) end
  return texts, bytes
end

local function run(count)
  local linter = luacheck()
  local texts, bytes = sources(count)
  local warnings, errors, sum, left = 0, 0, 0, count
  while left > 0 do
    local report = linter.check_strings(table.move(texts, 1, math.min(left, #texts), 1, {}), { std = "max" })
    for _, file in ipairs(report) do
      for _, issue in ipairs(file) do
        local mark = issue.line * 1000 + issue.column + tonumber(issue.code)
        sum = (sum * 31 + mark) % 1000000007
      end
    end
    warnings, errors, left = warnings + report.warnings, errors + report.errors, left - #report
  end
  return ("%d files, %d bytes, %d warnings, %d errors, %d"):format(
    #texts, bytes, warnings, errors, sum)
end

return {
  about = "luacheck over a tree of Lua sources",
  size = 226, small = 3, tiny = 1, long = 20 * 226,
  run = run,
}
