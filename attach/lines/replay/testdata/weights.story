# Only what is missing is added, and an inhibitor that blocks makes an event unfit without a token missing.
net two: p -2> q; free: p o> -> r; go: q -> p
10 a put p 1
11 a fire two
   unfit 1
   missing 1
   q 1 since 11
12 a put p 5
13 a fire free
   unfit 2
   missing 1
   r 1 since 13
   p 5 since 12
14 a put p -7
   unfit 3
   missing 3
   p 0
