-- SPDX-License-Identifier: MIT
-- Small snapshot files that unpack to a huge size must be refused before they fill the memory. No small
-- file may take time that grows with the square of its size.

local fewer = require "spec.support.fewer"
local heap = require "profiler.heap"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local function number(n)
  local bytes = {}
  while n >= 0x80 do
    bytes[#bytes + 1] = string.char(n & 0x7f | 0x80)
    n = n >> 7
  end
  return table.concat(bytes) .. string.char(n)
end

-- Encodes a signed distance between addresses, in units of 8 bytes, as a number of variable length with
-- zigzag encoding.
local function distance(n)
  return number(n >= 0 and 2 * n or -2 * n - 1)
end

local TABLE, STRING, INDEX, ROOT = "\x10", "\x11", "\x42", "\x40"
local MAGIC, FROM0 = "ASAMPHEAP 3\n", "\2\0"
-- a root that refers to the object at address 8
local ROOT1 = FROM0 .. ROOT .. distance(1) .. distance(0)
-- an object of 8 bytes, at the address after the previous object
local OBJECT = TABLE .. distance(1) .. number(8)
local TEXT = number(120) .. ("x"):rep(120)
-- The size of the graphs for which n times n steps take minutes.
local MANY = fewer(100000, 5000)

describe("a snapshot that unpacks to very much", function()
  local folder

  setup(function()
    folder = shell.folder()
  end)

  teardown(function()
    shell.remove(folder)
  end)

  -- Writes a compressed file that unpacks to 'head' and repetitions of 'unit', 272 MiB in sum. Returns its
  -- path.
  local function bomb(head, unit)
    shell.write(folder .. "/head", head)
    shell.write(folder .. "/unit", unit:rep((1 << 20) // #unit))
    shell.output("cd '%s' && gzip -c head >bomb && gzip -9 -c unit >u && cat u u u u >v && " ..
                 "cat v v v v >u && for i in 1 2 3 4; do cat u u u u; done >>bomb && cat u >>bomb", folder)
    return folder .. "/bomb"
  end

  -- Checks that each command that reads snapshots refuses the file, with a message that matches the
  -- pattern.
  local function refused(path, pattern)
    local _, message = heap.open(path)
    assert.truthy(message and message:find(pattern), message)
    assert.truthy(message:find("cannot read the snapshot '" .. path .. "': the file is ", 1, true), message)
  end

  local MEMORY = "its first %d+ bytes list %d+ objects and %d+ references, which need more than 512 MiB " ..
                 "of memory; "

  it("is refused where strings would fill the memory", function()
    refused(bomb(MAGIC .. ROOT1, STRING .. distance(1) .. number(128) .. number(120) .. TEXT ..
                                 INDEX .. distance(1) .. distance(1)), MEMORY)
  end)

  it("is refused where references would", function()
    refused(bomb(MAGIC .. ROOT1 .. OBJECT, FROM0 .. ROOT .. distance(1) .. distance(0)), MEMORY)
  end)

  it("is refused in one line, of parts that are not kept too", function()
    local path = bomb(MAGIC, "\1" .. TEXT .. TEXT)
    local status, out, err = process.run{"heap", path, code = 'os.exit(require "asamp".main(arg), true)'}
    assert.same({1, ""}, {status, out})
    assert.truthy(err:find("is damaged, or was not written by asamp: its first %d+ bytes unpack to " ..
                           "%d+ bytes, more than in any snapshot; take another snapshot\n$"), err)
  end)

  -- The graph is a chain of n tables, starting at the root, and n more tables. The root and the last table
  -- of the chain refer to each of them. So the root is their dominator, n steps up the chain.
  it("has its dominators without n times n steps", function()
    local n, parts = MANY, {MAGIC, ROOT1}
    for i = 1, n do
      parts[#parts + 1] = OBJECT .. (i < n and INDEX .. distance(1) .. distance(1) or "")
    end
    -- writes references from the last table of the chain to n leaves
    for i = 1, n do
      parts[#parts + 1] = INDEX .. distance(i) .. distance(1)
    end
    for _ = 1, n do
      parts[#parts + 1] = OBJECT
    end
    parts[#parts + 1] = FROM0
    for i = 1, n do
      parts[#parts + 1] = ROOT .. distance(n + i) .. distance(1)
    end
    parts[#parts + 1] = "\3" .. number(2 * n) .. number(3 * n) .. number(16 * n)
    shell.write(folder .. "/chain", table.concat(parts))
    local h = assert(heap.open(folder .. "/chain"))
    assert.equal(2 * n, h:info().objects)
    local rows = h:classes()
    for _, row in ipairs(rows) do
      if row.name == "table" then assert.equal(16 * n, row.retained) end
    end
  end)

  it("has the ids of another format without n times n steps", function()
    local n, parts = MANY, {MAGIC, ROOT1}
    -- writes n tables at addresses that differ by 8 GiB
    for i = 1, n do
      parts[#parts + 1] = TABLE .. distance(i == 1 and 1 or 1 << 30) .. number(8) ..
                          (i < n and INDEX .. distance(1 << 30) .. distance(1) or "")
    end
    parts[#parts + 1] = "\3" .. number(n) .. number(n) .. number(8 * n)
    shell.write(folder .. "/far", table.concat(parts))
    assert(assert(heap.open(folder .. "/far")):devtools(folder .. "/far.heapsnapshot"))
    local known, ids = {}, 0
    for id in shell.read(folder .. "/far.heapsnapshot"):gmatch "\n3,%d+,(%d+),8," do
      assert.is_nil(known[id])
      known[id], ids = true, ids + 1
    end
    assert.equal(n, ids)
  end)

  -- This snapshot contains n global functions. Each has its own upvalue with the name "x".
  it("has the effect of removing many variables without n times n steps", function()
    local n, parts = MANY, {MAGIC, ROOT1 .. OBJECT .. INDEX .. distance(1) .. distance(2) .. OBJECT}
    parts[#parts + 1] = "\x45" .. distance(1)
    for i = 1, n do
      parts[#parts + 1] = INDEX .. distance(3 * i - 1) .. distance(1)
    end
    parts[#parts + 1] = STRING .. distance(1) .. number(8) .. number(1) .. number(1) .. "x"
    for i = 1, n do
      parts[#parts + 1] = "\x12" .. distance(1) .. number(8) .. "\0" ..
        "\x47" .. distance(1) .. distance(1) .. number(6 * i - 4) ..
        "\x14" .. distance(1) .. number(8) .. "\x48" .. distance(1) .. OBJECT
    end
    parts[#parts + 1] = "\3" .. number(3 + 3 * n) .. number(3 + 3 * n) .. number(24 * (n + 1))
    shell.write(folder .. "/variables", table.concat(parts))
    local cut = assert(assert(heap.open(folder .. "/variables")):cut{
      steps = {"_G", "[1..n]", 'upvalue "x"…'}, sites = {}})
    assert.same({n, n, 8 * n}, {cut.references, cut.objects, cut.freed})
  end)

  -- Writes a snapshot whose root has n fields. Each value is a table with a class of its own, whose
  -- name is 'name' and a number. Returns the heap.
  local function fields(n, name)
    local parts = {MAGIC, ROOT1 .. OBJECT}
    local function field(to, key) return "\x43" .. distance(to) .. distance(key) end
    local function text(s) return STRING .. distance(1) .. number(8) .. number(#s) .. number(#s) .. s end
    -- table i, its metatable and the name of its class are three adjacent objects
    for i = 1, n do
      parts[#parts + 1] = field(3 * i - 2, 3 * i)
    end
    parts[#parts + 1] = "\x45" .. distance(3 * n + 1)
    for i = 1, n do
      parts[#parts + 1] = OBJECT .. "\x41" .. distance(1) ..
        OBJECT .. field(1, 3 * n + 2 - 3 * i) .. text(name .. i)
    end
    parts[#parts + 1] = text "__name" .. "\3" .. number(3 * n + 2) .. number(3 * n + 2) .. number(24 * n + 16)
    shell.write(folder .. "/fields", table.concat(parts))
    return assert(heap.open(folder .. "/fields"))
  end

  it("has the rows of many fields and classes without n times n steps", function()
    local n = MANY // 2
    local rows = fields(n, "c"):tree{least = 0, most = 10}
    assert.same({10, 24 * n + 16}, {#rows, rows[1].value})
  end)

  -- A former bug: each class of the old snapshot was compared with all classes of the new one, which took n
  -- times n steps.
  it("has the differences of many classes without n times n steps", function()
    local n = MANY // 2
    local new, old, started = fields(n, "c"), fields(n, "d"), os.clock()
    assert.equal(2 * n, #new:compare(old))
    assert.is_true(os.clock() - started < 5, ("%.1f seconds"):format(os.clock() - started))
  end)

  -- A former bug: the reader crashed if a damaged file had a reference through an upvalue from a string. It
  -- took the string's number for the number of a function's prototype.
  it("may have a variable whose holder is a string", function()
    local n, long = MANY // 2, STRING .. distance(1) .. number(8) .. number(120) .. TEXT
    local parts = {MAGIC, ROOT1, OBJECT, INDEX, distance(1), distance(2), INDEX, distance(2), distance(-1),
                   OBJECT}
    for i = 1, n + 1 do
      parts[#parts + 1] = INDEX .. distance(i + 1) .. distance(1)
    end
    parts[#parts + 1] = INDEX .. distance(n + 3) .. distance(1) ..
      "\x16" .. distance(1) .. number(8) .. "\1\x4a" .. distance(n + 4) .. distance(1) .. number(1) ..
      STRING .. distance(1) .. number(8) .. number(1) .. number(1) .. "x" .. long:rep(n + 1) ..
      "\x47" .. distance(1) .. distance(1) .. number(2 * (n + 1)) ..
      "\x14" .. distance(1) .. number(8) .. "\x48" .. distance(1) .. OBJECT ..
      "\3" .. number(n + 7) .. number(n + 8) .. number(8 * (n + 7))
    shell.write(folder .. "/holder", table.concat(parts))
    assert.equal(1, assert(assert(heap.open(folder .. "/holder")):cut{
      steps = {"_G", "…", 'upvalue "x"…'}, sites = {}}).references)
  end)
end)
