-- No leak: each round replaces the whole population of a genetic algorithm.
local population = {}
for i = 1, 1000 do population[i] = {genes = {i, i, i}, score = i} end
for _ = 1, 60 do
  local following = {}
  for i = 1, #population do
    local a = population[i]
    following[i] = {genes = {a.genes[2], a.genes[3], i}, score = a.score + 1}
  end
  population = following
end
print(#population)
