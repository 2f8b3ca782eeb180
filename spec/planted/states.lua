-- The verdict must name line 5|7|8|11|15, reason chain, holder previous
-- An editor makes a new state for each change. Each state refers to the previous one, for an undo command
-- that the editor does not have.
local function changed(state, line)
  local lines = table.move(state.lines, math.max(1, #state.lines - 10), #state.lines, 1, {})
  local width = math.max(state.width, #line)
  lines[#lines + 1] = {text = line, width = #line}
  return {lines = lines, width = width, version = state.version + 1}
end

local editor = {state = {lines = {}, width = 0, version = 0}}

local function type_(line)
  local old = editor.state
  editor.state = changed(old, line)
  editor.state.previous = old
end

for i = 1, 40000 do type_("line " .. i % 500) end
print(editor.state.version, editor.state.width)
