-- SPDX-License-Identifier: MIT
-- Names of native code: never an address of one run, so that two runs of a program have the same names.

local names = require "names"
local shell = require "spec.support.shell"

local FOLDER = "build/spec/debug"

-- A library whose function 'inner' no symbol names, and which 'where' returns. 'hidden'
-- has no symbol either and is after it.
local SOURCE = [[
__attribute__((noinline)) static int inner (int n) { return n + 1; }
__attribute__((noinline)) static int hidden (int n) { return n + 2; }
int (*inners[])(int) = {inner, hidden};
]]

-- Writes, compiles and strips it. Returns its path and the addresses of the functions in it.
local function library(name)
  shell.output("mkdir -p " .. FOLDER)
  local path = ("%s/%s.so"):format(FOLDER, name)
  shell.write(path .. ".c", SOURCE)
  shell.output("cc -O1 -g -shared -fPIC -Wl,--build-id=sha1 -o %s.full %s.c", path, path)
  shell.output("strip -o %s %s.full", path, path)
  local places = {}
  for _, line in ipairs(shell.lines(shell.output("nm " .. path .. ".full"))) do
    local at, symbol = line:match "^(%x+) t (%a+)$"
    if at then places[symbol] = tonumber(at, 16) end
  end
  return path, places
end

-- Installs the library's debug file in the place where it is searched.
local function install(path)
  local id = shell.output("readelf -n " .. path):match "Build ID: (%x+)"
  local folder = ("%s/.build-id/%s"):format(FOLDER, id:sub(1, 2))
  shell.output("mkdir -p " .. folder)
  shell.output("objcopy --only-keep-debug %s.full %s/%s.debug", path, folder, id:sub(3))
end

-- Returns the address of the i-th function.
local function address(path, i)
  local inners = names.open("./" .. path, "inners")
  return names.word(inners + 8 * (i - 1))
end

