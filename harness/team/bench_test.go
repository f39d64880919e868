package team

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkBarrier measures the release skew of locked threads, and that of
// its peer, a closed channel, in turns. Metrics are nanoseconds over all
// threads but the first of each release.
func BenchmarkBarrier(b *testing.B) {
	for _, threads := range []int{2, 4, 8} {
		b.Run(fmt.Sprintf("threads-%d", threads), func(b *testing.B) {
			var ours, peers []int64
			for b.Loop() {
				ours = append(ours, teamSkews(b, threads)...)
				peers = append(peers, channelSkews(threads)...)
			}
			report(b, "barrier", ours)
			report(b, "channel", peers)
		})
	}
}

func report(b *testing.B, name string, skew []int64) {
	slices.Sort(skew)
	b.ReportMetric(float64(skew[len(skew)/2]), name+"-p50-ns")
	b.ReportMetric(float64(skew[len(skew)*99/100]), name+"-p99-ns")
}

func teamSkews(b *testing.B, threads int) []int64 {
	res, err := Run(context.Background(), Config{Threads: threads}, func(_ context.Context, m *Member) error {
		return m.Barrier()
	})
	if err != nil {
		b.Fatal(err)
	}
	return withoutFirst(res.SkewNS)
}

func withoutFirst(skew []int64) []int64 {
	slices.Sort(skew)
	return skew[1:]
}

// channelSkews releases the same locked threads by closing a channel once all
// are about to wait on it.
func channelSkews(threads int) []int64 {
	_, restore := raiseProcs(threads)
	defer restore()
	var arrived, joined sync.WaitGroup
	arrived.Add(threads)
	release := make(chan struct{})
	start := time.Now()
	at := make([]time.Duration, threads)
	for i := range threads {
		joined.Go(func() {
			runtime.LockOSThread()
			arrived.Done()
			<-release
			at[i] = time.Since(start)
		})
	}
	arrived.Wait()
	close(release)
	joined.Wait()
	first := slices.Min(at)
	skew := make([]int64, threads)
	for i := range at {
		skew[i] = (at[i] - first).Nanoseconds()
	}
	return withoutFirst(skew)
}
