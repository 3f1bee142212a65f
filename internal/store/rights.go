package store

import (
	"context"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// needed lists the commands that Ringback uses, directly and in its scripts, each in a form that
// would have no effect even if it ran. % is a key, & a channel. docs/operations.md lists them for
// users.
const needed = `
ping
eval return 0
evalsha 0 0
time
subscribe &
publish & -
exists %
expire % 1
pexpire % 1
rename % %
copy % %
get %
mget %
getrange % 0 0
set % - px 1
setnx % -
setrange % 0 -
incr %
hget % -
hgetall %
hmget % -
hvals %
hscan % 0
hset % - -
hincrby % - 0
hdel % -
llen %
lrange % 0 0
lpop %
ltrim % 0 0
rpush % -
scard %
smembers %
sismember % -
sscan % 0
sadd % -
srem % -
zrange % 0 0
zrangebylex % - +
zrangebyscore % 0 0
zrank % -
zrevrange % 0 0
zrevrangebyscore % 0 0
zscore % -
zcard %
zscan % 0
zadd % 0 -
zrem % -
xrange % - +
xpending % workers
xinfo consumers % workers
xadd % * - -
xdel % 0-1
xack % workers 0-1
xgroup delconsumer % workers -
xreadgroup group workers - streams % >
del %
scan 0
`

// Rights returns the rights that an ACL user needs, in the syntax of ACL SETUSER. Wait also needs
// +wait.
func Rights() []string {
	rights := []string{"~rb:*", "&rb:*", "+multi", "+exec"}
	for line := range strings.SplitSeq(strings.TrimSpace(needed), "\n") {
		name, _, _ := strings.Cut(line, " ")
		rights = append(rights, "+"+name)
	}
	return rights
}

// judgeCommands checks whether each command may be used. Redis refuses a command already when it is
// queued in a transaction. This transaction ends with an unknown command, so it is never run.
func (f *Fitness) judgeCommands(ctx context.Context, c redis.UniversalClient, commands string, whole bool) error {
	pipe := c.TxPipeline()
	for line := range strings.SplitSeq(strings.TrimSpace(commands), "\n") {
		pipe.Do(ctx, probe(line)...)
	}
	for p := range Partition(Partitions) {
		pipe.Do(ctx, "exists", p.key("probe"))
	}
	pipe.Do(ctx, "exists", sessionIndex("probe"))
	pipe.Do(ctx, "ringback-ends-this-transaction")
	answers, err := pipe.Exec(ctx)
	if errorCode(err) == "NOPERM" { // the reply to the first command, MULTI
		f.lack([]string{"+multi"})
		return nil
	}
	return f.judgeAnswers(answers[:len(answers)-1], whole, err)
}

func probe(line string) []any {
	var words []any
	for word := range strings.FieldsSeq(line) {
		switch word {
		case "%":
			words = append(words, Partition(0).key("probe"))
		case "&":
			words = append(words, Partition(0).key("wake"))
		default:
			words = append(words, word)
		}
	}
	return words
}

// judgeAnswers evaluates the replies to queued commands. ended is the reply to the whole
// transaction.
func (f *Fitness) judgeAnswers(answers []redis.Cmder, whole bool, ended error) error {
	var lacking, unknown []string
	for _, cmd := range answers {
		err := cmd.Err()
		switch code := errorCode(err); {
		case err == nil || code == "EXECABORT": // the command is allowed
		case code == "NOPERM":
			lacking = append(lacking, lacks(cmd))
		case code == "READONLY":
			f.fault("%s", isReplica)
			return nil
		case code == "MOVED" && whole:
			f.fault("is one server of a Cluster: name several in REDIS_URL, separated by commas (its only address twice, if it has one)")
			return nil
		case code == "MOVED": // another server has that key
		case strings.Contains(err.Error(), "unknown command"):
			unknown = append(unknown, cmd.Name())
		default:
			return err
		}
	}
	if errorCode(ended) == "EXECABORT" && strings.Contains(ended.Error(), "NOPERM") {
		lacking = append(lacking, "+exec")
	}
	f.lack(lacking)
	if len(unknown) > 0 {
		f.fault("does not know commands that are needed: %s", strings.Join(unknown, ", "))
	}
	if errorCode(ended) == "EXECABORT" {
		return nil
	}
	return ended
}

// lacks returns the right that a refused command needs.
func lacks(cmd redis.Cmder) string {
	switch text := cmd.Err().Error(); {
	case strings.Contains(text, " key"):
		return "~rb:*"
	case strings.Contains(text, " channel"):
		return "&rb:*"
	}
	return "+" + cmd.Name()
}

func (f *Fitness) lack(rights []string) {
	if len(rights) == 0 {
		return
	}
	slices.Sort(rights)
	f.fault("does not allow this user what is needed: give it %s (ACL SETUSER)", strings.Join(slices.Compact(rights), " "))
}
