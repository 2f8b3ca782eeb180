-- The verdict must name line 10|15|16|17, reason closures|chain, holder "app"
-- A web framework wraps the handler again for each request instead of once: a chain of closures grows.
local app = {}

function app.base(req) return {status = 200, body = "hello " .. req.path} end

app.handler = app.base

local function logger(nextone)
  return function(req) req.logged = true return nextone(req) end
end

local function use(make)
  local old = app.handler
  local wrapped = make(old)
  local info = {name = "logger", at = os.time()}
  app.handler = function(req, depth) return (depth or info) and app.base(req) or wrapped(req) end
end

local n = 0
for i = 1, 40000 do
  use(logger)
  local res = app.handler{path = "/item/" .. i, headers = {}}
  n = n + #res.body
end
print(n)
