-- SPDX-License-Identifier: MIT
-- The search for the same functions and lines in two profiles of a program that was moved or edited between
-- them (asamp.sums.samecode).

local samecode = require "asamp.sums.samecode"

-- Returns the rows of the functions of a file. 'text' lists them as "name:line name:line ..."; a "_" in it
-- is a space.
local function functions(file, text)
  local rows = {}
  for name, line in text:gmatch "(%S+):(%d+)" do
    rows[#rows + 1] = {name = (name:gsub("_", " ")), line = tonumber(line), file = file,
                       native = false}
  end
  return rows
end

-- Returns the pairs of functions in two lists that are the same function, as "3=5 7=9": the line in a, and
-- the line in b.
local function pairing(a, b)
  local list = {}
  for x, y in pairs(samecode.functions(functions("x.lua", a),
                                       functions("x.lua", b), {})) do
    list[#list + 1] = {x.line, y.line}
  end
  table.sort(list, function(x, y) return x[1] < y[1] end)
  for i, pair in ipairs(list) do
    list[i] = pair[1] .. "=" .. pair[2]
  end
  return table.concat(list, " ")
end

-- Calls f(a, b, same) and returns its result. Raises an error if f executes more than 'millions' (default
-- 50) of millions of instructions. A former bug: for two profiles of a program with 10,000 functions in a
-- file, or with 3,000 renamed files, the search took minutes.
local function quickly(f, a, b, same, millions)
  debug.sethook(function() error "too many instructions" end, "", (millions or 50) * 1000000)
  local result = f(a, b, same)
  debug.sethook()
  return result
end

describe("the same function", function()
  it("has the same line and name", function()
    assert.equal("1=1 5=5 9=9", pairing("f:1 g:5 f:9", "f:9 f:1 g:5"))
  end)

  it("has the same name where lines have moved", function()
    assert.equal("1=4 5=8 9=12", pairing("f:1 g:5 h:9", "f:4 g:8 h:12"))
  end)

  it("may have lost its name on the way", function()
    -- Lua derives a function's name from its call, so that the name may differ between profiles
    assert.equal("1=1 5=5", pairing("f:1 g:5", "anonymous:1 g:5"))
    assert.equal("1=1 5=5", pairing("f:1 g:5", "f:1 alias:5"))
  end)

  it("is known by its neighbours where it has no name", function()
    assert.equal("1=1 5=9 7=11 20=24",
                 pairing("f:1 anonymous:5 anonymous:7 g:20",
                         "f:1 anonymous:9 anonymous:11 g:24"))
  end)

  it("has no name where it only has a number in its line", function()
    assert.equal("1=4 5=8", pairing("f:1 anonymous:5", "f:4 anonymous_#2:8"))
    assert.equal("1=1 5=5", pairing("f:1 g:5", "f:1 anonymous_#2:5"))
  end)

  it("is not any function without a name", function()
    assert.equal("", pairing("anonymous:5", "anonymous:9"))
    assert.equal("", pairing("f:5", "g:9"))
    assert.equal("1=1", pairing("f:1 g:5", "f:1 h:40"))
  end)

  it("keeps its place among the others", function()
    assert.equal("2=2", pairing("f:2 g:8", "g:1 f:2"))
  end)

  it("is found among ten thousand", function()
    local function many(shift, anonymous)
      local list = {}
      for i = 1, 10000 do
        -- every function except each thousandth one has moved by 'shift' lines
        local line = i % 1000 == 0 and i or i + shift
        list[i] = {name = anonymous and "anonymous" or i % 3 == 0 and "again" or "f" .. i, line = line,
                   file = "x.lua", native = false}
      end
      return list
    end
    local a, b = many(0), many(5)
    local pairs_ = quickly(samecode.functions, a, b, {})
    local wrong, n = 0, 0
    for x, y in pairs(pairs_) do
      wrong, n = wrong + (x.name == y.name and 0 or 1), n + 1
    end
    assert.equal(0, wrong)
    assert.is_true(n > 9900, n)
    -- all functions are anonymous, so that the search finds only those with the same line in both profiles
    a, b = many(0, true), many(0, true)
    pairs_, n = quickly(samecode.functions, a, b, {}), 0
    for x, y in pairs(pairs_) do
      assert(x.line == y.line)
      n = n + 1
    end
    assert.equal(10000, n)
  end)

  -- A former bug: the amount of work was limited for each file, but not for all files together.
  it("is found in hundreds of files", function()
    local function many(shift)
      local list = {}
      for i = 1, 60000 do
        list[i] = {name = "anonymous", line = i % 1000 * 10 + i % 7 * shift,
                   file = ("f%d.lua"):format(i // 1000), native = false}
      end
      return list
    end
    local n = 0
    for x, y in pairs(quickly(samecode.functions, many(0), many(1), {}, 200)) do
      assert.equal(x.file, y.file)
      n = n + 1
    end
    assert.is_true(n > 60000 // 8, n)
  end)

  it("of C is known by name and library", function()
    local a = {{name = "gsub", file = "l.so", line = 0, native = true},
               {name = "gsub", file = "m.so", line = 0, native = true}}
    local b = {{name = "gsub", file = "l.so", line = 0, native = true}}
    assert.same({[a[1]] = b[1]}, samecode.functions(a, b, {}))
  end)
end)

describe("the same line", function()
  it("is at the same distance from the start of its function", function()
    local a, b = functions("x.lua", "f:10 g:20"), functions("x.lua", "f:10 g:23")
    local fns = samecode.functions(a, b, {})
    local la = {{file = "x.lua", line = 12, defined = 10},
                {file = "x.lua", line = 22, defined = 20},
                {file = "x.lua", line = 27, defined = 20},
                {file = "x.lua", line = 31, defined = 30}}
    local lb = {{file = "x.lua", line = 12, defined = 10},
                {file = "x.lua", line = 25, defined = 23},
                {file = "x.lua", line = 27, defined = 23},
                {file = "x.lua", line = 31, defined = 30}}
    assert.same({[la[1]] = lb[1], [la[2]] = lb[2], [la[4]] = lb[4]},
                samecode.lines(la, lb, fns, {}))
  end)

  -- A former bug: after a comment was added at the start of a file, all lines of the main chunk were "gone"
  -- and "new", and `asamp check --baseline` failed.
  it("has moved with the functions before it, or with all other lines of its function", function()
    local function lines(text)
      local list = {}
      for line, defined, bytes in text:gmatch "(%d+)@(%d+)=?(%d*)" do
        list[#list + 1] = {file = "x.lua", line = tonumber(line), defined = tonumber(defined),
                           self = {bytes = tonumber(bytes) or 0}}
      end
      return list
    end
    local function moved(fa, la, fb, lb)
      local a, b = functions("x.lua", fa), functions("x.lua", fb)
      la, lb = lines(la), lines(lb)
      local list = {}
      for x, y in pairs(samecode.lines(la, lb, samecode.functions(a, b, {}), {})) do
        list[#list + 1] = ("%d=%d"):format(x.line, y.line)
      end
      table.sort(list)
      return table.concat(list, " ")
    end
    local main = "main_chunk:0"
    assert.equal("20=22 21=23 22=24 3=3", moved(main .. " f:10", "3@0 20@0 21@0 22@0",
                                                main .. " f:12", "3@0 22@0 23@0 24@0"))
    assert.equal("13=13 15=17", moved("f:10 g:14", "13@10 15@10", "f:10 g:16", "13@10 17@10"))
    assert.equal("5=6 9=10", moved(main, "5@0 9@0", main, "6@0 10@0"))
    assert.equal("", moved(main, "5@0 9@0", main, "6@0 11@0"))
    assert.equal("5=6", moved(main, "5@0=1000", main, "6@0=1200"))
    assert.equal("", moved(main, "5@0=1000", main, "6@0=2000"))
    assert.equal("5=5", moved(main, "5@0=1000", main, "5@0=2000"))
  end)

  it("have the same line, whichever function at it has most in each profile", function()
    local a = {{name = "main chunk", file = "x.lua", line = 0}, {name = "f", file = "x.lua", line = 3}}
    local b = {{name = "main chunk", file = "x.lua", line = 0}, {name = "f", file = "x.lua", line = 5}}
    local fns = samecode.functions(a, b, {})
    local la = {{file = "x.lua", line = 3, defined = 0, functions = {{defined = 0}, {defined = 3}}},
                {file = "x.lua", line = 5, defined = 0}}
    local lb = {{file = "x.lua", line = 5, defined = 5, functions = {{defined = 0}, {defined = 5}}}}
    -- if a has only one of the two lines, the line of b is its partner, by its position in the main chunk
    assert.same({[la[2]] = lb[1]}, samecode.lines({la[2]}, lb, fns, {}))
    assert.same({[la[1]] = lb[1]}, samecode.lines({la[1]}, lb, fns, {}))
    local both = samecode.lines(la, lb, fns, {})
    -- if a has both lines, only one of them can have the line of b as its partner
    assert.is_true((both[la[1]] == nil) ~= (both[la[2]] == nil))
  end)
end)

describe("the same file", function()
  local function of(...)
    local rows = {}
    for _, path in ipairs{...} do
      local file, names = path:match "^([^:]+):?(.*)$"
      for name in names:gmatch "%w+" do rows[#rows + 1] = {file = file, name = name} end
      rows[#rows + 1] = {file = file, name = "main chunk"}
    end
    return {functions = rows, lines = {}}
  end

  it("ends alike in another folder", function()
    assert.same({["/usr/share/pl/init.lua"] = "new/pl/init.lua",
                 ["/usr/share/lc/init.lua"] = "new/lc/init.lua"},
                samecode.files(of("/usr/share/pl/init.lua", "main.lua",
                                  "/usr/share/lc/init.lua"),
                               of("new/pl/init.lua", "new/lc/init.lua",
                                  "main.lua")))
  end)

  it("is none that could be either", function()
    local a, b = of("a/init.lua"), of("b/init.lua", "c/init.lua")
    assert.same({}, samecode.files(a, b))
    assert.same({}, samecode.files(b, a))
    assert.same({}, samecode.files(a, a))
    assert.same({}, samecode.files(of("x.lua"), of("y.lua")))
    assert.same({}, samecode.files(of("x.lua:f,g,h"), of("y.lua:a,b,h")))
    assert.same({}, samecode.files(of("x.lua:f"), of("y.lua:f", "z.lua:f")))
  end)

  -- A former bug: after orders.lua was renamed to orders_fixed.lua, all rows were "gone" or "new".
  it("has functions with the same names if its own name changed", function()
    assert.same({["orders.lua"] = "orders_fixed.lua"},
                samecode.files(of("orders.lua:order,invoice,on", "bus.lua:emit"),
                               of("orders_fixed.lua:order,invoice,off", "log.lua:write")))
  end)

  it("is found among thousands of others", function()
    local function many(format)
      local paths = {}
      for i = 1, 3000 do paths[i] = format:format(i, i) end
      return of(table.unpack(paths))
    end
    local wanted, named = {}, {}
    for i = 1, 3000 do
      wanted[("old/%d/init.lua"):format(i)] = ("lib/new/%d/init.lua"):format(i)
      named[("a%d.lua"):format(i)] = ("b%d.lua"):format(i)
    end
    assert.same(wanted, quickly(samecode.files, many "old/%d/init.lua", many "lib/new/%d/init.lua"))
    assert.same({}, quickly(samecode.files, many "a%d.lua:new", many "b%d.lua:new"))
    -- A former bug: the time was proportional to the number of folders in all paths times the length of a
    -- path.
    local long, pairs_ = ("a/"):rep(2000), {}
    for i = 1, 3000 do
      pairs_[("old/%s%d.lua"):format(long, i)] = ("new/%s%d.lua"):format(long, i)
    end
    assert.same(pairs_, quickly(samecode.files, many("old/" .. long .. "%d.lua"),
                                many("new/" .. long .. "%d.lua")))
    assert.same({}, quickly(samecode.files, many("old%d/" .. long .. "x.lua"),
                            many("new%d/" .. long .. "x.lua")))
    assert.same(named, quickly(samecode.files, many "a%d.lua:new,f%d", many "b%d.lua:new,f%d"))
  end)
end)
