/* SPDX-License-Identifier: MIT */
/*
** The programs that failing.c runs while memory requests are refused. Each is a Lua chunk that
** uses one feature of the language which allocates memory. It raises an error if a result is
** wrong, prints nothing and sets no globals.
*/
#include <stddef.h>

#include "programs.h"

const Program programs[] = {
{"strings",
 "local t = {} for i = 1, 60 do t[i] = 's' .. i .. ('x'):rep(i) end\n"
 "local s = table.concat(t, ',') assert(#s == 60 * 61 // 2 + 60 + 111 + 59)\n"
 "assert(('y'):rep(9000):upper():reverse():sub(1, 3) == 'YYY')"},
{"format",
 "for i = 1, 30 do local s = string.format('%d %s %q %5.2f', i, {}, 'a\\nb', i / 3)\n"
 "  assert(s:match '^(%d+)' == tostring(i)) end\n"
 "assert(#string.format('%s|%s', ('z'):rep(3000), 1.5) == 3004)"},
{"gsub",
 "local s = ('hello world '):rep(40)\n"
 "assert(s:gsub('%w+', {hello = 'bye'}):sub(1, 9) == 'bye world')\n"
 "assert(select(2, s:gsub('o', function(c) return c .. c end)) == 80)\n"
 "local n = 0 for _ in s:gmatch '%a+' do n = n + 1 end assert(n == 80)"},
{"tables",
 "local t = {} for i = 1, 300 do t[i] = {i, key = i} t['k' .. i] = t[i] end\n"
 "for i = 1, 300 do assert(t['k' .. i].key == i) end\n"
 "for k in pairs(t) do t[k] = nil end assert(next(t) == nil)\n"
 "local m = table.move({1, 2, 3}, 1, 3, 5, {}) assert(m[7] == 3)"},
{"closures",
 "local fs = {} for i = 1, 50 do local a, b = i, {i}\n"
 "  fs[i] = function(x) a = a + x; return a + b[1], function() return b end end end\n"
 "for i = 1, 50 do local n, g = fs[i](1) assert(n == 2 * i + 1 and g()[1] == i) end"},
{"coroutines",
 "local function walk(n) if n > 0 then walk(n - 1) coroutine.yield({n}) walk(n - 1) end end\n"
 "local c, n = coroutine.wrap(walk), 0\n"
 "for v in c, 5 do n = n + v[1] end assert(n == 57)\n"
 "local list = {} for i = 1, 20 do list[i] = coroutine.create(function(a)\n"
 "  local b = coroutine.yield(a) return a + b end)\n"
 "  assert(select(2, coroutine.resume(list[i], i)) == i) end\n"
 "for i = 1, 10 do assert(select(2, coroutine.resume(list[i], 1)) == i + 1) end\n"
 "for i = 11, 20 do coroutine.close(list[i]) end"},
{"weak",
 "local k, v, kv = setmetatable({}, {__mode = 'k'}), setmetatable({}, {__mode = 'v'}),\n"
 "  setmetatable({}, {__mode = 'kv'})\n"
 "local keep = {} for i = 1, 60 do local o = {i} k[o] = {o} v[i] = o kv[o] = o\n"
 "  if i % 3 == 0 then keep[i] = o end end collectgarbage()\n"
 "for i = 3, 60, 3 do assert(v[i] == keep[i] and k[keep[i]][1] == keep[i]) end\n"
 "assert(v[1] == nil) local n = 0 for _ in pairs(k) do n = n + 1 end assert(n == 20)"},
{"finalizers",
 "local n, alive = 0, {} local mt = {__gc = function(o) n = n + 1\n"
 "  if o[1] % 4 == 0 then alive[#alive + 1] = o end end}\n"
 "for i = 1, 40 do setmetatable({i, {}}, mt) end collectgarbage() collectgarbage()\n"
 "assert(n <= 40) setmetatable({4}, mt)"},
{"load",
 "local f = assert(load('local a, b = ... local t = {a, b, x = a .. b}"
 " return function() return t.x, a end')) local g = f('p', 'q') assert(g() == 'pq')\n"
 "local d = string.dump(f, true) assert(assert(load(d, 'd', 'b'))('a', 'b')() == 'ab')\n"
 "local parts = {} for i = 1, 60 do parts[i] = 'local v' .. i .. ' = ' .. i .. '.5 ' end\n"
 "assert(assert(load(table.concat(parts) .. ' return v60'))() == 60.5)\n"
 "assert(not load('return +') and not load('x = = 1'))"},
{"sort",
 "local t = {} for i = 1, 120 do t[i] = tostring(i * 7919 % 121) end\n"
 "table.sort(t, function(a, b) return a .. '' < b .. '' end)\n"
 "for i = 2, 120 do assert(t[i - 1] <= t[i]) end"},
{"errors",
 "for i = 1, 20 do\n"
 "  local ok, e = pcall(error, {code = i}) assert(not ok and (type(e) == 'string' or e.code == i))\n"
 "  ok, e = pcall(function() local x = nil; return x.field end) assert(not ok)\n"
 "  ok, e = xpcall(function() error('m' .. i) end, debug.traceback) assert(not ok)\n"
 "end\n"
 "local function deep(n) if n == 0 then error 'bottom' end return 1 + deep(n - 1) end\n"
 "assert(not pcall(deep, 150))"},
{"closing",
 "local log = {} local function c(n) return setmetatable({}, {__close = function(_, e)\n"
 "  log[#log + 1] = n .. tostring(e) end}) end\n"
 "local ok = pcall(function() local a <close> = c 'a' local b <close> = c 'b' error({}) end)\n"
 "assert(not ok)\n"
 "local co = coroutine.create(function() local x <close> = c 'x' coroutine.yield() end)\n"
 "coroutine.resume(co) coroutine.close(co)\n"
 "for _, v in ipairs(log) do assert(#v > 1) end"},
{"threads of garbage",
 "collectgarbage 'generational' local keep = {}\n"
 "for i = 1, 40 do local up = {i} local co = coroutine.wrap(function()\n"
 "  local f = function() return up end keep[i] = f coroutine.yield(f) end) co() end\n"
 "collectgarbage 'step' collectgarbage 'incremental' collectgarbage()\n"
 "for i = 1, 40 do assert(keep[i]()[1] == i) end"},
{NULL, NULL}
};
