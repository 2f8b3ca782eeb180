-- The verdict must name line 3|4|5|8|14, reason keys, holder package.loaded
-- A server loads its handler again for each deployment, under a new module name. All old modules stay loaded.
local source = [=[
local M, routes, names = {}, {}, {}
for i = 1, 40 do
  routes[i] = {path = "/item/" .. i, methods = {"GET", "POST"}}
  names[i] = "route" .. i
  M[names[i]] = function(x) return routes[i].path .. x end
end
function M.handle(i) return routes[i % #routes + 1].path end
return M
]=]
local n = 0
for version = 1, 400 do
  local name = "handler@" .. version
  package.loaded[name] = load(source, "=handler.lua")()
  local handler = package.loaded[name]
  for i = 1, 200 do n = n + #handler.handle(i) end
end
print(n)
