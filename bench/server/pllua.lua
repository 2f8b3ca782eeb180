-- SPDX-License-Identifier: MIT
-- The server PostgreSQL with a function in PL/Lua: one connection, whose server process has one Lua state.

local process = require "runner.serverprocess"

-- A shell script that the server's user runs. It creates a database in the folder and starts the server.
local CLUSTER = [[
set -e
'${pg}/initdb' -D '${folder}/data' -A trust -U postgres -E UTF8 --locale=C -N >'${folder}/initdb' 2>&1
exec '${pg}/postgres' -D '${folder}/data' -p ${port} -c listen_addresses=127.0.0.1 \
  -c unix_socket_directories='${folder}' -c fsync=off -c autovacuum=off
]]

local FUNCTION = [[
CREATE EXTENSION IF NOT EXISTS pllua;
CREATE OR REPLACE FUNCTION page(n int) RETURNS text LANGUAGE pllua AS $page$
  return make(n)
end
do
  local function module()
${page}
  end
  make = module()
$page$;
]]

local function psql(server, arguments, input)
  return process.output(process.fill(("psql -X -q -A -t -v ON_ERROR_STOP=1 -h '${folder}' -p ${port} "
    .. "-U postgres postgres %s %s 2>&1"):format(arguments, input and "<'" .. input .. "'" or ""), server))
end

return {
  user = "postgres",
  lines = '%[string "page"%]:%d+',
  files = { ["cluster.sh"] = CLUSTER, ["function.sql"] = FUNCTION,
    ["load.sql"] = "SELECT length(page(100));\n" },
  command = "exec setpriv --reuid postgres --regid postgres --clear-groups sh '${folder}/cluster.sh'",
  prepare = function(server) return psql(server, "", server.folder .. "/function.sql") end,
  request = function(server, n) return psql(server, ("-c 'SELECT page(%d)'"):format(n)) end,
  load = function(server, requests)
    return process.fill(("'${pg}/pgbench' -n -M prepared -c 1 -t %d -f '${folder}/load.sql' "
      .. "-h '${folder}' -p ${port} -U postgres postgres 2>&1"):format(requests), server)
  end,
  complete = function(text, requests)
    return text:find(("actually processed: %d/%d"):format(requests, requests), 1, true)
  end,
}
