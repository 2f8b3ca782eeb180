-- SPDX-License-Identifier: MIT
-- Names of native code. A name never contains an absolute address, which differs from run to run, so that
-- two runs of a program have the same names.

local names = require "names"
local shell = require "spec.support.shell"

local FOLDER = "build/spec/debug"

-- The source of a library. Its functions 'inner' and 'hidden' have no symbols once it is stripped; their
-- addresses are in the list 'inners'.
local SOURCE = [[
__attribute__((noinline)) static int inner (int n) { return n + 1; }
__attribute__((noinline)) static int hidden (int n) { return n + 2; }
int (*inners[])(int) = {inner, hidden};
]]

-- Writes, compiles and strips the library. Returns its path, and the addresses of its functions within the
-- file, by name.
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

-- Installs the library's file of debugging information where the profiler searches it: at a path that
-- contains the library's build id.
local function install(path)
  local id = shell.output("readelf -n " .. path):match "Build ID: (%x+)"
  local folder = ("%s/.build-id/%s"):format(FOLDER, id:sub(1, 2))
  shell.output("mkdir -p " .. folder)
  shell.output("objcopy --only-keep-debug %s.full %s/%s.debug", path, folder, id:sub(3))
end

-- Returns the address of the i-th function in the library's list 'inners'.
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

  -- A former bug: on arm64, main's caller and functions without a symbol had the name "$x". This is a
  -- mapping symbol, which marks code and names no function.
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
    assert.equal("sized", (names.name(start + 16)))
    for _, offset in ipairs{15, 32} do
      assert.matches("^mapping%.so%+0x%x+$", (names.name(start + offset)))
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
      -- the library is opened again, which changes the list of loaded files, so that its names are read
      -- again
      local at = address(path, 1)
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

  it("of no file has no name, and no address for one", function()
    assert.equal("", (names.name(names.page())))
    assert.equal("", (names.name(16)))
  end)
end)
