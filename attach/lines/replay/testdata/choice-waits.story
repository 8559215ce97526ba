# Where an event can still come, silent transitions wait for it.
net open: start* -> p; tau out: p -> end; again: p -> p
10 a fire open
   open 1
   p 1 since 10
20 a fire again
   p 1 since 20
   unfit 0
30 a end
   finished 1
   fitness 1
