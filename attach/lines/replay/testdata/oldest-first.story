# In a place the oldest token leaves first.
net make: -> p; take: p -> q; back: q -> p
10 a fire make
20 a fire make
30 a fire take
   p 1 since 20
   q 1 since 30
   dwell p 20
