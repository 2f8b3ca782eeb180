-- SPDX-License-Identifier: MIT
-- Runs a workload of bench/load and keeps all tables alive that one of its lines creates, for
-- bench/actionable: lua kept.lua FILE:LINE NAME SIZE. Each table constructor on that line becomes the
-- argument of the function KEEP, as in the paper on FiLiP. With "-" instead of FILE:LINE, nothing is
-- changed.

local place, line = arg[1]:match "^(.*):(%d+)$"
local kept = {}

function KEEP(t)  -- luacheck: ignore 111
  kept[#kept + 1] = t
  return t
end

local function rewritten(path)
  local file, message = io.open(path, "rb")
  if not file then
    return nil, message
  end
  local text, n = file:read "a", 0
  file:close()
  if path == place then
    text = (text .. "\n"):gsub("([^\n]*)\n", function(s)
      n = n + 1
      if n == tonumber(line) then
        s = s:gsub("([=(,]%s*){", "%1KEEP{"):gsub("(return%s+){", "%1KEEP{")
      end
      return s .. "\n"
    end)
  end
  return load(text, "@" .. path)
end

loadfile = rewritten  -- luacheck: ignore 121
table.insert(package.searchers, 2, function(name)
  local path = package.searchpath(name, package.path)
  if path then
    return assert(rewritten(path)), path
  end
end)
arg = {[0] = "bench/load.lua", arg[2], arg[3]}  -- luacheck: ignore 121
dofile "bench/load.lua"
