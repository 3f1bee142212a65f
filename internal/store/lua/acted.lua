-- Books the end of an action's run.
--
-- ARGV[1] run   ARGV[2] success or error   ARGV[3] result, JSON
-- Returns the state it is in.

return end_action(ARGV[1], ARGV[2], ARGV[3])
