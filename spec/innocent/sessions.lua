-- No leak: each session is removed after some time, while others are opened.
math.randomseed(3)
local sessions, open = {}, 0
for i = 1, 60000 do
  sessions[i] = {id = i, basket = {i, i + 1}, seen = "page " .. i % 100}
  open = open + 1
  if open > 2000 then
    for k = i - 2000, i do
      if sessions[k] and math.random(4) == 1 then
        sessions[k] = nil
        open = open - 1
        if open <= 1800 then break end
      end
    end
    local gone = i - 4000
    if sessions[gone] then
      sessions[gone] = nil
      open = open - 1
    end
  end
end
print(open > 0)
