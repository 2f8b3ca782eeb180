-- SPDX-License-Identifier: MIT
--
-- `asamp convert --to heapsnapshot`, which writes a snapshot for the DevTools of Chromium. Rows, edges to
-- existing nodes, bytes, names and allocation sites must be consistent for DevTools' loader.
-- (bench/devtools runs the loader itself.)

local heap = require "profiler.heap"
local json = require "cjson"
local process = require "spec.support.process"

local function convert(code)
  local path, out = os.tmpname(), os.tmpname()
  local script = process.file([[
    local profiler, path = require "profiler", ...
  ]] .. code .. [[
    collectgarbage()
    assert(profiler.snapshot(path, {wait = true, overwrite = true}))
  ]])
  local status, _, err = process.run{script, path}
  assert.same({0, ""}, {status, err})
  status, _, err = process.run{program = "build/bin/asamp", "convert", "--to", "heapsnapshot",
                               "--out", out, path}
  assert.same({0, ""}, {status, err})
  local file = assert(io.open(out))
  local t = json.decode(file:read "a")
  file:close()
  local h = assert(heap.open(path))
  for _, name in ipairs{path, out, script} do os.remove(name) end
  return t, h
end

-- Returns the rows of an array in the file, each as a table by the names of its fields.
local function rows(t, what, fields)
  local names, list = t.snapshot.meta[fields], {}
  assert.equal(0, #t[what] % #names)
  for i = 0, #t[what] // #names - 1 do
    local row = {}
    for k, name in ipairs(names) do row[name] = t[what][i * #names + k] end
    list[i + 1] = row
  end
  return list
end

local PROGRAM = [==[
  local Session, kept = {__name = "Session"}, {}
  local co = coroutine.wrap(function() local q = {kept} coroutine.yield() return q end)
  co()
  for i = 1, 200 do
    local s = setmetatable({name = "s" .. i, [i] = kept[i - 1] or 0, [{}] = "\"\\\n\0\xff"}, Session)
    kept[i] = s
    s.close = function() return s end
  end
  weak = setmetatable({[kept[1]] = {kept[2]}}, {__mode = "k"})
  _G.kept, _G.co = kept, co
]==]

describe("asamp convert --to heapsnapshot", function()
  it("writes as many nodes and edges as there are, and all their bytes", function()
    local t, h = convert(PROGRAM)
    local info = h:info()
    local nodes, edges = rows(t, "nodes", "node_fields"), rows(t, "edges", "edge_fields")
    local fields = #t.snapshot.meta.node_fields
    assert.same({t.snapshot.node_count, t.snapshot.edge_count}, {#nodes, #edges})
    assert.same({info.objects + 1, info.references}, {#nodes, #edges})
    local self, count, ids, types, sessions = 0, 0, {}, t.snapshot.meta.node_types[1], 0
    for _, node in ipairs(nodes) do
      self, count = self + node.self_size, count + node.edge_count
      assert.is_nil(ids[node.id])
      ids[node.id] = true
      assert.is_truthy(types[node.type + 1] and t.strings[node.name + 1])
      if types[node.type + 1] == "object" and t.strings[node.name + 1] == "Session" then
        sessions = sessions + 1
      end
    end
    assert.same({info.bytes, #edges, 200}, {self, count, sessions})
    local kinds, reached, names = t.snapshot.meta.edge_types[1], {}, {}
    for _, edge in ipairs(edges) do
      assert.equal(0, edge.to_node % fields)
      assert.is_truthy(nodes[edge.to_node // fields + 1])
      reached[edge.to_node] = true
      if kinds[edge.type + 1] ~= "element" then
        local name = assert(t.strings[edge.name_or_index + 1]):gsub("^%[.-%] %(", "(")
        names[name] = true
      end
    end
    for i = 1, #nodes - 1 do assert.is_true(reached[i * fields]) end
    for _, name in ipairs{"close", "(weak key)", "metatable"} do
      assert.is_true(names[name], name)
    end
    -- without samples, the file has no allocation sites
    assert.same({}, t.samples)
    for _, node in ipairs(nodes) do assert.equal(0, node.trace_node_id) end
  end)

  it("has the allocation sites of sampled objects, as stacks", function()
    local t = convert("assert(profiler.alloc_start(512, {out = '/dev/null'}))\n" ..
                      PROGRAM:gsub("\n", " "))
    local infos = rows(t, "trace_function_infos", "trace_function_info_fields")
    assert.equal(t.snapshot.trace_function_count, #infos)
    local tree, counts, sizes, line = t.trace_tree, {}, {}, false
    assert.same({1, 0}, {tree[1], tree[2]})
    -- each child has five entries: id, function, count, size, children
    for i = 1, #tree[5], 5 do
      local info = assert(infos[tree[5][i + 1] + 1])
      line = line or t.strings[info.name + 1] == "main chunk" and info.line == 3
      counts[tree[5][i]], sizes[tree[5][i]] = tree[5][i + 2], tree[5][i + 3]
    end
    assert.is_true(line)
    local seen = 0
    for _, node in ipairs(rows(t, "nodes", "node_fields")) do
      local id = node.trace_node_id
      if id > 0 then
        seen = seen + 1
        counts[id], sizes[id] = counts[id] - 1, sizes[id] - node.self_size
      end
    end
    assert.is_true(seen > 20, seen)
    for id, n in pairs(counts) do assert.same({0, 0}, {n, sizes[id]}) end
  end)

  -- A former bug: the converter searched a word only among the last 4,096 words, so that a word could be
  -- written twice.
  it("writes the words of a step once, however many there are", function()
    local t = convert [==[
      all = {}
      for round = 0, 1 do
        for i = 1, 5000 do
          all[i] = all[i] or {load("local a return function() return a end", "=f" .. i)}
          all[i][#all[i] + 1] = all[i][1]()
        end
      end
      for _, list in ipairs(all) do list[1] = nil end
    ]==]
    local seen, words = {}, 0
    for _, text in ipairs(t.strings) do
      if text:find "^f%d+:1$" then
        assert.is_nil(seen[text], text)
        seen[text], words = true, words + 1
      end
    end
    assert.equal(5000, words)
  end)
end)
