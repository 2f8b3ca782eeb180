-- SPDX-License-Identifier: MIT
-- Runs the test runner busted with the module paths that the specs need. spec/run starts this script in the
-- root folder of the project.
package.path = "./?.lua;./lualib/?.lua;./bench/?.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;"
  .. package.path
local i = -1
while arg[i - 1] do i = i - 1 end
local tree = arg[i]:gsub("[^/]*/[^/]*$", "")
-- Makes the path absolute, because some specs start processes in other folders.
if not tree:find "^/" then
  local pwd = assert(io.popen "pwd")
  tree = pwd:read "l" .. "/" .. tree
  pwd:close()
end
-- adds the Lua modules of the page of `asamp view`
package.path = package.path .. ";" .. tree .. "share/asamp/?.lua"
package.cpath = "./build/spec/?.so;" .. package.cpath .. ";" .. tree .. "lib/asamp/?.so"

-- os.tmpname creates files in the folder TMPDIR, which spec/one removes, so that specs need not remove
-- their files.
local folder, n = os.getenv "TMPDIR", 0
if folder then
  function os.tmpname()  -- luacheck: ignore 122
    local path
    repeat
      n = n + 1
      path = folder .. "/" .. n
    -- os.rename tests whether the file exists. io.open would block if it were a pipe
    until not os.rename(path, path)
    assert(io.open(path, "w")):close()
    return path
  end
end

require "busted.runner" { standalone = false }
