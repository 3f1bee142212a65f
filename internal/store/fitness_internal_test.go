package store

import (
	"errors"
	"strings"
	"testing"

	"ringback/internal/job"
)

// The fields are in the form in which real servers report them.
func TestServersAreToldApart(t *testing.T) {
	t.Parallel()
	const rest = "\r\nrole:master\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"
	for name, c := range map[string]struct{ info, fault, warning string }{
		"Redis 7":                    {"redis_version:7.0.15" + rest, "", ""},
		"Redis 6.2":                  {"redis_version:6.2.0" + rest, "", ""},
		"Redis 6.10, were there one": {"redis_version:6.10.1" + rest, "", ""},
		"Redis unstable":             {"redis_version:255.255.255" + rest, "", ""},
		"Redis 6.0":                  {"redis_version:6.0.16" + rest, "is version 6.0.16; at least 6.2 is needed", ""},
		"Redis 5":                    {"redis_version:5.0.7" + rest, "is version 5.0.7", ""},
		"Redis 2.8":                  {"redis_version:2.8.4" + rest, "is version 2.8.4", ""},
		"Valkey":                     {"server_name:valkey\r\nvalkey_version:8.1.1\r\nredis_version:7.2.4" + rest, "", ""},
		"Valkey alone":               {"valkey_version:9.0.0" + rest, "", ""},
		"KeyDB":                      {"redis_version:6.3.4" + rest, "", ""},
		"KeyDB with two primaries":   {"redis_version:6.3.4" + strings.Replace(rest, "master", "active-replica", 1), "", ""},
		"Dragonfly":                  {"redis_version:7.4.0\r\ndragonfly_version:df-v1.27.1\r\nrole:master\r\nmaxmemory_policy:noeviction", "", "does not show this user (INFO): appendonly."},
		"Dragonfly as a cache":       {"redis_version:7.4.0\r\nrole:master\r\nmaxmemory_policy:eviction", "(maxmemory-policy eviction)", "appendonly"},
		"a Sentinel":                 {"redis_version:7.0.15\r\nredis_mode:sentinel", "is a Sentinel: name the group", ""},
		"a replica":                  {"redis_version:7.0.15" + strings.Replace(rest, "master", "slave", 1), "is a replica", ""},
		"a nearly full one":          {"used_memory:91\r\nmaxmemory:100\r\nredis_version:7.0.15" + rest, "", "has used more than 90 % of its maxmemory"},
		"a half full one":            {"used_memory:50\r\nmaxmemory:100\r\nredis_version:7.0.15" + rest, "", ""},
		"one without a limit":        {"used_memory:91\r\nmaxmemory:0\r\nredis_version:7.0.15" + rest, "", ""},
		"a version unheard of":       {"redis_version:latest" + rest, "", "does not show this user (INFO): its version."},
		"nothing":                    {"", "", "its version, whether it is a replica, maxmemory-policy, appendonly"},
		"no INFO at all":             {"<html>\nno: Redis", "", "its version, whether"},
	} {
		f := judgeInfo(parseInfo(c.info))
		if got := strings.Join(f.Faults, "|"); !strings.Contains(got, c.fault) || (c.fault == "") != (got == "") {
			t.Errorf("%s: faults %q, want %q", name, got, c.fault)
		}
		if got := strings.Join(f.Warnings, "|"); !strings.Contains(got, c.warning) || (c.warning == "") != (got == "") {
			t.Errorf("%s: warnings %q, want %q", name, got, c.warning)
		}
	}
}

func TestReplicasAreCounted(t *testing.T) {
	t.Parallel()
	const online, behind = "ip=::1,port=1,state=online,offset=1,lag=0", "ip=::1,port=1,state=wait_bgsave,offset=0,lag=0"
	for name, c := range map[string]struct {
		info           string
		want           int
		fault, warning string
	}{
		"as many as are waited for": {"role:master\r\nconnected_slaves:1\r\nslave0:" + online, 1, "", ""},
		"one is not in step":        {"role:master\r\nslave0:" + online + "\r\nslave1:" + behind, 2, "has 1 replicas in step, and REDIS_WAIT=2", ""},
		"none":                      {"role:master\r\nslave_read_repl_offset:5", 1, "has 0 replicas in step", ""},
		"more":                      {"role:master\r\nslave0:" + online + "\r\nslave1:" + online, 1, "", "Only REDIS_WAIT=2 excludes this"},
		"more, one not in step":     {"role:master\r\nslave0:" + online + "\r\nslave1:" + behind, 1, "", "has 2 replicas, and REDIS_WAIT=1 waits for fewer"},
		"not reported":              {"", 1, "", ""},
	} {
		var f Fitness
		f.judgeReplicas(parseInfo(c.info), c.want)
		if got := strings.Join(f.Faults, "|"); !strings.Contains(got, c.fault) || (c.fault == "") != (got == "") {
			t.Errorf("%s: faults %q, want %q", name, got, c.fault)
		}
		if got := strings.Join(f.Warnings, "|"); !strings.Contains(got, c.warning) || (c.warning == "") != (got == "") {
			t.Errorf("%s: warnings %q, want %q", name, got, c.warning)
		}
	}
}

// answer is an error reply from Redis.
type answer string

func (a answer) Error() string { return string(a) }

func (answer) RedisError() {}

// Callers retry errors that end by themselves or that the operator can fix.
func TestStoreErrorsSayWhetherTheSameCanBeSentAgain(t *testing.T) {
	t.Parallel()
	for text, kind := range map[string]job.ErrorKind{
		"MISCONF Errors writing to the AOF file: No space left on device":                                                                   job.Unavailable,
		"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. script: f00, on @user_script:25.": job.Unavailable,
		"ERR Error running script (call to f_f00): @user_script:25: @user_script: 25: -MISCONF Errors writing to the AOF file":              job.Unavailable,
		"ERR Error running script (call to f_f00): @user_script:25: @user_script: 25: -OOM command not allowed":                             job.Unavailable,
		"OOM command not allowed when used memory > 'maxmemory'.":                                                                           job.Unavailable,
		"NOREPLICAS Not enough good replicas to write.":                                                                                     job.Unavailable,
		"READONLY You can't write against a read only replica.":                                                                             job.Unavailable,
		"LOADING Redis is loading the dataset in memory":                                                                                    job.Unavailable,
		"EXECABORT Transaction discarded because of previous errors.":                                                                       job.Unavailable,
		"BUSY Redis is busy running a script":                                                                                               job.Unavailable,
		"NOPERM this user has no permissions to run the 'evalsha' command":                                                                  job.Unavailable,
		"WRONGPASS invalid username-password pair or user is disabled.":                                                                     job.Unavailable,
		"WRONGTYPE Operation against a key holding the wrong kind of value":                                                                 job.Internal,
		"ERR syntax error":        job.Internal,
		"BUSYGROUP is not BUSY":   job.Internal,
		"ERR MISCONF is not said": job.Internal,
		"":                        job.Internal,
	} {
		var e *job.Error
		if err := storeError(t.Context(), answer(text)); !errors.As(err, &e) || e.Kind != kind {
			t.Errorf("%q is %v, want %s", text, err, kind)
		}
	}
}
