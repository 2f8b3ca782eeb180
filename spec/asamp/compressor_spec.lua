-- SPDX-License-Identifier: MIT
-- The compression of profiles: all bytes up to a flush can be unpacked, whatever is written after the
-- flush.

local compressor = require "compressor"
local shell = require "spec.support.shell"

local SEED = 11

-- Returns n bytes of a sort: random bytes, one repeated byte ("same"), or records that differ from the
-- previous record in a few bytes ("records").
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

-- Returns the bytes that gzip can unpack, and its error message, which is "" if it reached the end.
local function unpacked(bytes)
  local path = os.tmpname()
  shell.write(path, bytes)
  local complaint = shell.output("gzip -dc <" .. path .. " 2>&1 >" .. path .. ".out || true")
  local text = shell.read(path .. ".out")
  os.remove(path)
  os.remove(path .. ".out")
  return text, complaint
end

describe("compressed data", function()
  for _, how in ipairs{"fast", "small"} do
    it(("%s can be read up to every flush, and to the end (seed %d)"):format(how, SEED), function()
      math.randomseed(SEED)
      for _, sort in ipairs{"noise", "same", "records"} do
        for _ = 1, 3 do
          local p, put, out = compressor.open(how), {}, {}
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

  it(("is one member that can be cut anywhere after a flush (seed %d)"):format(SEED), function()
    math.randomseed(SEED)
    local stacks = data(100000, "records", ""):rep(4)
    for _ = 1, 6 do
      local p, whole, out, flushes = compressor.open "fast", {}, {}, {}
      local bytes, length = 0, 0
      for round = 1, math.random(2, 6) do
        local n = math.random(0, 1 << math.random(17))
        local at = math.random(#stacks - n)
        whole[round] = stacks:sub(at, at + n - 1)
        out[round] = p:put(whole[round], "flush")
        bytes, length = bytes + #out[round], length + n
        flushes[round] = {bytes, length}
      end
      out[#out + 1] = p:put("", "end")
      local file, text = table.concat(out), table.concat(whole)
      assert.same({text, 1, 1}, {compressor.unpack(file)})
      for i, flush in ipairs(flushes) do
        local cut = math.random(flush[1], i < #flushes and flushes[i + 1][1] or #file)
        local got = compressor.unpack(file:sub(1, cut))
        assert(#got >= flush[2] and got == text:sub(1, #got), "cut at " .. cut)
      end
    end
  end)

  it("flushes nothing if nothing came since the last flush", function()
    for _, how in ipairs{"fast", "small"} do
      local p = compressor.open(how)
      assert(#p:put("records", "flush") > 0)
      assert.equal("", p:put("", "flush"), how)
      assert.equal("", p:put("", "flush"), how)
    end
  end)

  it("can end a member directly after a flush, and start another", function()
    local p = compressor.open "fast"
    local first = p:put("first ", "flush") .. p:ending()
    p:put(data(1000, "noise"), "more")
    p:restart()
    local second = p:put("second", "end")
    assert.same({"first second", 2, 1}, {compressor.unpack(first .. second)})
  end)

  it("fast is smaller than half where stacks repeat", function()
    math.randomseed(SEED)
    local stacks = data(100000, "records", "")
    local p = compressor.open "fast"
    assert(#p:put(stacks, "end") < #stacks / 2)
  end)
end)
