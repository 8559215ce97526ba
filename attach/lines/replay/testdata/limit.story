# With room for two, the one that was silent for longest makes room.
limit 2
net open: start* -> p; take: p -> q; back: q -> p
10 a fire open
11 b fire open
12 a fire take
13 c fire open
   evicted 1
   open 2
   q 1 since 12
   p 1 since 13
