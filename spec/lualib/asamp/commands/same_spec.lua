-- SPDX-License-Identifier: MIT
-- Commands that add up profiles (asamp merge, asamp report --sum) count each recording once.

local commands = require "spec.support.commands"
local merge = require "asamp.commands.merge"
local process = require "spec.support.process"
local report = require "asamp.commands.report"
local shell = require "spec.support.shell"

describe("a recording that is given twice", function()
  local folder
  setup(function() folder = shell.folder() end)
  teardown(function() shell.remove(folder) end)

  local function at(name) return folder .. "/" .. name end

  -- Runs code under the profiler with these options.
  local function profile(options, code)
    local status, _, err = process.run{load = "profiler", code = code, directory = folder,
      env = {LUA_PROFILER = "alloc=64,quiet," .. options}}
    assert.same({0, ""}, {status, err})
  end

  -- Merges these files. Returns the exit code, the result and the messages.
  local function merged(...)
    local list = {"-o", at "all.vmprof"}
    for _, name in ipairs{...} do list[#list + 1] = at(name) end
    os.remove(at "all.vmprof")
    local code, out, err = commands.of(merge)(table.unpack(list))
    return {code, out:match "%((.*)%)"}, err
  end

  it("by another name, by a link or as a copy is counted once", function()
    profile("out=a.vmprof", "for i = 1, 2000 do local t = {i} end")
    profile("out=b.vmprof", "for i = 1, 2000 do local t = {i} end")
    shell.output("cd %s && ln -s a.vmprof link.vmprof && ln a.vmprof hard.vmprof "
      .. "&& cp a.vmprof copy.vmprof", folder)
    for _, name in ipairs{"a.vmprof", "./a.vmprof", "link.vmprof", "hard.vmprof", "copy.vmprof"} do
      local result, err = merged("a.vmprof", name, "b.vmprof")
      assert.same({0, "2 Lua states of 2 profiles"}, result)
      local what = "'%S*" .. name:gsub("%p", "%%%0") .. "' is the same profile as '%S*a.vmprof', and is "
      assert.is_truthy(err:find(what .. "counted once"), err)
    end
    assert.same({0, "2 Lua states of 2 profiles"}, (merged("a.vmprof", "b.vmprof")))
    local code, out, err = commands.of(report)("--sum", "--json", at "a.vmprof", at "copy.vmprof")
    assert.equal(0, code, err)
    local _, one = commands.of(report)("--json", at "a.vmprof")
    assert.equal(one:match '"samples": *%d+', out:match '"samples": *%d+')
    assert.is_truthy(err:find("is the same profile as", 1, true), err)
  end)

  it("as a copy of a time when the file was shorter is counted once, as it is now", function()
    profile("out=grown.vmprof", [[
      for i = 1, 2000 do local t = {i} end
      profiler.dump()
      os.execute "cp grown.vmprof early.vmprof"
      for i = 1, 2000 do local t = {i} end]])
    for _, names in ipairs{{"early.vmprof", "grown.vmprof"}, {"grown.vmprof", "early.vmprof"}} do
      local result, err = merged(table.unpack(names))
      assert.same({0, "1 Lua state of 1 profile"}, result)
      local what = "early.vmprof' is of the same recording as '%S*grown.vmprof', which is larger"
      assert.is_truthy(err:find(what), err)
    end
  end)

  it("in dumps of one flight recorder that have a time in common is counted once", function()
    profile("ring=1s,out=end.vmprof", [[
      local function work() for i = 1, 2000 do local t = {i} end end
      work()
      profiler.dump "first.vmprof"
      work()
      profiler.dump "second.vmprof"]])
    local result, err = merged("first.vmprof", "second.vmprof")
    assert.same({0, "1 Lua state of 1 profile"}, result)
    local what = "first.vmprof' has a time in common with '%S*second.vmprof', which is a longer dump"
    assert.is_truthy(err:find(what), err)
    profile("ring=1s,out=other.vmprof", "for i = 1, 2000 do local t = {i} end")
    assert.same({{0, "2 Lua states of 2 profiles"}, ""}, {merged("end.vmprof", "other.vmprof")})
  end)
end)
