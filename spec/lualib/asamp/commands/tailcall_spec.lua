-- SPDX-License-Identifier: MIT
-- The mark of tail calls in reports, converted profiles and the page. (asamp/stack_spec.lua tests it in
-- stacks.) The specs have the tag #plain, because the commands do not depend on the build.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

local SCRIPT = [[
local function work() return {1, 2, 3, 4, 5, 6, 7, 8} end
local function wrapper() return work() end
local function handler() return wrapper() end
local function direct() local t = work() return t end
for i = 1, 1000 do handler() direct() end
]]

describe("a tail call #plain", function()
  local folder

  local function asamp(...)
    local status, out, err = process.run{program = "build/bin/asamp", ...}
    assert.same({0, ""}, {status, err})
    return out
  end

  setup(function()
    folder = shell.lines(shell.output "mktemp -d")[1]
    shell.write(folder .. "/t.lua", SCRIPT)
    assert.equal(0, (process.run{load = "profiler", folder .. "/t.lua", program = "build/bin/lua",
      env = {LUA_PROFILER = "quiet,alloc=64,fixed,out=" .. folder .. "/t.vmprof"}}))
  end)

  teardown(function() shell.run("rm -r " .. folder) end)

  it("has a row and a place in the tree of a report", function()
    local out = asamp("report", "--show", "functions,tree", folder .. "/t.vmprof")
    assert.truthy(out:find "\n +0B +0%.0%% +%d+%.%dK +%d+%.%d%% [^\n]*  %(tail call%)\n")
    assert.truthy(out:find "%(tail call%)\n[^\n]*work")
  end)

  it("is in collapsed stacks, for pprof, for Firefox and in the page", function()
    for _, to in ipairs{"collapsed", "pprof", "firefox"} do
      local path = ("%s/%s"):format(folder, to)
      asamp("convert", "--to", to, folder .. "/t.vmprof", "-o", path)
      assert.truthy(shell.output("zcat -f " .. path):find("(tail call)", 1, true), to)
    end
    local stacks = shell.read(folder .. "/collapsed")
    assert.truthy(stacks:find "main chunk[^;\n]*;%(tail call%)[^;\n]*;[^;\n]*work")
    assert.truthy(stacks:find "direct[^;\n]*;[^;\n]*work")
  end)
end)
