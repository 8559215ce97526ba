# An event that is older than the last of its instance is taken as of the same time, and counted.
net open: start* -> p; take: p -> q; back: q -> p
10 a fire open
 5 a fire take
   late 1
   q 1 since 10
 7 b fire open
   late 1
