# A place holds 32 bits of tokens, and no event makes it wrap.
net move: p -> q; back: q -> p
10 a put p 4294967295
11 a put p 1
   refused 1
   p 4294967295 since 10
12 a put q 1
13 a fire back
   refused 2
   q 1 since 12
# An event counts, taken or not.
   events 4
