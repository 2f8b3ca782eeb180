-- SPDX-License-Identifier: MIT
-- The reader and large files: the function 'progress', and a file that grows meanwhile.

local gen = require "profilegen"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

describe("the reader", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  it("reports its progress", function()
    local p = assert(gen.open{path = path, plain = true})
    p:flood(300000, {8, 1})
    assert(p:close())
    local seen = {}
    assert(reader.read(path, {progress = function(f)
      assert(f >= (seen[#seen] or 0) and f <= 1)
      seen[#seen + 1] = f
    end}))
    assert.is_true(#seen > 2)
    local profile, message = reader.read(path, {progress = function()
      error("no more", 0)
    end})
    assert.is_nil(profile)
    assert.equal("cannot read profile '" .. path .. "': no more", message)
  end)

  it("reads a file that grows faster than it is read, up to the size it had", function()
    local n = 200000
    local part = vmprof.stack(1, 1, {100}, {77}):rep(n)
    shell.write(path, vmprof.head() .. vmprof.header(5, 0) .. vmprof.time(1000) ..
                      vmprof.name(100, "py:main:1:a.py") .. part)
    local calls = 0
    local profile = assert(reader.read(path, {progress = function()
      calls = calls + 1
      assert(calls < 10, "the reader follows the writer")
      local f <close> = assert(io.open(path, "a"))
      f:write(part)
    end}))
    assert.is_true(calls > 0)
    assert.same({n, true, false}, {profile.timesamples, profile.live, profile.complete})
  end)
end)
