-- SPDX-License-Identifier: MIT
-- Memory requests of libdw and libelf, the libraries that find names of C functions, fail. Names may be
-- missing, but the program must complete, and the profile must have all samples. A former bug: a lookup
-- crashed the program, because libdwfl used a block that it had freed.

local process = require "spec.support.process"
local reader = require "profiler.reader"

local PROGRAM = [[
  local t = {}
  for i = 1, 500 do t[i % 100] = string.rep("x", i % 1000) .. i; table.concat{i, "a"} end
  string.gsub("abc", "%w", function(c) t[c] = {c} return c end)
  print(#t)]]

-- not with ASan, which replaces malloc
if os.getenv "ASAMP_VARIANT" ~= "asan" then
  describe("libdw and libelf without memory", function()
    local script, path = process.file(PROGRAM), os.tmpname()

    -- Runs the program. The memory requests with numbers 'first' to 'last' of the two libraries fail.
    -- Returns the profile and the text of stderr.
    local function run(first, last)
      local status, out, err = process.run{"-lprofiler", script, env = {
        LD_PRELOAD = package.searchpath("famine", package.cpath), FAMINE = first .. "-" .. last,
        MALLOC_PERTURB_ = "165", LUA_PROFILER = "overwrite,alloc=1K,out=" .. path}}
      local note = ("requests %d to %d: %d, %s"):format(first, last, status, err)
      assert.equal(0, status, note)
      assert.equal("99\n", out, note)
      local p = reader.read(path)
      assert.is_true(p.complete, note)
      assert.equal(0, p.lost or 0, note)
      return p, err
    end

    it("do not end the program", function()
      local _, err = run(0, 0)
      local n = tonumber(err:match "famine: (%d+) requests")
      assert.is_true(n > 100, n)
      for _, length in ipairs{1, 3} do
        for first = 1, n do run(first, first + length - 1) end
      end
      run(1, 1000000)
    end)
  end)
end
