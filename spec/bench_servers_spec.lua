-- SPDX-License-Identifier: MIT
-- bench/servers, which measures servers that embed Lua: its help text, and its helper functions with a
-- process that is not such a server. The servers need a separate Debian system, which `make fresh` creates.

local serverprocess = require "runner.serverprocess"
local shell = require "spec.support.shell"

describe("bench/servers", function()
  it("explains itself", function()
    local status, out = shell.run "bench/servers --help"
    assert.equal(0, status)
    assert.truthy(out:find("bench/servers [--rounds N]", 1, true), out)
  end)

  it("fills the texts of its servers", function()
    local fields = { port = 80, folder = "/x" }
    assert.equal("listen 80 in /x", serverprocess.fill("listen ${port} in ${folder}", fields))
    for _, name in ipairs { "haproxy", "mod_lua", "pllua" } do
      local server = dofile(("bench/server/%s.lua"):format(name))
      assert.equal("string", type(server.load({ folder = "/x", port = 1, pg = "/y" }, 10)))
      assert.falsy(server.complete("", 10))
    end
  end)

  it("accepts a load only if all requests were answered", function()
    local complete = serverprocess.http.complete
    local text = "Complete requests:      10\nFailed requests:        %d\n"
    assert.truthy(complete(text:format(0), 10))
    assert.falsy(complete(text:format(1), 10))
    assert.falsy(complete(text:format(0), 11))
    assert.falsy(complete(text:format(0) .. "Non-2xx responses:      3\n", 10))
  end)

  it("starts a process in a folder, sums its family and ends it", function()
    local folder = shell.folder()
    local server = { user = "root", files = { note = "port ${port}\n" },
      command = "sleep 60 & echo >ready; exec sleep 60",
      request = function(s) return shell.read(s.folder .. "/ready") and "0856 name 1" or "" end }
    local process = assert(serverprocess.start(server, { folder = folder, root = "." }, folder, "listen"))
    assert.equal(2, #process:family())
    assert.is_true(process:cpu() >= 0)
    assert.equal("port 18080\n", shell.read(folder .. "/note"))
    for _, pid in ipairs((process:family())) do
      if pid ~= process.pid then shell.run("kill " .. pid) end
    end
    process:stop()
    assert.equal(0, #process:family())
  end)
end)
