# Tokens stand where the last event put them, and are as old as that event.
net open: start* -> p; take: p -> q; done: q -> end
10 a fire open
12 b fire open
15 a fire take
   p 1 since 12
   q 1 since 15
   fitness 1
20 a fire done
   end 0
   finished 1
   open 1
