package fault

import (
	"time"

	"ringback/test/harness"
)

// startSentinel starts a Redis and its replica under three Sentinels. The replica is in
// sync whenever the primary is killed.
func startSentinel(w *world) store {
	group := harness.StartSentinel(w.t)
	return sentinelStore(w, group, func(primary, replica *harness.RedisServer) bool {
		return primary.KillInStep(w.t, replica)
	})
}

// startLagging is the same with a replica that lags: it is disconnected for a while, and
// returns when the primary is gone. What was accepted in between may be lost.
func startLagging(w *world) store {
	group := harness.StartSentinel(w.t)
	return sentinelStore(w, group, func(primary, replica *harness.RedisServer) bool {
		begin := time.Now()
		if !primary.AwaitInStep(w.t, replica) {
			return false
		}
		w.killBehind(primary, replica)
		w.losses.add(begin, time.Now())
		return true
	})
}

// startWaiting is startLagging with responses that wait for the replica: nothing that
// clients rely on is lost.
func startWaiting(w *world) store {
	w.losses.reportsOnly = true
	for _, env := range w.env {
		env["REDIS_WAIT"] = "1"
	}
	return startLagging(w)
}

// killBehind kills a primary while its replica is disconnected and lacks the last writes,
// and brings the replica back.
func (w *world) killBehind(primary, replica *harness.RedisServer) {
	replica.Kill()
	w.sleep(w.t.Context(), 1500)
	primary.Kill()
	replica.Start(w.t)
}

// sentinelStore is a Sentinel group whose primary is killed repeatedly by kill, which
// returns false if it could not.
func sentinelStore(w *world, group *harness.SentinelGroup, kill func(primary, replica *harness.RedisServer) bool) store {
	expected, seen := group.Primary(w.t), time.Now()
	// unplanned records failovers caused by a slow machine: what they lose is not
	// Ringback's fault.
	unplanned := func() {
		group.AwaitReplica(w.t)
		if now := group.Primary(w.t); now != expected {
			w.faults.add("failover of its own")
			w.losses.add(seen, time.Now())
			expected = now
		}
		seen = time.Now()
	}
	return store{
		url:    group.URL,
		repair: unplanned,
		faults: []fault{
			{"primary killed, replica promoted", func() {
				unplanned()
				primary := group.Primary(w.t)
				if primary == nil || !kill(primary, group.Other(primary)) {
					return
				}
				expected = group.Other(primary)
				harness.Eventually(w.t, "the replica to be promoted", func() bool { return group.Primary(w.t) == expected })
				primary.Start(w.t)
				group.AwaitReplica(w.t) // with REDIS_WAIT, no node starts without a replica
			}},
			{"connections to Redis cut", func() { cutClients(w, group.Servers) }},
		},
	}
}

// startCluster starts a Redis Cluster of three primaries with a replica each, which is in
// sync when its primary is killed.
func startCluster(w *world) store {
	cluster := harness.StartCluster(w.t, 1)
	return clusterStore(w, cluster, func(primary, replica *harness.RedisServer) bool {
		return primary.KillInStep(w.t, replica)
	})
}

func clusterStore(w *world, cluster *harness.Cluster, kill func(primary, replica *harness.RedisServer) bool) store {
	return store{
		url:    cluster.URL,
		repair: func() { cluster.AwaitWhole(w.t, 1) },
		faults: []fault{
			{"primary killed, replica promoted", func() {
				cluster.AwaitWhole(w.t, 1)
				primaries := cluster.Primaries(w.t)
				primary := primaries[w.rand.IntN(len(primaries))]
				replicas := cluster.ReplicasOf(w.t, primary)
				if len(replicas) != 1 || !kill(primary, replicas[0]) {
					return
				}
				harness.Eventually(w.t, "a replica to be promoted", func() bool { return len(cluster.Primaries(w.t)) == len(primaries) })
				primary.Start(w.t)
			}},
			{"connections to Redis cut", func() { cutClients(w, cluster.Servers) }},
		},
	}
}

// cutClients ends all connections of clients.
func cutClients(w *world, servers []*harness.RedisServer) {
	for _, r := range servers {
		client := r.Client()
		_ = client.Do(w.t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err()
		_ = client.Do(w.t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err()
		client.Close()
	}
}
