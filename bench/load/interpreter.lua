-- SPDX-License-Identifier: MIT
-- An interpreter written in Lua. It parses a program in a small language with functions, closures and lists
-- into a tree, and walks the tree. As usual in such interpreters, each call creates a table for its scope,
-- and each number is a table. The program sorts, searches and builds records. 'size' is the number of its
-- iterations.

local PROGRAM = [[
def range(a, b) { if b < a { nil } else { cons(a, range(a + 1, b)) } }
def map(f, l) { if empty(l) { nil } else { cons(f(head(l)), map(f, tail(l))) } }
def filter(f, l) {
  if empty(l) { nil } else {
    let rest = filter(f, tail(l));
    if f(head(l)) { cons(head(l), rest) } else { rest }
  }
}
def append(a, b) { if empty(a) { b } else { cons(head(a), append(tail(a), b)) } }
def fold(f, start, l) { while not(empty(l)) { start = f(start, head(l)); l = tail(l) }; start }
def sort(l) {
  if empty(l) { nil } else {
    let pivot = head(l); let rest = tail(l);
    append(sort(filter(fun(x) { x < pivot }, rest)),
           cons(pivot, sort(filter(fun(x) { not(x < pivot) }, rest))))
  }
}
def fib(n) { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }
def account(start) { let sum = start; fun(x) { sum = sum + x; sum } }
def turn(n) {
  let numbers = map(fun(x) { x * 37 - (x * 37) / 101 * 101 }, range(1, 40));
  let total = fold(fun(a, b) { a + b }, 0, sort(numbers));
  let a = account(n);
  let i = 0;
  while i < 50 { a(i); i = i + 1 };
  total + a(0) + fib(11)
}
let i = 0; let all = 0;
while i < turns { all = all + turn(i); i = i + 1 };
all
]]

