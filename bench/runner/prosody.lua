-- SPDX-License-Identifier: MIT
-- Runs the measurements of bench/prosody. The comment at the start of that script describes them.

local start = dofile(arg[1] .. "/bench/runner/start.lua") "bench/prosody"
local root, work, fail = start.root, start.work, start.fail

local machine = require "runner.machine"
local servers = require "runner.prosodies"
local socket = require "socket"
local xmpp = require "runner.xmpp"

local CLIENTS = 20
-- least number of turns in a cycle, and the seconds of a turn; in each turn one server receives requests
local SLICES, SLICE = 28, 0.5
local CYCLE = 18               -- seconds
-- all queries must be answered within this number of seconds
local ANSWERS_S = 60

local found, words = start.options("asamp rate data", "quiet apart", true)
local minutes = tonumber(words[1] or 30)
if not minutes or minutes <= 0 or #words > 1 then
  fail(("the number of minutes must be positive, got %q"):format(table.concat(words, " ")))
end
local rate = start.positive(found, "rate", 1000)
local wish = found.asamp or "listen,ring=2m,rotate=5m,keep=4"
local folder = found.data or work .. "/data"
local asamp = root .. "/build/bin/asamp"

assert(os.execute(("mkdir -p '%s'"):format(folder)))
servers.launch{root = root, folder = folder, clients = CLIENTS, fail = fail}

-- Sends requests at the given rate for a number of seconds. If the function 'go' is given, stops earlier
-- when it returns false. Returns the number of requests.
local function drive(load, seconds, go)
  local from, n = socket.gettime(), 0
  local ends = from + seconds
  while socket.gettime() < ends and (not go or go()) do
    load:request()
    n = n + 1
    local ahead = from + n / rate - socket.gettime()
    if ahead > 0 then socket.sleep(ahead) end
  end
  return n
end