describe("native code", function()
  setup(function() shell.output("rm -rf " .. FOLDER) end)
  after_each(names.close)
  teardown(function() shell.output("rm -rf " .. FOLDER) end)

  it("of an indirect function of libc has its public name", function()
    for _, name in ipairs{"memcpy", "strlen", "memset", "strchr", "memcmp"} do
      local at = names.libc(name)
      for _, offset in ipairs{0, 4, 16} do
        local symbol, file = names.name(at + offset)
        assert.equal(name, symbol)
        assert.truthy(file:find "libc%.so%.6$", file)
      end
    end
  end)

  -- A former bug: on arm64, main's caller and functions without a symbol were named "$x".
  it("is not named by a mapping symbol of arm", function()
    shell.output("mkdir -p " .. FOLDER)
    local path = FOLDER .. "/mapping.so"
    shell.write(path .. ".s", [[
      .text
      .globl first; .type first, @function
      first: "$x.1": .skip 16                        # a function without a size
      .globl sized; .type sized, @function
      sized: "$x.2": .skip 16; .size sized, 16
      "$x.3": .skip 16                               # a function that was stripped
      .section .note.GNU-stack
    ]])
    shell.output("gcc -shared -o %s %s.s", path, path)
    local start = names.open("./" .. path, "first")
    for _ = 1, 20 do  -- more names than are found by search
      assert.equal("first", (names.name(start)))
      assert.equal("first", (names.name(start + 15)))
      assert.equal("sized", (names.name(start + 16)))
      assert.matches("^mapping%.so%+0x%x+$", (names.name(start + 32)))
    end
  end)

  it("that no symbol names is named by its file and its offset in it", function()
    local path, places = library "stripped"
    for i, name in ipairs{"inner", "hidden"} do
      for offset = 0, 2 do
        assert.equal(("stripped.so+0x%x"):format(places[name]), (names.name(address(path, i) + offset)))
      end
    end
  end)

  it("has the name in its debug file, found by the build id", function()
    local path = library "debugged"
    install(path)
    assert.equal("inner", (names.name(address(path, 1))))
    assert.equal("hidden", (names.name(address(path, 2) + 1)))
  end)

  it("has none in a debug file that is damaged, and that is all", function()
    local path, places = library "damaged"
    install(path)
    local debug = shell.lines(shell.output("find " .. FOLDER .. "/.build-id -newer " .. path .. ".full"))
    local file = debug[#debug]
    local whole = assert(shell.read(file))
    for _, n in ipairs{1, 63, 64, 200, #whole // 2, #whole - 100} do
      local out = assert(io.open(file, "w"))
      out:write(whole:sub(1, n))
      out:close()
      names.close()
      local at = address(path, 1)  -- the loaded files have changed: they are read again
      local name = names.name(at)
      assert.is_true(name == "inner" or name == ("damaged.so+0x%x"):format(places.inner), name)
    end
  end)

  it("that calls main has a name which is the same in every run", function()
    local script = [[package.cpath = "build/spec/?.so;" .. package.cpath
      local names = require "names" print((names.name(names.caller())))]]
    local first = shell.output("build/bin/lua -e '" .. script .. "'")
    assert.truthy(first:find "^libc%.so%.6%+0x%x+\n$" or first:find "^__libc_start", first)
    assert.equal(first, shell.output("build/bin/lua -e '" .. script .. "'"))
  end)

  -- Names were searched among all symbols, one by one: 45 million instructions in a session of one
  -- second. They are found by binary search now, with the same result.
  it("has the name that libdwfl finds among all symbols", function()
    local path = FOLDER .. "/many.so"
    shell.write(path .. ".c", [[
      #define ONE(n) int global##n (int i) { return i * n; } \
        __attribute__((noinline)) static int local##n (int i) { return i + n; } \
        int (*locals##n)(int) = local##n;
      #define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
      TEN(1) TEN(2) TEN(3) TEN(4)
      int alias (int i) __attribute__((alias("global20")));
      int feeble (int i) __attribute__((weak, alias("global21")));
      asm(".text\n.globl outside\n.type outside,@function\noutside: nop\nnop\n"
          ".type within,@function\nwithin: nop\n.size within,.-within\n"
          ".globl inner\n.type inner,@function\ninner: nop\n.size inner,.-inner\nnop\n"
          ".size outside,.-outside\n"
          "nop\nbare: nop\nnop\n.globl bareglobal\nbareglobal: nop\nnop\nnop\n");
    ]])
    shell.output("cc -O1 -shared -fPIC -o %s %s.c", path, path)
    local base, first, last
    local at = names.open("./" .. path, "global10")
    for _, line in ipairs(shell.lines(shell.output("nm -n " .. path))) do
      local hex, kind, symbol = line:match "^(%x+) (%a) (%S+)$"
      local place = tonumber(hex or "", 16)
      if symbol == "global10" then base = at - place end
      if kind and kind:lower() == "t" then first, last = first or place, place end
    end
    local slowly = shell.lines(shell.output([[build/bin/lua -e '
      package.cpath = "build/spec/?.so;" .. package.cpath
      local names = require "names"
      local at = names.open("./%s", "global10")
      for i = %d, %d do print(names.slowly(at + i)) end']], path, base + first - at,
                                                                 base + last + 8 - at))
    local place, seen, different = at - base, {}, {}
    -- The first names of a newly loaded library are not found by binary search.
    for _, anew in ipairs{false, true} do
      for i, name in ipairs(slowly) do
        seen[name] = true
        if anew and i % 15 == 1 then
          names.close()
          base = names.open("./" .. path, "global10") - place
        end
        local quickly = names.name(base + first + i - 1)
        if name ~= "nil" and quickly ~= name then
          different[#different + 1] = ("%x: %s, not %s"):format(first + i - 1, quickly, name)
        end
      end
    end
    assert.equal("", table.concat(different, "\n"))
    for _, name in ipairs{"global47", "local47", "outside", "inner", "bare", "bareglobal"} do
      assert.is_true(seen[name] or false, name)
    end
  end)

  it("of no file has no name, and no address for one", function()
    assert.equal("", (names.name(names.page())))
    assert.equal("", (names.name(16)))
  end)
end)
