-- SPDX-License-Identifier: MIT
-- Reports on a part of a profile: the options --from, --until and --exclude must select the same samples in
-- report, check and all formats of convert.

local cjson = require "cjson"
local check = require "spec.support.commands".of((require "asamp.commands.check"))
local convert = require "spec.support.commands".of((require "asamp.commands.convert"))
local process = require "spec.support.process"
local protobuf = require "spec.support.protobuf"
local report = require "spec.support.commands".of((require "asamp.commands.report"))
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

describe("a part of a profile", function()
  local folder, path, middle

  local function json(_, text) return cjson.decode(text) end

  setup(function()
    folder = shell.folder()
    path = folder .. "/p.vmprof"
    assert.same({0, "", ""}, {process.run{code = [[
      local profiler = require "profiler"
      profiler.enable{alloc = 512, seed = 7, out = arg[1], overwrite = true, quiet = true}
      local kept = {}
      local function early(n) for i = 1, n do kept[i % 100] = {i, i} end end
      local function late(n) for i = 1, n do kept[i % 100] = {i, i, "x" .. i} end end
      local started = os.clock()
      while os.clock() < started + 0.05 do early(1000) end
      profiler.mark "between"
      while os.clock() < started + 0.1 do late(1000) early(10) end
      profiler.disable()]], path}})
    -- 'middle' is read from the profile, because on a busy machine elapsed time is longer than CPU time
    middle = ("%.3f"):format(json(report("--json", path)).marks[1].first / 1e6)
  end)

  teardown(function() shell.remove(folder) end)

  -- By format, a function that returns the sum of the bytes in a converted profile.
  local FORMATS = {}

  function FORMATS.pprof(text)
    local bytes = 0
    for _, s in ipairs(protobuf.profile(text).samples) do bytes = bytes + s.values[2] end
    return bytes
  end

  function FORMATS.collapsed(text)
    local bytes = 0
    for n in text:gmatch " (%d+)\n" do bytes = bytes + tonumber(n) end
    return bytes
  end

  function FORMATS.speedscope(text)
    local bytes = 0
    for _, n in ipairs(cjson.decode(text).profiles[1].weights) do bytes = bytes + n end
    return bytes
  end

  function FORMATS.firefox(text)
    local bytes = 0
    for _, thread in ipairs(cjson.decode(text).threads) do
      for _, n in ipairs(thread.nativeAllocations and thread.nativeAllocations.weight or {}) do
        bytes = bytes + math.max(n, 0)
      end
    end
    return bytes
  end

  it("has the same bytes in all formats, as in the report", function()
    local whole = json(report("--json", path))
    for _, options in ipairs{{}, {"--from", middle}, {"--until", middle}, {"--exclude", "early"},
                             {"--exclude", "early", "--from", middle}} do
      local _, text = report("--json", path, table.unpack(options))
      local doc = cjson.decode(text)
      assert.is_true(doc.whole.bytes > 10000)
      assert.is_true(#options == 0 or doc.whole.bytes < whole.whole.bytes * 0.95)
      for format, sum in pairs(FORMATS) do
        local status, _, err = convert("--plain", "--to", format, "-o", folder .. "/out", path,
                                       table.unpack(options))
        assert.same({0, ""}, {status, err})
        assert.equal(doc.whole.bytes, math.tointeger(sum((vmprof.load(folder .. "/out")))), format)
      end
    end
  end)

  it("has no sums of the whole run in JSON", function()
    local doc = json(report("--json", path))
    assert.is_true(doc.minors > 0 and doc.collections ~= nil and #doc.marks == 1 and doc.allocated > 0)
    for _, options in ipairs{{"--from", middle}, {"--until", middle}, {"--exclude", "early"}} do
      doc = json(report("--json", path, table.unpack(options)))
      for _, key in ipairs{"collections", "minors", "majors", "marks", "allocated"} do
        assert.is_nil(doc[key], key)
      end
    end
  end)

  it("is checked alone, and limits of the whole run are refused", function()
    local doc = json(report("--json", path, "--until", middle))
    local most = doc.whole.bytes
    assert.equal(0, (check(path, "--until", middle, "--max-allocated", tostring(most + most // 5))))
    local status, text = check(path, "--until", middle, "--max-allocated", tostring(most - most // 5))
    assert.equal(1, status)
    assert.is_truthy(text:find "OVER  max%-allocated: .- %(early%)", text)
    assert.equal(1, (check(path, "--max-allocated", tostring(most + most // 5))))
    assert.equal(0, (check(path, "--baseline", path, "--from", middle)))
    for _, case in ipairs{
        {"--max-peak", "1M", "--from", middle,
         says = "--max-peak always checks the whole heap: leave --from out"},
        {"--no-leak", "--exclude", "x", says = "--no-leak always checks the whole run: leave --exclude out"},
        {"--max-alive", "1M", "--from", "2", "--until", "1", says = "--from 2 (seconds) must be less than " ..
          "--until 1"}} do
      local code, _, err = check(path, table.unpack(case))
      assert.equal(2, code)
      assert.is_truthy(err:find(case.says, 1, true), err)
    end
    local code, _, err = check(path, "--max-alive", "1M", "--from", "99")
    assert.is_true(code == 1 and err:find("is after the end of the profile", 1, true) ~= nil, err)
  end)

  it("is refused by formats that cannot have it, with the option's name", function()
    for _, case in ipairs{
        {"vmprof", "--from", "1", says = "--from has no effect on vmprof, which keeps " ..
         "the whole profile: use asamp report --from"},
        {"vmprof", "--exclude", "x", says = "--exclude has no effect on vmprof"},
        {"heapsnapshot", "--until", "1",
         says = "--until has no effect on a heap snapshot, which has no stacks and no times of " ..
           "samples: leave --until out"}} do
      local code, _, err = convert("-o", folder .. "/no", path, "--to", table.unpack(case))
      assert.equal(2, code)
      assert.is_truthy(err:find(case.says, 1, true), err)
    end
    local code, _, err = convert("--to", "pprof", "--exclude", "x", "-")
    assert.is_true(code == 2 and err:find("--exclude reads the input twice", 1, true) ~= nil, err)
  end)
end)
