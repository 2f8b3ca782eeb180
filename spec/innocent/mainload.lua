-- No leak: loads a dictionary in main(), then looks up words.
local function main()
  local dict = {}
  for i = 1, 30000 do dict["w" .. i] = {i, "meaning " .. i} end
  local sum = 0
  for _ = 1, 40 do
    for i = 1, 30000, 3 do sum = sum + dict["w" .. i][1] end
  end
  print(sum)
end
main()
