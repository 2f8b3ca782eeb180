-- No leak: loads modules from stripped code until the program ends, and runs each. The tables contain only
-- their code.
local function template(n)
  local rows = {n, "a", "b"}
  return function(x) return rows[x] end
end
local code = string.dump(template, true)
local modules = {}
for i = 1, 20000 do modules[i] = load(code, "module", "b")(i) end
print(#modules)
