-- SPDX-License-Identifier: MIT
-- The server Apache with a handler of mod_lua: one child process with threads, and a Lua state for each
-- request, which is the default of mod_lua.

local http = require "runner.serverprocess".http

local CONFIG = [[
ServerRoot "${folder}"
ServerName localhost
PidFile "${folder}/pid"
ErrorLog "${folder}/errors"
Listen 127.0.0.1:${port}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule lua_module /usr/lib/apache2/modules/mod_lua.so
User www-data
Group www-data
ServerLimit 1
StartServers 1
ThreadsPerChild 4
MaxRequestWorkers 4
MinSpareThreads 1
MaxSpareThreads 4
Mutex posixsem
DocumentRoot "${folder}"
LuaMapHandler /page "${folder}/handler.lua"
]]

local HANDLER = [[
local page = dofile "${folder}/page.lua"
function handle(r)
  r.content_type = "text/plain"
  r:write(page(tonumber(r.args:match "%d+")))
  return apache2.OK
end
]]

return {
  user = "www-data",
  lines = "page.lua:%d+",
  files = { ["apache.conf"] = CONFIG, ["handler.lua"] = HANDLER },
  command = "exec /usr/sbin/apache2 -DFOREGROUND -f '${folder}/apache.conf'",
  request = http.request,
  load = http.load,
  complete = http.complete,
}
