-- SPDX-License-Identifier: MIT
-- The reader of logs compressed by gzip: with several gzip members, and with other data after the last
-- member, which Asamp never writes.

local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

describe("the reader of a packed file", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  local function read(bytes)
    shell.write(path, bytes)
    return reader.read(path)
  end

  --- Returns a small log compressed by gzip.
  local function packed(log)
    shell.write(path, log)
    assert(os.execute("gzip -n -c '" .. path .. "' > '" .. path .. ".gz'"))
    local bytes = shell.read(path .. ".gz")
    os.remove(path .. ".gz")
    return bytes
  end
  local log = vmprof.head() .. vmprof.header(6, 0) ..
              vmprof.stack(1, 1, {100}, {0}) .. vmprof.trailer(1)

  it("skips data after it", function()
    for _, trailing in ipairs{"", "garbage", ("\0"):rep(1000), "\31x"} do
      local profile = assert(read(packed(log) .. trailing))
      assert.is_true(profile.complete)
      assert.equal(1, profile.timesamples)
    end
  end)

  it("reads several members as one log", function()
    local empty = packed ""
    for cut = 1, #log, 7 do
      local bytes = packed(log:sub(1, cut)) .. empty:rep(cut % 3) ..
                    packed(log:sub(cut + 1)) .. empty:rep(cut % 2)
      local profile = assert(read(bytes))
      assert.is_true(profile.complete)
      assert.equal(1, profile.timesamples)
    end
  end)

  it("reports a wrong checksum", function()
    local bytes = packed(log)
    bytes = bytes:sub(1, -6) .. string.char(bytes:byte(-5) ~ 1) ..
            bytes:sub(-4)
    local profile = assert(read(bytes))
    assert.is_false(profile.complete)
    assert.equal(1, profile.timesamples)
    assert.truthy(profile.message:find ": the compressed data of the file are corrupt$")
  end)
end)
