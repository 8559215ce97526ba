# Where nothing but silent transitions can follow, they fire at once: the instance is over.
net open: start* -> p; tau gate: p -> q; tau out: q -> end
10 a fire open
   open 0
   finished 1
   silent 2
