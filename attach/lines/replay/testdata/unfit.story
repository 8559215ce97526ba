# What the marking does not allow is repaired: the missing token is added, and the transition fires.
net open: start* -> p; take: p -> q; done: q -> end
10 a fire take
   unfit 1
   missing 1
   q 1 since 10
   start 1 since 10
# It reached its end, but a token of its start remains: it stays open until an event ends it.
20 a fire done
   open 1
30 a end
   open 0
   remaining 1
   failed 1
# 1 missing of 3 consumed, 1 remaining of 3 produced
   consumed 3
   produced 3
   fitness 0.6666666666666667
