-- SPDX-License-Identifier: MIT
--
-- Large heaps are mapped in huge pages (lua/gc/chunks.c), so that a fork beside 1 GiB of
-- objects takes milliseconds; what goes back to the system from within one makes its
-- pages small, or the system would fill the gaps again.

local process = require "spec.support.process"

-- Of the mappings that hold a heap of 8 KiB strings: KiB that asked for huge pages, KiB that
-- want none, how many mappings asked; once it is built, and once most of it is gone.
local PROGRAM = [[
  local function look()
    local huge, small, n, size = 0, 0, 0, 0
    for line in io.lines "/proc/self/smaps" do
      size = tonumber(line:match "^Size:%%s+(%%d+)") or size
      local flags = line:match "^VmFlags:(.*)"
      if flags and flags:find " hg" then huge, n = huge + size, n + 1 end
      if flags and flags:find " nh" then small = small + size end
    end
    print(huge, small, n)
  end
  local kept, pad = {}, ("x"):rep(8000)
  for i = 1, %d do kept[i] = pad .. i end
  look()
  for i = 1, #kept do if i %% 4 > 0 then kept[i] = nil end end
  for _ = 1, 3 do collectgarbage() end
  look()
]]

local function run(strings)
  local script = process.file(PROGRAM:format(strings))
  local status, out, err = process.run{script}
  os.remove(script)
  assert.same({0, ""}, {status, err})
  local numbers = {}
  for n in out:gmatch "%d+" do numbers[#numbers + 1] = tonumber(n) end
  return numbers
end

local file = io.open "/sys/kernel/mm/transparent_hugepage/enabled"
local known = file and file:close()

-- Leaks are looked for in what malloc gave: nothing is mapped there.
if known and os.getenv "ASAMP_VARIANT" ~= "asan" then
  describe("huge pages", function()
    it("are asked for by large heaps, in few mappings, and no more where pages went back",
      function()
        local huge, small, mappings, later, given = table.unpack(run(16000))
        assert.is_true(huge > 50000, huge)
        assert.is_true(small < huge / 4 and mappings < huge / 2048 / 3, small .. " " .. mappings)
        assert.is_true(later < huge / 4 and given > huge / 2, later .. " " .. given)
      end)

    it("are not asked for by others", function()
      assert.equal(0, run(6000)[1])
    end)
  end)
end
