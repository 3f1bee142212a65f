-- Moves a running job to another phase, on behalf of the turn that it is in.
--
-- ARGV[1] request id   ARGV[2] turn   ARGV[3] node   ARGV[4] the phase
-- Returns "ok", or "stale" where the turn is not the job's running one any more.

local j = load_job(ARGV[1])
if not j or j.state ~= 'running' or j.turn ~= tonumber(ARGV[2]) or j.owner ~= ARGV[3] then return 'stale' end
change_phase(j, ARGV[4])
return 'ok'
