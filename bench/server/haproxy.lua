-- SPDX-License-Identifier: MIT
-- The server HAProxy with a Lua service: one thread, and one Lua state for all requests.

local http = require "runner.serverprocess".http

local CONFIG = [[
global
  nbthread 1
  lua-load ${folder}/service.lua
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 10s
frontend all
  bind 127.0.0.1:${port}
  http-request use-service lua.page
]]

local SERVICE = [[
local page = dofile "${folder}/page.lua"
core.register_service("page", "http", function(applet)
  local text = page(tonumber(applet.qs:match "%d+"))
  applet:set_status(200)
  applet:add_header("content-length", #text)
  applet:start_response()
  applet:send(text)
end)
]]

return {
  user = "root",
  lines = "page.lua:%d+",
  files = { ["haproxy.cfg"] = CONFIG, ["service.lua"] = SERVICE },
  command = "exec '${built}/haproxy/haproxy' -db -f '${folder}/haproxy.cfg'",
  request = http.request,
  load = http.load,
  complete = http.complete,
}
