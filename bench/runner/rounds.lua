-- SPDX-License-Identifier: MIT
-- Measures one program under all configurations. The runs are interleaved: each round runs every
-- configuration once. The order rotates from round to round, so that no configuration always follows the
-- same one. If an output differs from the first one, the program has failed.
-- The result is a row, { program, figures }. figures[config] is a table of lists with one number per round:
-- cpu, wall (seconds), rss (bytes), instructions, and those named in options.keys.

local rounds = {}

local command = require "runner.command"

-- Returns the configurations in the order of round number 'round', from 1.
function rounds.order(configs, round)
  local out = {}
  for i = 1, #configs do out[i] = configs[(i + round - 2) % #configs + 1] end
  return out
end

local function keep(figures, usage)
  for key, list in pairs(figures) do
    if usage[key] then list[#list + 1] = usage[key] end
  end
end

-- Measures a program. Returns a row, or nil and a message. 'runner' is an object of runner.command. Fields
-- of 'options': mode (size of the program); rounds; callgrind (true: count instructions); inspect(config,
-- usage), a function that is called after each run and may add values to 'usage'; keys, the names of these
-- values.
function rounds.measure(runner, program, configs, options)
  local row = { program = program, figures = {} }
  for _, config in ipairs(configs) do
    row.figures[config] = { cpu = {}, wall = {}, rss = {}, instructions = {} }
    for _, key in ipairs(options.keys or {}) do row.figures[config][key] = {} end
  end
  local run = options.callgrind and runner.count or runner.run
  local expected, expected_from
  for round = 1, options.rounds do
    for _, config in ipairs(rounds.order(configs, round)) do
      local words = command.words(config, program, options.mode)
      local usage, output = run(runner, words, config.env, program.dir)
      if not usage then return nil, ("%s under %s: %s"):format(program.name, config.name, output) end
      output = program.clean(output)
      expected, expected_from = expected or output, expected_from or config.name
      if output ~= expected then
        return nil, ("%s: output under %s differs from %s: %q, not %q"):format(
          program.name, config.name, expected_from, output, expected)
      end
      if options.inspect then options.inspect(config, usage) end
      keep(row.figures[config], usage)
    end
  end
  return row
end

-- Runs the program of a row once more under each configuration, to count instructions, and adds these to
-- the row. Its size is tiny if options.mode is tiny, otherwise small. Returns the row, or nil and a
-- message.
function rounds.add_instructions(runner, row, configs, options)
  local counted, message = rounds.measure(runner, row.program, configs, {
    mode = options.mode == "tiny" and "tiny" or "small", rounds = 1, callgrind = true,
  })
  if not counted then return nil, message end
  for _, config in ipairs(configs) do
    row.figures[config].instructions = counted.figures[config].instructions
  end
  return row
end

-- Subtracts the instructions of an empty run from all counts in 'rows'. Returns true, or nil and a message
-- if an empty run fails.
function rounds.subtract_startup(runner, rows, configs)
  for _, config in ipairs(configs) do
    local words = { config.lua }
    table.move(config.options, 1, #config.options, 2, words)
    words[#words + 1] = "-e"
    words[#words + 1] = ""
    local usage, message = runner:count(words, config.env)
    if not usage then return nil, ("empty run under %s: %s"):format(config.name, message) end
    for _, row in ipairs(rows) do
      local list = row.figures[config].instructions
      for i = 1, #list do list[i] = list[i] - usage.instructions end
    end
  end
  return true
end

return rounds
