-- SPDX-License-Identifier: MIT
--
-- Large heaps are mapped in huge pages (lua/gc/memory/chunks.c). So fork takes only milliseconds for a
-- process with 1 GiB of objects. Before the collector returns memory inside a huge page to the system, it
-- splits the huge page into small pages. Otherwise the system would fill the gaps again.

local process = require "spec.support.process"

-- A program that builds a heap of arrays of 8 KB, and then frees most of it. Before and after that, it
-- prints four numbers of the heap's mappings: KiB that may be huge pages, KiB that may not, the number of
-- mappings that may be huge pages, and KiB that are huge pages.
local PROGRAM = [[
  local function look()
    local huge, small, n, size, joined, all = 0, 0, 0, 0, 0, 0
    for line in io.lines "/proc/self/smaps" do
      size = tonumber(line:match "^Size:%%s+(%%d+)") or size
      joined = tonumber(line:match "^AnonHugePages:%%s+(%%d+)") or joined
      local flags = line:match "^VmFlags:(.*)"
      if flags and flags:find " hg" then huge, n, all = huge + size, n + 1, all + joined end
      if flags and flags:find " nh" then small = small + size end
    end
    print(huge, small, n, all)
  end
  local kept, pad = {}, {}
  for i = 1, 500 do pad[i] = i end
  for i = 1, %d do kept[i] = {table.unpack(pad)} end
  look()
  for i = 1, #kept do if i %% 4 > 0 then kept[i] = nil end end
  for _ = 1, 3 do collectgarbage() end
  look()
]]

local function run(arrays, tuning)
  local status, out, err = process.run{code = PROGRAM:format(arrays), env = {LUA_GC = tuning}}
  assert.same({0, ""}, {status, err})
  local numbers = {}
  for n in out:gmatch "%d+" do numbers[#numbers + 1] = tonumber(n) end
  return numbers
end

local file = io.open "/sys/kernel/mm/transparent_hugepage/enabled"
local known = file and not file:read "a":find("[never]", 1, true)
if file then file:close() end

-- The spec is left out with ASan, where the heap is not mapped but comes from malloc, so that leaks can be
-- found.
if known and os.getenv "ASAMP_VARIANT" ~= "asan" then
  describe("huge pages", function()
    it("are allowed by large heaps, in few mappings, and no more where pages went back",
      function()
        local huge, small, mappings, _, later, given = table.unpack(run(16000))
        assert.is_true(huge > 50000, huge)
        -- the first 64 MiB have small pages, because the heap is not large yet
        assert.is_true(small < 80000 and mappings < huge / 2048 / 3, small .. " " .. mappings)
        assert.is_true(later < huge / 4 and given > small + huge / 2, later .. " " .. given)
      end)

    it("are not allowed by others", function()
      assert.equal(0, run(6000)[1])
    end)

    -- A former bug: pages were huge from the first touch. On a virtual machine whose host reclaims free
    -- memory, each first touch was a pause of 9 ms, which took half of the time of a growing program.
    it("come later, unless the operator wants them at once", function()
      local may, _, _, are = table.unpack(run(16000))
      assert.is_true(are < may / 4, are .. " of " .. may)
      local _, _, _, at_once = table.unpack(run(16000, "nursery=1M,huge-pages"))
      assert.is_true(at_once > are, at_once .. " " .. are)
    end)
  end)
end
