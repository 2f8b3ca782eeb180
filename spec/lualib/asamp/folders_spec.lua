-- SPDX-License-Identifier: MIT
-- The modules of lualib that others may require: only commands read arguments and files, and no two files
-- require each other. The spec reads the required modules in the sources, and the globals that a file uses
-- in its compiled code.

local shell = require "spec.support.shell"

-- For each folder of lualib, a list of the modules, or folders of modules, that its files may require.
local RULES = {
  ["asamp.commands"] = {"asamp.cli", "asamp.show", "asamp.show.page", "asamp.sums",
                        "asamp.host", "profiler.reader", "profiler.convert", "profiler.heap"},
  ["asamp.cli"] = {"asamp.cli", "asamp.show", "asamp.show.page", "asamp.host",
                   "profiler.convert"},
  ["asamp.show.page"] = {"asamp.show.page", "asamp.show", "asamp.sums"},
  ["asamp.show"] = {"asamp.show", "asamp.sums"},
  ["asamp.sums"] = {"asamp.sums"},
  -- rules for single files, which replace those of their folder
  ["asamp"] = {"asamp.commands", "asamp.cli", "asamp.host", "profiler.reader"},
  ["asamp.commands.run"] = {"asamp.cli", "asamp.show", "asamp.sums", "asamp.host",
                            "profiler.convert", "profiler.core", "profiler.options"},
  ["asamp.commands.check"] = {"asamp.cli", "asamp.commands.run", "asamp.host", "asamp.show", "asamp.sums",
                              "profiler.convert"},
  ["asamp.cli.sources"] = {"asamp.show", "asamp.show.page", "asamp.host", "asamp.sums.paths"},
  ["asamp.cli.proving"] = {"asamp.host", "profiler.heap"},
  ["asamp.cli.range"] = {"asamp.cli", "asamp.sums.totals"},
  ["asamp.commands.record"] = {"asamp.cli", "asamp.host", "profiler.options"},
  ["asamp.budget"] = {"asamp.sums", "profiler.convert", "profiler.reader"},
  ["asamp.budget.busted"] = {"asamp.budget", "busted", "luassert"},
  ["profiler"] = {"profiler.core", "profiler.options"},
  ["profiler.process"] = {"profiler.core", "profiler.options"},
}

-- Global functions whose results do not depend on the process. Files outside of commands and cli may use no
-- other globals.
local PURE = {}
for name in ([[assert collectgarbage error getmetatable ipairs math next pairs rawequal rawget rawlen
               rawset require select setmetatable string table tonumber tostring type utf8]]):gmatch "%S+" do
  PURE[name] = true
end

-- Returns the modules in a folder of Lua files: {name = {path =, requires = list of names}}.
local function modulesof(root)
  local modules = {}
  for _, path in ipairs(shell.lines(shell.output("cd " .. root .. " && find . -name '*.lua'"))) do
    local name = path:match "^%./(.*)%.lua$":gsub("/", ".")
    local requires = {}
    for called in shell.read(root .. "/" .. path):gmatch "require%s*%(?%s*[\"']([^\"']+)" do
      -- if the name is computed, as "asamp.commands." .. name, only the folder is known
      requires[#requires + 1] = called:gsub("%.$", "")
    end
    modules[name] = {path = root .. path:sub(2), requires = requires}
  end
  return modules
end

-- Returns the folder of a module: its name without the last part.
local function folderof(name)
  return name:match "^(.*)%.[^.]*$" or name
end

-- Returns true if a module, or the folder that directly contains it, is in the list.
local function among(name, list)
  for _, one in ipairs(list) do
    if name == one or folderof(name) == one then return true end
  end
  return false
end

-- Returns a list of the violations of RULES, as sentences.
local function trespasses(modules)
  local list = {}
  for name, module in pairs(modules) do
    local rule = RULES[name] or RULES[folderof(name)] or {}
    for _, called in ipairs(module.requires) do
      if not among(called, rule) then
        list[#list + 1] = name .. " requires " .. called
      end
    end
  end
  table.sort(list)
  return list
end

-- Returns a list of the cycles among modules, each as a path back to its first module.
local function circles(modules)
  local list, state = {}, {}
  local function visit(name, way)
    if state[name] == "open" then
      list[#list + 1] = table.concat(way, " > ") .. " > " .. name
    elseif modules[name] and not state[name] then
      state[name] = "open"
      for _, called in ipairs(modules[name].requires) do
        visit(called, table.move(way, 1, #way, 2, {name}))
      end
      state[name] = "done"
    end
  end
  for name in pairs(modules) do visit(name, {}) end
  return list
end

-- Returns a list of the globals of a file that are not in PURE.
local function impure(path)
  local list = {}
  local code = shell.output("build/bin/luac -l -p " .. path)
  for global in code:gmatch '_ENV "([%w_]+)"' do
    if not PURE[global] then list[#list + 1] = path .. " uses " .. global end
  end
  return list
end

describe("lualib", function()
  it("requires downwards only", function()
    assert.same({}, trespasses(modulesof "lualib"))
  end)

  it("has no circle", function()
    assert.same({}, circles(modulesof "lualib"))
  end)

  it("reads and prints in commands only", function()
    local found = 0
    for name, module in pairs(modulesof "lualib") do
      if name:find "^asamp%.sums" or name:find "^asamp%.show" then
        found = found + 1
        assert.same({}, impure(module.path))
      end
    end
    assert.is_true(found > 20)
  end)

  -- Checks that the functions above find violations.
  it("would report a forbidden require, a cycle and a file that reads", function()
    local folder = shell.folder()
    finally(function() shell.remove(folder) end)
    shell.output("mkdir -p " .. folder .. "/asamp/sums " .. folder .. "/asamp/show")
    shell.write(folder .. "/asamp/sums/a.lua", 'local b = require "asamp.show.b"\nreturn b, io.open')
    shell.write(folder .. "/asamp/show/b.lua", 'local a = require("asamp.sums.a")\n' ..
      'local host = require "asamp.host"\nreturn a, host')
    local modules = modulesof(folder)
    assert.same({"asamp.show.b requires asamp.host", "asamp.sums.a requires asamp.show.b"},
                trespasses(modules))
    assert.equal(1, #circles(modules))
    assert.same({folder .. "/asamp/sums/a.lua uses io"}, impure(modules["asamp.sums.a"].path))
  end)
end)
