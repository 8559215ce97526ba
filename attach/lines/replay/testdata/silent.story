# The fewest silent transitions that an event needs fire with it.
net open: start* -> p; tau split: p -> l m; left: l -> x; right: m -> y; tau join: x y -> z; tau loop: z -> p; done: z -> end
10 a fire open
   p 1 since 10
20 a fire left
   silent 1
   x 1 since 20
   m 1 since 20
   unfit 0
30 a fire right
   y 1 since 30
   silent 1
40 a fire left
   silent 4
   m 1 since 40
50 a fire done
   unfit 1
