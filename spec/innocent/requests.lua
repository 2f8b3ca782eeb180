-- No leak: request handlers of a web server. Each request has tables and closures; a log has at most 200
-- errors.
local routes, log, stats = {}, {}, {}
local function route(pattern, f) routes[#routes + 1] = {pattern = pattern, f = f} end
route("^/user/(%d+)$", function(ctx, id) ctx.user = {id = id, name = "user" .. id} return 200 end)
route("^/item/(%w+)$", function(ctx, name) ctx.item = name:upper() return #name > 4 and 404 or 200 end)
route("^/$", function() return 200 end)
local function chain(ctx)
  local layers = {
    function(next) ctx.start = ctx.time return next() end,
    function(next) local s = next() ctx.headers["x-status"] = tostring(s) return s end}
  local function run(i)
    if layers[i] then return layers[i](function() return run(i + 1) end) end
    for _, r in ipairs(routes) do
      local capture = ctx.path:match(r.pattern)
      if capture then return r.f(ctx, capture) end
    end
    return 404
  end
  return run(1)
end
for i = 1, 25000 do
  local path = i % 3 == 0 and "/user/" .. i or i % 3 == 1 and "/item/thing" .. i % 7 or "/"
  local ctx = {path = path, headers = {}, time = i}
  local status = chain(ctx)
  local kind = path:match "^/%a*"
  stats[kind] = stats[kind] or {n = 0, errors = 0}
  stats[kind].n = stats[kind].n + 1
  if status >= 400 then
    stats[kind].errors = stats[kind].errors + 1
    log[#log + 1] = {path = path, status = status, at = i}
    if #log > 200 then table.remove(log, 1) end
  end
end
print(#log, stats["/user"].n)
