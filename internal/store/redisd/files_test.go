package redisd_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/store/redisd"
	"ringback/test/must"
)

// Two keys that always change together, in a script or in a transaction, are the same in every copy, and no copy
// lacks what was answered before it was begun, while Redis rewrites its files.
func TestTheFilesOfARunningStoreAreAMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	embedded := startEmbedded(t, dir)
	must.OK(t, embedded.Client.ConfigSet(t.Context(), "appendfsync", "no").Err()) // to write faster
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	for n := range 3 {
		a, b := fmt.Sprintf("{%d}a", n), fmt.Sprintf("{%d}b", n)
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if i%2 == 0 {
					_ = embedded.Client.Eval(ctx, "redis.call('INCR', KEYS[1]) redis.call('APPEND', KEYS[2], 'x')", []string{a, b}).Err()
					continue
				}
				_, _ = embedded.Client.TxPipelined(ctx, func(p redis.Pipeliner) error {
					p.Incr(ctx, a)
					return p.Append(ctx, b, "x").Err()
				})
			}
		})
	}
	writers.Go(func() {
		for ctx.Err() == nil {
			_ = embedded.Client.BgRewriteAOF(ctx).Err() // it is refused while one runs
		}
	})
	must.Eventually(t, "all keys to exist", func() bool {
		return embedded.Client.Exists(t.Context(), "{0}b", "{1}b", "{2}b").Val() == 3
	})
	for range 10 {
		before := must.Get(embedded.Client.Get(t.Context(), "{0}a").Int())(t)
		files := must.Get(redisd.OpenFiles(dir))(t)
		to := t.TempDir()
		for _, f := range files {
			name := filepath.Join(to, f.Name)
			must.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
			text := must.Get(io.ReadAll(io.LimitReader(f, f.Size)))(t)
			must.Equal(t, f.Size, int64(len(text)), f.Name)
			must.OK(t, os.WriteFile(name, text, 0o600))
		}
		redisd.CloseFiles(files)
		copied := openEmbedded(t, to, 0)
		for n := range 3 {
			count := must.Get(copied.Client.Get(t.Context(), fmt.Sprintf("{%d}a", n)).Int())(t)
			must.Equal(t, int64(count), must.Get(copied.Client.StrLen(t.Context(), fmt.Sprintf("{%d}b", n)).Result())(t), "changes of the other key")
			if n == 0 && count < before {
				t.Errorf("a copy has %d changes; %d were answered before it was begun", count, before)
			}
		}
		copied.Close()
	}
}

func TestADirectoryWithoutAStore(t *testing.T) {
	t.Parallel()
	_, err := redisd.OpenFiles(t.TempDir())
	must.Equal(t, true, os.IsNotExist(err), err)
}
