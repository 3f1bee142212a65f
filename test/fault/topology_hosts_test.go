package fault

import (
	"strings"

	"ringback/test/harness"
	"ringback/test/scan"
)

// startHosts starts two hosts that share only a network with Redis and, in front of the
// hosts, the entry. Each has a separate connection to Redis.
func startHosts(w *world) store {
	network := harness.NewNetwork(w.t)
	redis := harness.StartRedis(w.t, scan.New(), nil)
	w.setKeys()
	var hosts []*harness.Host
	var ways []*harness.Proxy
	var addresses []string
	for i, env := range w.env {
		h, way := network.Host(w.t), harness.StartProxyAt(w.t, network.Addr+":0", redis.Addr())
		hosts, ways, addresses = append(hosts, h), append(ways, way), append(addresses, h.Addr+":3001")
		w.place[i] = h.Run
		env["LISTEN_ADDR"] = h.Addr + ":3001"
		env["REDIS_URL"] = strings.Replace(redis.URL, redis.Addr(), way.Addr, 1)
	}
	w.startReceiver(network.Addr)
	w.entry = harness.StartProxyAt(w.t, network.Addr+":0", addresses...)
	for _, env := range w.env {
		env["CALLBACK_BASE_URL"] = "http://" + w.entry.Addr
	}
	some := func() int { return w.rand.IntN(len(hosts)) }
	return store{faults: []fault{
		{"a host cut off from everything", func() {
			h := hosts[some()]
			h.Cut(w.t)
			w.sleep(w.t.Context(), 6000)
			h.Join(w.t)
		}},
		{"a host cut off from Redis", func() {
			way := ways[some()]
			way.Partition()
			w.sleep(w.t.Context(), 6000)
			way.Heal()
		}},
		{"both hosts cut off", func() {
			for _, h := range hosts {
				h.Cut(w.t)
			}
			w.sleep(w.t.Context(), 3000)
			for _, h := range hosts {
				h.Join(w.t)
			}
		}},
		{"a host's connections to Redis cut", func() { ways[some()].Cut() }},
		{"a host's way to Redis slow", func() { w.slow(ways[some()]) }},
		w.killed(redis), w.paused(redis),
	}}
}
