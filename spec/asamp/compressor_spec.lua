-- SPDX-License-Identifier: MIT
-- The compression of profiles: flushed bytes can be unpacked, whatever follows.

local compressor = require "compressor"
local shell = require "spec.support.shell"

local SEED = 11

-- n bytes: noise, one byte, or records that repeat the one before except for a few bytes.
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

-- Returns the bytes that gzip unpacks, and its complaint ("": it reached the end).
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
  for _, how in ipairs{"fast", "small", "live"} do
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

  describe("live", function()
    local LIGHT = compressor.light

    -- Puts bytes in random pieces, alternating between text and stacks; returns the output.
    local function put(p, bytes, last)
      local out, at = {}, 1
      while at <= #bytes do
        local n = math.random(3) == 1 and math.random(1 << 17) or math.random(1 << 12)
        out[#out + 1] = p:text(math.random(2) == 1)
        out[#out + 1] = p:put(bytes:sub(at, at + n - 1), "more")
        at = at + n
      end
      out[#out + 1] = p:put("", last)
      return table.concat(out)
    end

    it(("can be read up to every flush, and cut anywhere after one (seed %d)"):format(SEED), function()
      math.randomseed(SEED)
      local stacks = data(100000, "records", ""):rep(3 * LIGHT // 100000 + 1)
      local loads = {0, 1, 1000, LIGHT // 2 - 1, LIGHT // 2, LIGHT - 1, LIGHT, LIGHT + 1, 2 * LIGHT}
      for _ = 1, 6 do
        local p, whole, out, flushes, counts = compressor.open "live", {}, {}, {}, {}
        local bytes, length = 0, 0
        for round = 1, math.random(2, 6) do
          local n = loads[math.random(#loads)]
          local at = math.random(#stacks - n)
          counts[round] = n
          whole[round], out[round] = stacks:sub(at, at + n - 1), put(p, stacks:sub(at, at + n - 1), "flush")
          bytes, length = bytes + #out[round], length + n
          flushes[round] = {bytes, length}
        end
        out[#out + 1] = p:put("", "end")
        local file, text = table.concat(out), table.concat(whole)
        local note = table.concat(counts, " ")
        assert(unpacked(file) == text, note)
        assert(compressor.unpack(file) == text, note)
        for i, flush in ipairs(flushes) do
          local cut = math.random(flush[1], i < #flushes and flushes[i + 1][1] or #file)
          local got = compressor.unpack(file:sub(1, cut))
          assert(#got >= flush[2] and got == text:sub(1, #got), note .. ", cut at " .. cut)
        end
      end
    end)

    -- Returns the members of loads, each flushed.
    local function membersof(...)
      local p, out = compressor.open "live", {}
      for i, n in ipairs{...} do
        out[i] = put(p, data(n, "same"), "flush")
      end
      out[#out + 1] = p:put("", "end")
      local _, members, all = compressor.unpack(table.concat(out))
      assert.equal(1, all)
      return members
    end

    it("is one member as long as the load is light", function()
      assert.equal(1, membersof(1000, LIGHT, 0, LIGHT, 5))
    end)

    it("is one member where the load is heavy from the start, so that zlib sees none of it", function()
      assert.equal(1, membersof(LIGHT + 1, LIGHT // 2, 3 * LIGHT))
    end)

    it("is another one when the load becomes heavy, and when it is half as much again", function()
      assert.equal(2, membersof(1000, LIGHT + 1))
      assert.equal(2, membersof(1000, LIGHT + 1, LIGHT // 2, LIGHT, LIGHT + 1))
      assert.equal(3, membersof(1000, LIGHT + 1, LIGHT // 2 - 1, LIGHT))
      assert.equal(4, membersof(1000, LIGHT + 1, LIGHT // 2 - 1, LIGHT, LIGHT + 1))
    end)

    it("may change between text and stacks more often than it notes", function()
      local p, out, whole = compressor.open "live", {}, {}
      for i = 1, 5 * compressor.turns do
        out[#out + 1] = p:text(i % 2 == 1)
        whole[i] = tostring(i):rep(100)
        out[#out + 1] = p:put(whole[i], "more")
      end
      out[#out + 1] = p:put("", "end")
      assert.same({table.concat(whole), ""}, {unpacked(table.concat(out))})
    end)

    -- Stacks, each followed by a line of digits, as a profile has them.
    local function size(how, load, flushed)
      math.randomseed(SEED)
      local p, n = compressor.open(how), 0
      local stacks = data(load, "records", "")
      local digits = {}
      for i = 1, load // 40 do digits[i] = math.random(9999) end
      digits = table.concat(digits, " ")
      for part = 0, 3 do
        if flushed then n = n + #p:text(false) end
        n = n + #p:put(stacks:sub(part * load // 4 + 1, (part + 1) * load // 4), "more")
        if flushed then n = n + #p:text(true) end
        n = n + #p:put(digits, "more")
      end
      return n + #p:put("", "end")
    end

    it("is smaller than fast and small where the load is light, and as fast where it is heavy", function()
      local light = LIGHT // 8
      assert(size("live", light, true) < 0.91 * size("live", light, false), "text apart, and filtered")
      assert(size("live", light, true) < size("small", light, false))
      assert(size("live", light, true) < 0.9 * size("fast", light, false))
      assert.near(1, size("live", LIGHT, false) / size("fast", LIGHT, false), 0.01)
    end)
  end)

  it("fast is smaller than half where stacks repeat", function()
    math.randomseed(SEED)
    local stacks = data(100000, "records", "")
    local p = compressor.open "fast"
    assert(#p:put(stacks, "end") < #stacks / 2)
  end)
end)