-- Sends requests to the two servers in turn, for at least 'least' turns, and for more turns while go()
-- returns true. Returns three numbers: CPU seconds per request of the server 'with', the same for
-- 'without', and the number of requests to 'with'. 'turn' (0 or 1) selects the server that starts. The
-- caller alternates it, so that other load of the machine slows both servers equally.
local function slices(with, without, turn, least, go)
  local pair, before, n, i = {with, without}, {with:cpu(), without:cpu()}, {0, 0}, 0
  while i < least or i % 4 > 0 or go and go() do
    i = i + 1
    local at = (i + i // 2 + turn) % 2 + 1
    n[at] = n[at] + drive(pair[at].load, SLICE)
  end
  return (with:cpu() - before[1]) / n[1], (without:cpu() - before[2]) / n[2], n[1]
end

local missing = {}

local function expect(holds, format, ...)
  if not holds then
    missing[#missing + 1] = format:format(...)
    io.stderr:write("bench/prosody: ", missing[#missing], "\n")
  end
  return holds
end

-- {== questions ==================================================================

local asks = {top = 0, record = 0, heap = 0, stats = 0}

local base = folder .. "/ask"

-- Starts queries in the background, one after the other. A query is a command of asamp; 'kinds' is the list
-- of their names, and n the number of the cycle. Returns the command lines by name.
local function question(server, n, kinds)
  local record = n % 10 == 5 and not found.apart and "--for 3s --alloc 64K" or "--ring"
  local all, lines = {
    top = ("top --count 2 --every 1 %d"):format(server.pid),
    record = ("record %s -o '%s.vmprof' %d"):format(record, base, server.pid),
    heap = ("heap -o '%s.snapshot' %d"):format(base, server.pid),
    stats = ("stats --json %d"):format(server.pid),
  }, {}
  for _, name in ipairs(kinds) do lines[name] = all[name] end
  local script = {":"}
  for name, line in pairs(lines) do
    local out = base .. "." .. name
    script[#script + 1] = ("'%s' %s >'%s' 2>&1; echo $? $(date +%%s.%%N) >'%s.status'"):format(
      asamp, line, out, out)
  end
  os.execute(("rm -f '%s'*"):format(base))
  if lines.record then
    script[#script + 1] = ("'%s' report '%s.vmprof' >'%s.report' 2>&1"):format(asamp, base, base)
  end
  script[#script + 1] = ("echo >'%s.done'"):format(base)
  os.execute(("{ %s; } </dev/null &"):format(table.concat(script, "; ")))
  return lines
end

-- Returns a function that returns true while the queries run, for up to ANSWERS_S seconds after the time
-- 'from'.
local function answering(from)
  return function()
    return not servers.read(base .. ".done") and socket.gettime() < from + ANSWERS_S
  end
end

-- Checks the answers to the queries of cycle n, which started at the time 'from'. Returns a text with the
-- seconds until each answer.
local function answers(lines, n, from)
  local ends = {}
  for name in pairs(lines) do
    local status, at = (servers.read(("%s.%s.status"):format(base, name)) or "none"):match "(%w+) ?(%S*)"
    ends[#ends + 1] = ("%s %.1f"):format(name, (tonumber(at) or 0) - from)
    if expect(status == "0", "%s of cycle %d: status %s: %s", name, n, status,
              (servers.read(base .. "." .. name) or ""):sub(1, 300)) then
      asks[name] = asks[name] + 1
    end
  end
  if lines.record then
    local report = servers.read(base .. ".report") or ""
    expect(report:find "samples", "no report on the recording of cycle %d: %s", n, report:sub(1, 300))
  end
  return #ends > 0 and table.concat(ends, ", ") or "none"
end

-- ==}


-- {== service =================================================================

local function slope(rows, key)
  local n, sx, sy, sxx, sxy = 0, 0, 0, 0, 0
  for _, r in ipairs(rows) do
    n, sx, sy, sxx, sxy = n + 1, sx + r.at, sy + r[key], sxx + r.at * r.at, sxy + r.at * r[key]
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

-- For the option --apart: the queries of a cycle. The cycles use these lists in turn.
local APART = {{}, {"top"}, {"record"}, {"heap"}, {"stats"}}

local function kindsof(n)
  if found.quiet then return {} end
  return found.apart and APART[n % #APART + 1] or {"top", "record", "heap", "stats"}
end

local function service()
  local with, without = servers.start(wish), servers.start()
  for _, s in ipairs{with, without} do
    s.load = xmpp.load(s.port, CLIENTS)
    drive(s.load, 5)
  end
  local rows, started, disk = {}, socket.gettime(), 0
  local log = assert(io.open(folder .. "/cycles.tsv", "w"))
  log:write "at\twith_us\twithout_us\tratio\tbeside_with\tbeside_without\tdisk\tanswers (s)\n"
  repeat
    local n, from = #rows + 1, socket.gettime()
    local kinds = kindsof(n)
    local lines = question(with, n, kinds)
    local a, b, requests = slices(with, without, n // 2 % 2, SLICES, answering(from))
    local r = {kind = kinds[1] or "none", requests = requests,
               at = socket.gettime() - started, with = a, without = b, ratio = b / a,
               bwith = with:beside(), bwithout = without:beside(), disk = servers.disk(with)}
    r.outside = r.bwith - r.bwithout
    rows[n], disk = r, math.max(disk, r.disk)
    r.answers = answers(lines, n, from)
    log:write(("%.0f\t%.1f\t%.1f\t%.4f\t%d\t%d\t%d\t%s\n"):format(r.at, r.with * 1e6,
      r.without * 1e6, r.ratio, r.bwith, r.bwithout, r.disk, r.answers))
    log:flush()
    local left = from + CYCLE - socket.gettime()
    if left > 0 and not found.quiet and not found.apart then socket.sleep(left) end
  until socket.gettime() - started >= minutes * 60
  log:close()
  return with, without, rows, disk
end

local with, without, rows, disk = service()
local n, sum, squares, a, b = #rows, 0, 0, 0, 0
for _, r in ipairs(rows) do
  sum, squares = sum + r.ratio, squares + r.ratio * r.ratio
  a, b = a + r.with, b + r.without
end
local mean = sum / n
local error_ = n > 1 and math.sqrt((squares / n - mean * mean) / (n - 1)) or 0
local last = rows[n]
print(machine.line())
print(("\nprosody with ASAMP=%s, %.0f minutes, %d requests a second in turn with one without.\n")
      :format(wish, (last.at + CYCLE) / 60, rate))
print(("- throughput by CPU time: %.4f of without (mean of %d cycles, standard error %.4f); "
      .. "%.0f and %.0f us a request"):format(mean, n, error_, a / n * 1e6, b / n * 1e6))
if found.apart then
  for _, kinds in ipairs(APART) do
    local kind = kinds[1] or "none"
    local m, total, total2, each = 0, 0, 0, 0
    for _, r in ipairs(rows) do
      if r.kind == kind then
        m, total, total2 = m + 1, total + r.ratio, total2 + r.ratio ^ 2
        each = each + (r.with - r.without) * r.requests
      end
    end
    print(("- question %s: %.4f (mean of %d cycles, standard error %.4f), %+.1f ms of CPU time a cycle")
      :format(kind, total / m, m, math.sqrt((total2 / m - (total / m) ^ 2) / math.max(m - 1, 1)),
              each / m * 1e3))
  end
end
local half = table.move(rows, n // 2 + 1, n, 1, {})
local most = 0
for _, r in ipairs(rows) do most = math.max(most, r.outside) end
print(("- resident outside Lua's heap: %.1f MiB with, %.1f without; the difference at most %.1f MiB, "
      .. "and %+.2f MiB an hour in the second half"):format(last.bwith / 2 ^ 20, last.bwithout / 2 ^ 20,
      most / 2 ^ 20, #half > 2 and slope(half, "outside") * 3600 / 2 ^ 20 or 0))
print(("- on the disk at most %.2f MiB"):format(disk / 2 ^ 20))
print(found.quiet and "- nobody asked" or found.apart and "- one question a cycle"
      or ("- answers: top %d, record %d, heap %d, stats %d of %d each")
      :format(asks.top, asks.record, asks.heap, asks.stats, n))
expect(most <= 16 * 2 ^ 20, "more than 16 MiB are resident for the sampler")

-- ==}


-- {== how it ends ============================================================

-- Returns two values: the output of asamp report --json for the newest profile of a server ("" if there is
-- none), and the path of the profile.
local function report(server)
  local path = servers.newest(server)
  return path and servers.output(("'%s' report --json '%s' 2>&1"):format(asamp, path)) or "", path
end

local function judge(name, what, json)
  local samples = tonumber(json:match '"samples": (%d+)')
  local whole = json:find '"complete": true' and "whole" or "not whole"
  print(("- %s: %s; the last profile is %s, %s samples"):format(name, what, whole, samples or "no"))
  expect(samples and samples > 0, "%s: no samples: %s", name, json:sub(1, 300))
  return whole == "whole"
end

with.load:close()
without.load:close()
without:signal "TERM"
with:signal "TERM"
expect(with:ends(), "prosody does not end by SIGTERM")
expect(judge("SIGTERM", "has ended", (report(with))), "SIGTERM: the profile is not whole")

local function short(wish_)
  local s = servers.start(wish_)
  s.load = xmpp.load(s.port, CLIENTS)
  return s
end

local killed = short "listen,ring=1m,rotate=3s,keep=2,alloc=64K"
drive(killed.load, 8)
killed:signal "KILL"
expect(killed:ends(), "prosody does not end by SIGKILL")
expect(judge("SIGKILL", "of rotate=3s", (report(killed))), "SIGKILL: the last profile is not whole")

-- A full disk, simulated: the server's files may not grow above 16 KiB for some time.
local full, why = short "listen,alloc=4K,time=100", nil
servers.output(("prlimit --pid %d --fsize=16384:unlimited"):format(full.pid))
for _ = 1, 60 do
  drive(full.load, 0.5)
  why = servers.output(("'%s' stats --json %d 2>&1"):format(asamp, full.pid)):match '"full": "([^"]+)"'
  if why then break end
end
servers.output(("prlimit --pid %d --fsize=unlimited:unlimited"):format(full.pid))
drive(full.load, 5)
full:signal "TERM"
expect(full:ends(), "a prosody whose disk was full does not end")
local json = report(full)
expect(judge("full disk", ("said: %s"):format(why or "nothing"), json), "full disk: the profile is not whole")
expect(json:find "samples lost", "full disk: no marker in the profile")

-- Lack of memory: the server's address space may grow by only 2 MiB.
local starved = short "listen,ring=1m,alloc=64K"
drive(starved.load, 4)
servers.output(("prlimit --pid %d --as=%d:unlimited"):format(starved.pid, starved:size() + 2 ^ 21))
local refused
for i = 1, 100 do
  local ok, message = pcall(starved.load.keep, starved.load, i, 200000)
  refused = refused or not ok and message
  if servers.newest(starved) or not starved:isthere() then break end
end
servers.output(("prlimit --pid %d --as=unlimited:unlimited"):format(starved.pid))
json = report(starved)
judge("memory limit", ("a request failed (%s), prosody %s"):format(refused or "none",
     starved:isthere() and "goes on" or "has ended"), json)
expect(json:find "memory ran out", "memory limit: no marker in the profile")
starved:signal "TERM"
expect(starved:ends(), "a prosody whose memory ran out does not end")

-- ==}

if #missing > 0 then os.exit(2) end
