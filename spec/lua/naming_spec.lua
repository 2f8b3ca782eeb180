-- SPDX-License-Identifier: MIT
-- Names of Lua functions in profiles come from the functions' definitions, so that they are the same for
-- all callers and in every run.

local samples = require "spec.support.samples"

-- Samples calls of the chunk. Returns the names of the functions that have a sample, except main chunks, as
-- "line:name" in the order of their lines of definition.
local function names(chunk, ...)
  local args = table.pack(...)
  local set, list = {}, {}
  for _, s in ipairs(samples.of(function()
    for _ = 1, 3 do chunk(table.unpack(args, 1, args.n)) end
  end)) do
    for _, f in ipairs(s.stack) do
      if f.file == "named" and f.name ~= "main chunk" then
        set[("%03d:%s"):format(f.defined, f.name)] = true
      end
    end
  end
  for name in pairs(set) do list[#list + 1] = (name:gsub("^0*", "")) end
  table.sort(list, function(a, b)
    local x, y = tonumber(a:match "%d+"), tonumber(b:match "%d+")
    if x ~= y then return x < y end
    return a < b
  end)
  return list
end

local function of(text, ...)
  return names(assert(load(text, "@named")), ...)
end

describe("a function has the name", function()
  it("of the variable or field that its definition puts it into", function()
    assert.same({"2:churn", "3:field", "4:method", '5:["a-b"]', "6:constant", "7:global",
                 "9:forward", "10:a", "11:b", "13:x", "14:y", "15:default", '16:[""]',
                 "17:__call", "18:setup", "18:up", "19:listed"}, of[[
local M = {}
local function churn() return {{}, {}} end
function M.field() churn() end
function M:method() churn() end
M["a-b"] = function() churn() end
M["constant"] = function() churn() end
function global() churn() end
local forward
forward = function() churn() end
local a, b = function() churn() end,
             function() churn() end
M.n, M.o = {}, {}
M.n.x, M.o.y = function() churn() end,
               function() churn() end
M.default = M.default or function() churn() end
M[""] = function() churn() end
setmetatable(M, {__call = function() churn() end})
local up local function setup() up = function() churn() end end setup()
local list = {listed = function() churn() end}
M.field() M:method() M["a-b"]() M.constant() global() forward() a() b()
M.n.x() M.o.y() M.default() M[""]() M() up() list.listed()
global = nil]])
  end)

  it("anonymous, if the definition has no name, whatever its callers call it", function()
    assert.same({"1:anonymous #2", "2:make", "3:anonymous", "5:anonymous", "6:anonymous",
                 "7:anonymous", "8:anonymous"}, of[[
local function _() end local churn = (function(f) return f end)(function() return {{}, {}} end)
local function make()
  return function() local t = churn() return t end
end
local named = {(function() churn() end)} named[1]()
local key = {} key[key] = function() churn() end key[key]()
pcall(function() churn() end)
for _ in function(_, i) churn() if not i then return 1 end end do end
local called = make() called()]])
  end)

  it("of its definition, also where a module has more constants than fit into an instruction", function()
    local text = {"local M, churn = {}, function() return {{}, {}} end"}
    for i = 1, 300 do text[#text + 1] = ("M.k%d = %d"):format(i, i) end
    text[#text + 1] = "function M.late() churn() end function late() churn() end"
    text[#text + 1] = "M.both, late2 = function() churn() end, 1"
    text[#text + 1] = "M.late() late() M.both() late, late2 = nil"
    assert.same({"1:churn", "302:late", "303:both"}, of(table.concat(text, "\n")))
  end)

  it("that the call of a sample does not change: two callers, one name", function()
    local text = [[
local function work() return {{}, {}} end
local t = {alias = work}
if ... then t.alias() pcall(work) else pcall(work) t.alias() end
for _ in work, nil, nil do break end
local _ENV = setmetatable({}, {__index = work})
local _ = x]]
    assert.same({"1:work"}, of(text, true))
    assert.same({"1:work"}, of(text, false))
  end)

  it("in precompiled code too, except for variables if it is stripped", function()
    local text = [[
local M = {}
function M.field() return {{}, {}} end
local function variable() return {{}, {}} end
M.field() variable()]]
    local chunk = load(text, "@named")
    assert.same({"2:field", "3:variable"}, names(load(string.dump(chunk))))
    local stripped = load(string.dump(chunk, true))
    local set = {}
    for _, s in ipairs(samples.of(function() stripped() end)) do
      if s.stack[1].file == "[stripped]" then set[s.stack[1].name] = true end
    end
    assert.same({["main chunk"] = true, field = true, anonymous = true}, set)
  end)

  -- A former bug: functions without a name that are defined on one line were one function in the profile.
  -- In a minified file, these were all functions.
  it("a number of its own, if others of its line have no name", function()
    local text = ([[
local function call(f) return f() end
local t = {call(F), (function() return call(F) end)()}
call(function() local function named() return {{}, {}} end return {{}, {}}, named() end) call(F)]]):gsub(
      "F", "function() return {{}, {}} end")
    local set = {}
    for _, s in ipairs(samples.of(load(text, "@line.lua"))) do
      local f = s.stack[1]
      if f.file == "line.lua" and f.name ~= "main chunk" then set[f.line .. ":" .. f.name] = true end
    end
    assert.same({["2:anonymous"] = true, ["2:anonymous #2"] = true, ["2:anonymous #3"] = true,
                 ["3:anonymous"] = true, ["3:named"] = true, ["3:anonymous #2"] = true}, set)
  end)

  it("after the defining function and all its constants are freed", function()
    local f = load([[
local M = {}
function M.survivor() return {{}, {}} end
return M.survivor]], "@named")()
    for _ = 1, 3 do collectgarbage() end
    local garbage = {}
    for i = 1, 1000 do garbage[i] = "garbage" .. i end
    assert.equal(1000, #garbage)
    assert.same({"2:survivor"}, names(f))
  end)

  -- A former bug: precompiled code may have a variable name of size 0, if a tool has written it. Such a
  -- name was read at address 0.
  it("none, in precompiled code whose variables have no names", function()
    local whole = string.dump(load("local abcdefgh = function() return {{}, {}} end; abcdefgh()", "@named"))
    local at = assert(whole:find("abcdefgh", 1, true))
    local chunk = assert(load(whole:sub(1, at - 2) .. "\x80" .. whole:sub(at + 8), "=named", "b"))
    assert.same({"1:anonymous"}, names(chunk))
  end)

  -- A former bug: for each function, all earlier variables were visited, even those of blocks that had
  -- ended. A chunk with 40,000 functions and 40,000 variables took seconds to load.
  it("of its variable, whatever ended before it, or is around", function()
    local text = {"local a, b"}
    for i = 1, 150 do text[i + 1] = "do local x, y = a, b end local v" .. i end
    text[#text + 1] = "for i = 1, 2 do local w = function() return {{}, {}} end w() end"
    text[#text + 1] = "do local z local u = function() return {{}, {}} end; v7 = u() end"
    text[#text + 1] = "v9 = function() return {{}, {}} end; v9()"
    assert.same({"152:w", "153:u", "154:v9"}, of(table.concat(text, "\n")))
  end)
end)
