-- SPDX-License-Identifier: MIT
-- If a state has more live samples than the sampler follows, each command that uses its data must report
-- that. A former bug: the commands showed different numbers (12.2M in the report, 8.0M in the others), and
-- only the report gave the reason.

local living = require "asamp.show.living"
local metrics = require "asamp.show.metrics"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local ASAMP = (process.interpreter():gsub("lua$", "asamp"))
local TEXT = "a Lua state reached the limit of 131,072 live samples, so "

describe("samples that are not followed #plain", function()
  local folder
  setup(function()
    folder = shell.folder()
    local status, _, err = process.run{folder, code = [[
      local profiler = require "profiler"
      local folder = ...
      assert(profiler.alloc_start(64, {out = folder .. "/p.vmprof", seed = 7, native = false, fixed = true}))
      local kept = {}
      for i = 1, 75000 do kept[i] = {i, {}} end
      collectgarbage()
      collectgarbage()
      assert(profiler.snapshot(folder .. "/p.heap"))
      print(profiler.stats().unfollowed)
      profiler.alloc_stop()]]}
    assert.same({0, ""}, {status, err})
  end)
  teardown(function() shell.remove(folder) end)

  local function asamp(line)
    return shell.run(("cd %s && %s %s"):format(folder, ASAMP, line))
  end
  local function flat(text) return (text:gsub("%s+", " ")) end
  local function says(text)
    assert.truthy(flat(text):find(TEXT, 1, true), text:sub(1, 3000))
  end

  it("are counted by the reader", function()
    local profile = assert(reader.read(folder .. "/p.vmprof"))
    assert.is_true(profile.unfollowed > 0)
    local found
    for _, left in ipairs(profile.left) do
      if left.what == "unfollowed" then found = left end
    end
    assert.same({131072, profile.unfollowed}, {found.limit, found.count})
  end)

  -- A former bug: samples that were not followed counted as alive, with a small error estimate.
  it("decide no limit of live bytes", function()
    local status, out, err = asamp "check p.vmprof --max-alive 10M"
    assert.same({1, ""}, {status, out})
    assert.matches("^asamp check: %-%-max%-alive: whether [%d,]+ samples are alive is unknown, ", err)
    assert.equal(0, (asamp "check p.vmprof --max-alive 100M"))
    status, out = asamp "check p.vmprof --max-alive 1M"
    assert.equal(1, status)
    assert.matches("^OVER  max%-alive: ", out)
  end)

  for name, line in pairs{report = "report p.vmprof", firefox = "convert --to firefox -o f.json p.vmprof",
                          collapsed = "convert --to collapsed -o c.txt p.vmprof",
                          diff = "diff p.vmprof p.vmprof", merge = "merge -o m.vmprof p.vmprof p.vmprof",
                          vmprof = "convert --to vmprof --flavour extended -o x.vmprof p.vmprof"} do
    it("are reported by " .. name, function()
      local status, out, err = asamp(line)
      assert.equal(0, status, err)
      says(out .. err)
    end)
  end

  it("are reported in the page, and in a comment of pprof", function()
    assert.equal(0, (asamp "view -o v.html p.vmprof"))
    says(shell.read(folder .. "/v.html"))
    assert.equal(0, (asamp "convert --to pprof --plain -o p.pb p.vmprof"))
    says(shell.read(folder .. "/p.pb"))
  end)

  it("are reported with a snapshot", function()
    local status, out, err = asamp "heap --least 50 p.heap"
    assert.equal(0, status, err)
    assert.matches("Too many samples survived: whether [%d,]+ samples are alive is " ..
      "unknown", flat(out))
  end)

  it("are reported of a process", function()
    local stats = {pid = 1, samples = 9,
                   timesamples = 0, allocated = 9, lost = 0, unfollowed = 12, states = 1,
                   made = 1, alloc = 1, time = 0, inuse = 1, held = 1, rss = 0, minors = 1, majors = 1,
                   pauses = 1, longest = 1}
    assert.matches("too many samples survived: the death of 12 samples is not recorded",
                   table.concat(living.stats(stats), "\n"))
    assert.matches("12 with unknown death", table.concat(living.head(stats, nil, 80), "\n"))
    assert.matches('asamp_unfollowed_samples_total{target="x"} 12',
                   metrics.text{{name = "x", stats = stats}})
    stats.untimed = 2
    assert.matches('asamp_untimed_threads_total{target="x"} 2', metrics.text{{name = "x", stats = stats}})
  end)
end)
