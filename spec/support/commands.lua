-- SPDX-License-Identifier: MIT
-- Functions that run subcommands of asamp in this process, for specs of their output.

local assert = require "luassert"
local layout = require "asamp.show.layout"
local reader = require "profiler.reader"

local M = {}

local function none() end

-- Returns a function that runs a subcommand (a module asamp.commands.NAME) with the given arguments. The
-- function returns its exit code, stdout and stderr. A subcommand accesses its environment through the
-- table 'world' (see asamp.lua); 'more' has additional fields for this table.
function M.of(command, more)
  return function(...)
    local out, err = {}, {}
    local world = {
      read = reader.read, color = false,
      progress = function() return none, none end,
      out = function(s) out[#out + 1] = s end,
      err = function(s) err[#err + 1] = s end,
    }
    for k, v in pairs(more or {}) do world[k] = v end
    local code = command.run({...}, world)
    return code, table.concat(out), table.concat(err)
  end
end

--- Asserts that no line of the text is wider than 'columns'.
function M.fits(text, columns)
  for line in text:gmatch "[^\n]*" do
    assert.is_true(layout.width(line) <= columns, line)
  end
end

--- Asserts that the text contains each of the given strings.
function M.has(text, ...)
  for _, piece in ipairs{...} do
    assert.truthy(text:find(piece, 1, true), piece .. "\nmissing in\n" .. text)
  end
end

return M
