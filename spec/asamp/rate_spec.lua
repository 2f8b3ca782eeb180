-- SPDX-License-Identifier: MIT
-- The option rate= limits the number of allocation samples per second, however much a process allocates. It
-- does so by changing the period, which is recorded with the samples, so that sums stay right.

local measures = require "asamp.sums.measures"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"

-- In this program, 'large' allocates more than twice as many bytes as 'small'.
local SCRIPT = [[
  local keep = {}
  local function small(n) for i = 1, n do keep[i % 64] = {i} end end
  local function large(n) for i = 1, n do keep[i % 64] = {i, i, i, i, i, i, i, i, i, i, i, i} end end
  for _ = 1, 60 do small(10000) large(10000) end
]]

local function profile(wish)
  local path = os.tmpname()
  os.remove(path)
  local code, _, err = process.run{code = SCRIPT, env = {ASAMP = wish .. ",seed=5,quiet,out=" .. path,
                                                  LUA_PATH = "", LUA_CPATH = ""}}
  assert.same({0, ""}, {code, err})
  local r = assert(reader.read(path))
  assert.is_true(r.complete)
  return r
end

describe("a session with a rate", function()
  it("takes far fewer samples than its period is for, and its sums are right", function()
    local r = profile "alloc=64,rate=5000"
    local whole = totals.of(r).whole
    assert.is_true(r.allocated > 60e6, r.allocated)
    -- at most a quarter of the number of samples without rate=
    assert.is_true(r.samples < r.allocated / 64 / 4, r.samples)
    assert.is_true(r.samples > 100, r.samples)
    -- the profile has at least one change of the period
    assert.is_true(r.periods >= 1, r.periods)
    local error = math.sqrt(measures.variance(r, whole, "bytes"))
    assert.is_true(math.abs(r.bytes - r.allocated) < 6 * error,
                   ("%d %d %g"):format(r.bytes, r.allocated, error))
    local lines = {}
    for _, row in ipairs(totals.of(r).functions) do lines[row.name] = row.self end
    local a, b = lines.small, lines.large
    local most = 6 * math.sqrt(measures.variance(r, b, "bytes") + 9 * measures.variance(r, a, "bytes"))
    assert.is_true(b.bytes > 2 * a.bytes - most, ("%d %d %g"):format(a.bytes, b.bytes, most))
  end)
end)
