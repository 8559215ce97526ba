# If instances end by an event, one stays until then, even at its end.
ends-by-event
net open: start* -> p; done: p -> end
10 a fire open
11 a fire done
   open 1
   end 1 since 11
12 a end
   open 0
   finished 1
   consumed 3
# The end of what is not open is refused.
13 a end
   refused 1
   # The end of an instance is no event.
   events 2
