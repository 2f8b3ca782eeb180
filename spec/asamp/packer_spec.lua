-- SPDX-License-Identifier: MIT
-- The compression of profiles: what was flushed can be unpacked, whatever follows.

local packer = require "packer"

local SEED = 11

-- n bytes: noise, one byte, or records that repeat the one before but for a few bytes.
local function data(n, sort, before)
  local out = {}
  for i = 1, n do
    local known = sort == "records" and math.random(50) > 1 and (out[i - 345] or before:byte(-345))
    out[i] = sort == "same" and 7 or known or math.random(0, 255)
  end
  for i = 1, n, 4096 do
    out[i] = string.char(table.unpack(out, i, math.min(n, i + 4095)))
    for k = i + 1, math.min(n, i + 4095) do out[k] = "" end
  end
  return table.concat(out)
end

-- What gzip makes of the bytes, and whether it found their end.
local function unpacked(bytes)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
  local pipe = io.popen("gzip -dc <" .. path .. " 2>&1 >" .. path .. ".out", "r")
  local complaint = pipe:read "a"
  pipe:close()
  file = assert(io.open(path .. ".out", "rb"))
  local text = file:read "a"
  file:close()
  os.remove(path)
  os.remove(path .. ".out")
  return text, complaint
end

describe("what is packed", function()
  for _, how in ipairs{"fast", "small"} do
    it(("%s can be read up to every flush, and to the end (seed %d)"):format(how, SEED), function()
      math.randomseed(SEED)
      for _, sort in ipairs{"noise", "same", "records"} do
        for _ = 1, 3 do
          local p, put, out = packer.open(how), {}, {}
          local rounds = math.random(2, 8)
          for round = 1, rounds do
            local last = round == rounds
            local piece = data(math.random(0, 1 << math.random(17)), sort, table.concat(put))
            local step = last and "end" or math.random(2) == 1 and "flush" or "more"
            put[#put + 1], out[#out + 1] = piece, p:put(piece, step)
            if step ~= "more" then
              local text, complaint = unpacked(table.concat(out))
              assert(text == table.concat(put), ("%s, round %d of %d"):format(sort, round, rounds))
              assert.equal(last, complaint == "", complaint)
            end
          end
        end
      end
    end)
  end

  it("fast is smaller than half where stacks repeat", function()
    math.randomseed(SEED)
    local stacks = data(100000, "records", "")
    local p = packer.open "fast"
    assert(#p:put(stacks, "end") < #stacks / 2)
  end)
end)
