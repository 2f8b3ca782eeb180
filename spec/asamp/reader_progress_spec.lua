-- SPDX-License-Identifier: MIT
-- The reader of large files: its callback 'progress', the memory that it uses, and a file that grows while
-- it is read.

local gen = require "profilegen"
local process = require "spec.support.process"
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

  it("keeps within its memory on a bomb", function()
    -- the compressed file has some hundred KB and unpacks to 200 MB of equal stacks and names
    local piece = vmprof.stack(1, 1, {100, 200, 300}, {0}):rep(1000) ..
                  vmprof.name(100, "py:f:1:x") .. vmprof.meta("k", ("v"):rep(1000))
    local f = assert(io.popen("gzip -1 >> '" .. path .. ".gz'", "w"))
    f:write(vmprof.head(), vmprof.header(6, 0))
    for _ = 1, 4000 do
      f:write(piece)
    end
    f:close()
    local status, out, err = process.code([[
      local profile = assert(require "profiler.reader".read(arg[1]))
      assert(profile.timesamples == 4000000 and #profile.nodes.fn == 3)
      io.write(io.open("/proc/self/status"):read "a":match "VmHWM:%s*(%d+) kB")
    ]], path .. ".gz")
    os.remove(path .. ".gz")
    assert.equal(0, status, err)
    assert.is_true(tonumber(out) < 300000, out .. " kB")
  end)
end)
