-- SPDX-License-Identifier: MIT
--
-- Debian's programs that embed Lua, run under `asamp run -- PROGRAM`: they must behave as with Debian's
-- Lua, and the profile must have the lines of their Lua code. Some are servers that fork, enter a chroot
-- and change their user. If a program is not installed, its spec is pending.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local ROOT = shell.output "id -u" == "0\n"
local BIN = process.interpreter():match "^(.*)/"

-- Lua code that is part of each program's script: busy(n) creates n strings in its second line.
local BUSY = "local function busy(n) local t = {} for i = 1, n do\n" ..
             "t[i] = 'n' .. i end return #t .. t[n] end\n"

-- For each program: the files that it needs, and a shell command that runs it. The spec replaces the word
-- RUN by the command under test. The output must contain the text 'says', and the profiles must have
-- samples at line 'line' of the file 'file'. No wait is longer than 20 seconds.
local PROGRAMS = {
  clingo = {file = 'q.lp', line = 3, says = 'g("3000n3000")', files = {
    ["q.lp"] = "#script (lua)\n" .. BUSY .. [[
function list()
  local r = {}
  for i = 1, 5 do
    r[i] = clingo.String(busy(2995 + i))
  end
  return r
end
#end.
g(X) :- X = @list.
]]}, run = "RUN clingo --verbose=0 q.lp"},
  gnuplot = {file = "gnuplot-tikz.lua", says = "tikzpicture", files = {["p.gp"] = [[
set terminal lua tikz
set output 'p.tex'
plot sin(x), cos(x)
]]}, run = "RUN gnuplot p.gp && grep -v '^%' p.tex"},
  mle = {file = "m.lua", line = 2, files = {["m.lua"] = BUSY ..
    "local f = io.open('m.out', 'w') f:write(busy(3000)) f:close()"},
    run = "echo hello | RUN mle -N -H 1 -x m.lua && cat m.out"},
  neomutt = {file = "n.lua", line = 2, files = {["n.lua"] = BUSY .. "mutt.set('real_name', busy(3000))"},
    run = "RUN neomutt -n -F /dev/null -e 'lua-source n.lua' -Q real_name"},
  -- The helper process of dnsmasq ends by _exit, so that its profile lacks the last second and the end
  -- (cut).
  dnsmasq = {root = true, file = "d.lua", line = 2, cut = true, files = {
    leases = "9999999999 02:00:00:00:00:01 127.0.0.50 host *\n", ["d.lua"] = BUSY .. [[
local out = io.open("FOLDER/d.out", "a")
out:setvbuf "no"
function init() out:write("init ", busy(3000), "\n") end
function shutdown() out:write("shutdown ", busy(3000), "\n") end
function lease(action, t) out:write(action, " ", t.mac_address, " ", busy(3000), "\n") end
]]}, run = [[
RUN dnsmasq -k -p 0 --conf-file=/dev/null --log-facility=FOLDER/log --dhcp-luascript=FOLDER/d.lua
  --dhcp-leasefile=FOLDER/leases --dhcp-range=127.0.0.40,127.0.0.60 --dhcp-alternate-port=20067,20068
  --interface=lo --bind-interfaces --pid-file=FOLDER/pid &
until_ grep -q old d.out; until_ "KEPT"; kill $!; wait $!; until_ grep -q shutdown d.out; cat d.out]]},
  lighttpd = {root = true, module = "/usr/lib/lighttpd/mod_magnet.so", file = "/m.lua", line = 2, files = {
    ["m.lua"] = BUSY .. "lighty.r.resp_body:set(busy(3000))\nreturn 200\n", ["l.conf"] = [[
server.modules = ("mod_magnet")
server.document-root = "/tmp"
server.bind = "FOLDER/tmp/socket"
server.chroot = "FOLDER"
server.username = "nobody"
server.max-worker = 2
server.errorlog = "/tmp/log"
server.upload-dirs = ("/tmp")
magnet.attract-raw-url-to = ("/m.lua")
]]}, run = [[
rm -f tmp/socket; RUN lighttpd -D -f l.conf & until_ test -S tmp/socket
for i in 1 2 3 4; do curl -s -m 20 --unix-socket tmp/socket http://server/$i; done; kill $!; wait $!]]},
  -- The processes of dovecot have only the environment variables that its setting import_environment lists.
  dovecot = {root = true, module = "/usr/lib/dovecot/modules/auth/libauthdb_lua.so", file = "a.lua", line = 2,
    says = "succeeded\npassdb: bob auth failed", files = {["a.lua"] = BUSY .. [[
function auth_passdb_lookup(request)
  if request.user ~= "bob" then return dovecot.auth.PASSDB_RESULT_USER_UNKNOWN, "nobody" end
  return dovecot.auth.PASSDB_RESULT_OK, "password=" .. busy(3000)
end
]], ["d.conf"] = [[
base_dir = FOLDER/run
state_dir = FOLDER/run
log_path = FOLDER/log
protocols =
ssl = no
passdb {
  driver = lua
  args = file=FOLDER/a.lua blocking=no
}
import_environment = TZ LD_LIBRARY_PATH ASAMP
]]}, run = [[
RUN dovecot -F -c FOLDER/d.conf & until_ test -S run/auth-client
for pass in 3000n3000 wrong; do timeout 300 doveadm -c d.conf auth test bob $pass | head -1; done
timeout 300 doveadm -c d.conf stop; wait $!]]},
  prosody = {file = "mod_busy.lua", line = 2, script = "/usr/bin/prosody", files = {
    ["mod_busy.lua"] = BUSY .. [[
module:add_timer(0, function()
  local f = io.open("FOLDER/out", "w")
  f:write(busy(3000), "\n")
  f:close()
end)
]], ["p.cfg.lua"] = [[
run_as_root = true
data_path = "FOLDER/tmp"
plugin_paths = {"FOLDER"}
modules_enabled = {"disco", "posix", "busy"}
modules_disabled = {"s2s", "c2s", "http"}
log = {error = "FOLDER/log"}
VirtualHost "localhost"
]]}, run = "RUN /usr/bin/prosody --config p.cfg.lua -F & until_ test -s out; kill $!; wait $!; cat out"},
}

-- Waits until the profile is complete, at most 100 seconds, because a worker process may outlive its
-- master. Returns false after that time.
local function complete(path)
  for _ = 1, 2000 do
    if reader.read(path).complete then return true end
    shell.run "sleep 0.05"
  end
  return false
end

-- Returns the number of profiles in the folder that have a sample at the program's line ('line' of 'file').
local function sampled(folder, program)
  local n = 0
  for _, path in ipairs(shell.lines(shell.output("ls %s/profiles", folder))) do
    assert.is_true(program.cut or complete(folder .. "/profiles/" .. path), path)
    local _, text = shell.run(("%s/asamp report --width 300 --top 100 %s/profiles/%s"):format(
      BIN, folder, path))
    local where = program.file:gsub("%W", "%%%0")
    if text:find(where .. "[^\n ]*:" .. (program.line or "%d+") .. "%s") then n = n + 1 end
  end
  return n
end

describe("under asamp run #plain", function()
  local folder
  before_each(function()
    folder = shell.folder()
    shell.output("cd %s && chmod 755 . && mkdir -m 777 profiles tmp run", folder)
  end)

  for name, program in pairs(PROGRAMS) do
    it(name, function()
      local path = shell.run(("PATH=$PATH:/usr/sbin command -v %s %s"):format(
        name, program.module and "&& test -e " .. program.module or ""))
      if path ~= 0 then return pending(name .. " is not installed") end
      if program.root and not ROOT then return pending(name .. " is started by root") end
      for file, text in pairs(program.files) do
        shell.write(folder .. "/" .. file, (text:gsub("FOLDER", folder)))
      end
      local function run(words, kept)
        local line = program.run:gsub("\n  ", " "):gsub("%u%u%u+", {FOLDER = folder, KEPT = kept,
                                                                   RUN = "timeout -k 5 300 " .. words})
        local status, out, err = shell.run(([[cd %s; export PATH=$PATH:/usr/sbin TZ=UTC; rm -f *out log
          until_() { for i in $(seq 4000); do eval "$@" 2>/dev/null && return; sleep .05; done; }
          %s]]):format(folder, line))
        return {status, out}, err
      end
      local asamp = ("%s/asamp run --quiet --alloc 2K -o %s/profiles/%%p.vmprof %s"):format(
        BIN, folder, program.script and "" or "--")
      local stock, message = run(program.script and "lua5.4" or "env", "true")
      if not stock[2]:find(program.says or "3000n3000", 1, true) then
        -- A container may forbid system calls that a server needs. Then the server fails with Debian's Lua,
        -- too, and the spec is pending.
        assert.is_true(program.root, stock[2] .. message)
        return pending(("%s does not run here: %s"):format(name, message))
      end
      assert.same(stock, (run(asamp, BIN .. "/asamp report profiles/* | grep -q d.lua:2")))
      assert.is_true(sampled(folder, program) > 0)
    end)
  end
end)
