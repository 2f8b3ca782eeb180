-- SPDX-License-Identifier: MIT
-- Commands that add up profiles (asamp merge, asamp report --sum) must count each recording once, even if
-- several files contain it.

local commands = require "spec.support.commands"
local convert = require "asamp.commands.convert"
local merge = require "asamp.commands.merge"
local process = require "spec.support.process"
local report = require "asamp.commands.report"
local shell = require "spec.support.shell"

describe("a recording that is given twice", function()
  local folder
  setup(function() folder = shell.folder() end)
  teardown(function() shell.remove(folder) end)

  local function at(name) return folder .. "/" .. name end

  -- Runs code under the profiler with these options of LUA_PROFILER.
  local function profile(options, code)
    local status, _, err = process.run{load = "profiler", code = code, directory = folder,
      env = {LUA_PROFILER = "alloc=64,quiet," .. options}}
    assert.same({0, ""}, {status, err})
  end

  -- Merges these files. Returns a list of the exit code and the command's summary, and the messages.
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
      local what = "'%S*" .. name:gsub("%p", "%%%0") .. "' is not counted, because '%S*a.vmprof' is the same "
      assert.is_truthy(err:find(what .. "profile"), err)
    end
    assert.same({0, "2 Lua states of 2 profiles"}, (merged("a.vmprof", "b.vmprof")))
    local code, out, err = commands.of(report)("--sum", "--json", at "a.vmprof", at "copy.vmprof")
    assert.equal(0, code, err)
    local _, one = commands.of(report)("--json", at "a.vmprof")
    assert.equal(one:match '"samples": *%d+', out:match '"samples": *%d+')
    assert.is_truthy(err:find("is the same profile", 1, true), err)
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
      local what = "early.vmprof' is not counted, because '%S*grown.vmprof' contains the same recording with"
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
    local what = "first.vmprof' is not counted, because it overlaps in time with '%S*second.vmprof': " ..
                 "both are dumps of one flight recorder, and only the dump with more samples counts"
    assert.is_truthy(err:find(what), err)
    profile("ring=1s,out=other.vmprof", "for i = 1, 2000 do local t = {i} end")
    assert.same({{0, "2 Lua states of 2 profiles"}, ""}, {merged("end.vmprof", "other.vmprof")})
  end)

  -- A former bug: of two dumps with the same time the first one was counted, and of other files the larger
  -- one, even if it was cut.
  it("is counted as the whole file, not as a cut one", function()
    local code = [[
      for i = 1, 2000 do local t = {i} end
      os.execute "sleep 0.1"
      for i = 1, 9000 do local t = {i} end]]
    profile("out=whole.vmprof", code)
    profile("ring=9s,out=ring.vmprof", code)
    for _, name in ipairs{"whole", "ring"} do
      shell.output("cd %s && gzip -dc <%s.vmprof >plain && " ..
                   "head -c $(($(stat -c %%s plain) / 2)) plain >cut.vmprof", folder, name)
      assert.is_true(#shell.read(at "cut.vmprof") > #shell.read(at(name .. ".vmprof")))
      for _, names in ipairs{{"cut.vmprof", name .. ".vmprof"}, {name .. ".vmprof", "cut.vmprof"}} do
        local _, err = merged(table.unpack(names))
        assert.matches("cut.vmprof' [^\n]*" .. name .. ".vmprof'[^\n]*more samples", err)
        assert.is_nil(err:find("readable part", 1, true), err)
      end
    end
  end)

  -- A former bug: a merged profile did not contain the identities of its recordings, so that merging it
  -- with one of them counted that recording twice.
  it("also in a merged profile is counted once", function()
    for _, name in ipairs{"p1", "p2", "p3"} do
      profile("out=" .. name .. ".vmprof", "for i = 1, 2000 do local t = {i} end")
    end
    profile("ring=1s,out=late.vmprof", [[
      for i = 1, 2000 do local t = {i} end
      profiler.dump "soon.vmprof"
      for i = 1, 2000 do local t = {i} end]])
    local function fold(out, ...)
      local list = {"-o", at(out)}
      for _, name in ipairs{...} do list[#list + 1] = at(name) end
      local code, _, err = commands.of(merge)(table.unpack(list))
      assert.same({0, ""}, {code, err})
    end
    fold("two.vmprof", "p1.vmprof", "p2.vmprof")
    fold("three.vmprof", "two.vmprof", "p3.vmprof")  -- merged again
    fold("others.vmprof", "p2.vmprof", "p3.vmprof")
    fold("dumps.vmprof", "soon.vmprof", "p1.vmprof")
    for _, case in ipairs{
      {{"two.vmprof", "p1.vmprof"}, "p1", "two", 2},
      {{"p2.vmprof", "two.vmprof", "p3.vmprof"}, "p2", "two", 3},
      {{"p1.vmprof", "three.vmprof"}, "p1", "three", 3},
      {{"two.vmprof", "three.vmprof"}, "two", "three", 3},
      {{"late.vmprof", "dumps.vmprof"}, "late", "dumps", 2},
    } do
      local result, err = merged(table.unpack(case[1]))
      local what = ("^asamp merge: '%%S*%s%%.vmprof' is not counted separately, because the merged profile "
        .. "'%%S*%s%%.vmprof' contains its samples\n$"):format(case[2], case[3])
      assert.is_truthy(err:find(what), err)
      assert.equal(0, result[1])
      assert.is_truthy(result[2]:find(("^%d Lua states of %%d profiles?$"):format(case[4])), result[2])
    end
    local code, _, err = commands.of(merge)("-o", at "no.vmprof", at "two.vmprof", at "others.vmprof")
    assert.equal(2, code)
    assert.is_truthy(err:find("the merged profiles '%S*others.vmprof' and '%S*two.vmprof' contain some of "
                              .. "the same recordings"), err)
    code, _, err = commands.of(report)("--sum", at "two.vmprof", at "others.vmprof")
    assert.equal(2, code, err)
    local _, sum = commands.of(report)("--sum", "--json", at "two.vmprof", at "p1.vmprof")
    local _, one = commands.of(report)("--json", at "two.vmprof")
    assert.equal(one:match '"samples": *%d+', sum:match '"samples": *%d+')
  end)

  it("in a dump that was converted to the other format is counted once", function()
    profile("ring=1s,out=dump.vmprof", "for i = 1, 2000 do local t = {i} end")
    assert.equal(0, (commands.of(convert)("--to", "vmprof", "--flavour", "extended", "-o",
      at "converted.vmprof", at "dump.vmprof")))
    local result, err = merged("dump.vmprof", "converted.vmprof")
    assert.same({0, "1 Lua state of 1 profile"}, result)
    assert.is_truthy(err:find("overlaps in time with", 1, true), err)
  end)
end)
