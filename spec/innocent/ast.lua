-- No leak: a parser that builds one tree of a large text, then an evaluator that walks the tree.
local Parser = {}
Parser.__index = Parser
function Parser.new(text)
  return setmetatable({next = text:gmatch "[%d]+|[-+*()]", text = text, pos = 1}, Parser)
end
function Parser:peek()
  local _, e, tok = self.text:find("^%s*([%d]+)", self.pos)
  if not e then _, e, tok = self.text:find("^%s*([-+*()])", self.pos) end
  return tok, e
end
function Parser:take()
  local tok, e = self:peek()
  if e then self.pos = e + 1 end
  return tok
end
function Parser:atom()
  local tok = self:take()
  if tok == "(" then
    local e = self:sum()
    self:take()
    return e
  end
  return {op = "num", value = tonumber(tok)}
end
function Parser:product()
  local left = self:atom()
  while self:peek() == "*" do
    self:take()
    left = {op = "*", left = left, right = self:atom()}
  end
  return left
end
function Parser:sum()
  local left = self:product()
  while true do
    local tok = self:peek()
    if tok ~= "+" and tok ~= "-" then return left end
    self:take()
    left = {op = tok, left = left, right = self:product()}
  end
end
local function eval(n)
  if n.op == "num" then return n.value end
  local a, b = eval(n.left), eval(n.right)
  if n.op == "+" then return a + b elseif n.op == "-" then return a - b else return a * b % 1000 end
end
local parts = {}
for i = 1, 150 do
  local inner = {}
  for k = 1, 60 do inner[k] = ("%d * (%d + %d)"):format(i, k, i + k) end
  parts[i] = "(" .. table.concat(inner, " + ") .. ")"
end
local tree = Parser.new(table.concat(parts, " - ")):sum()
local v = 0
for _ = 1, 10 do v = v + eval(tree) end
print(v ~= 0)