-- Returns the words, numbers and punctuation signs of a text as a list.
local function tokens(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return list end
    local word = text:match("^[%a_]+", at) or text:match("^%d+", at) or text:sub(at, at)
    list[#list + 1] = word
    at = at + #word
  end
end

-- The parser. It returns a program as a list of expressions, each { op = name, ... }.
local reader = {}
reader.__index = reader

function reader:peek() return self.list[self.at] end

function reader:next()
  self.at = self.at + 1
  return self.list[self.at - 1]
end

function reader:expect(word)
  local found = self:next()
  if found ~= word then error(("%q expected, got %q"):format(word, tostring(found))) end
end

function reader:accept(word)
  if self:peek() ~= word then return false end
  self.at = self.at + 1
  return true
end

function reader:list_of(read, stop)
  local out = {}
  while not self:accept(stop) do
    out[#out + 1] = read(self)
    self:accept(",")
  end
  return out
end

-- Parses expressions up to the token 'stop' (nil: to the end); semicolons may separate them.
function reader:sequence(stop)
  local body = {}
  while self:peek() ~= stop do
    body[#body + 1] = self:expression()
    while self:accept(";") do end
  end
  self:next()
  return { op = "sequence", body = body }
end

function reader:block()
  self:expect("{")
  return self:sequence("}")
end

function reader:lambda()
  self:expect("(")
  local names = self:list_of(reader.next, ")")
  return { op = "fun", names = names, body = self:block() }
end

local KEYWORDS = {}

function KEYWORDS.def(r)
  local name = r:next()
  return { op = "let", name = name, value = r:lambda() }
end

function KEYWORDS.let(r)
  local name = r:next()
  r:expect("=")
  return { op = "let", name = name, value = r:expression() }
end

KEYWORDS["if"] = function(r)
  local test, yes = r:expression(), r:block()
  r:expect("else")
  return { op = "if", test = test, yes = yes, no = r:block() }
end

KEYWORDS["while"] = function(r)
  local test = r:expression()
  return { op = "while", test = test, body = r:block() }
end

KEYWORDS.fun = reader.lambda
KEYWORDS["nil"] = function() return { op = "nil" } end

KEYWORDS["("] = function(r)
  local inner = r:expression()
  r:expect(")")
  return inner
end

function reader:primary()
  local word = self:next()
  local found
  if KEYWORDS[word] then
    found = KEYWORDS[word](self)
  elseif word:find("^%d") then
    found = { op = "number", value = math.tointeger(tonumber(word)) }
  elseif self:peek() == "=" then
    self:next()
    return { op = "set", name = word, value = self:expression() }
  else
    found = { op = "name", name = word }
  end
  while self:accept("(") do
    found = { op = "call", callee = found, args = self:list_of(reader.expression, ")") }
  end
  return found
end

local POWER = { ["<"] = 1, ["+"] = 2, ["-"] = 2, ["*"] = 3, ["/"] = 3 }

function reader:expression(least)
  local left = self:primary()
  while (POWER[self:peek()] or 0) > (least or 0) do
    local sign = self:next()
    left = { op = "binary", sign = sign, left = left, right = self:expression(POWER[sign]) }
  end
  return left
end

-- The interpreter, which walks the tree. A scope is a table { names = values by name, outer = scope }. A
-- value is a table { kind = name of its type, ... }.
local NIL, YES, NO = { kind = "nil" }, { kind = "truth", is = true }, { kind = "truth", is = false }

local function number(n) return { kind = "number", value = n } end
local function truth(b) return b and YES or NO end

local BINARY = {
  ["+"] = function(a, b) return number(a.value + b.value) end,
  ["-"] = function(a, b) return number(a.value - b.value) end,
  ["*"] = function(a, b) return number(a.value * b.value) end,
  ["/"] = function(a, b) return number(a.value // b.value) end,
  ["<"] = function(a, b) return truth(a.value < b.value) end,
}

local function holder(scope, name)
  while scope do
    if scope.names[name] then return scope.names end
    scope = scope.outer
  end
  error(("no variable named %q"):format(name))
end

local walk = {}
local function eval(node, scope) return walk[node.op](node, scope) end

walk["nil"] = function() return NIL end
function walk.number(node) return number(node.value) end
function walk.name(node, scope) return holder(scope, node.name)[node.name] end
function walk.fun(node, scope) return { kind = "function", node = node, scope = scope } end

function walk.let(node, scope)
  local value = eval(node.value, scope)
  scope.names[node.name] = value
  return value
end

function walk.set(node, scope)
  local value = eval(node.value, scope)
  holder(scope, node.name)[node.name] = value
  return value
end

function walk.sequence(node, scope)
  local value = NIL
  for _, each in ipairs(node.body) do value = eval(each, scope) end
  return value
end

walk["if"] = function(node, scope)
  return eval(eval(node.test, scope).is and node.yes or node.no, scope)
end

walk["while"] = function(node, scope)
  while eval(node.test, scope).is do eval(node.body, scope) end
  return NIL
end

function walk.binary(node, scope)
  return BINARY[node.sign](eval(node.left, scope), eval(node.right, scope))
end

function walk.call(node, scope)
  local callee, args = eval(node.callee, scope), {}
  for i, each in ipairs(node.args) do args[i] = eval(each, scope) end
  if callee.kind == "builtin" then return callee.call(table.unpack(args)) end
  local names = {}
  for i, name in ipairs(callee.node.names) do names[name] = args[i] end
  return eval(callee.node.body, { names = names, outer = callee.scope })
end

local function builtin(call) return { kind = "builtin", call = call } end

local function globals(turns)
  return { names = {
    turns = number(turns),
    cons = builtin(function(a, b) return { kind = "pair", head = a, tail = b } end),
    head = builtin(function(pair) return pair.head end),
    tail = builtin(function(pair) return pair.tail end),
    empty = builtin(function(list) return truth(list.kind == "nil") end),
    ["not"] = builtin(function(value) return truth(not value.is) end),
  } }
end

local function run(turns)
  local tree = setmetatable({ list = tokens(PROGRAM), at = 1 }, reader):sequence(nil)
  return eval(tree, globals(turns)).value
end

return {
  about = "a tree-walking interpreter of a small language",
  size = 300, small = 6, tiny = 1,
  run = run,
}
