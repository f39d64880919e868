package sched_test

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"rocstress/harness/sched"
)

// BenchmarkExplore runs schedules of three tasks and reports their rate, and
// its ratio to that of a bare iter.Pull round-robin of as many coroutines and
// switches, measured in turns.
func BenchmarkExplore(b *testing.B) {
	for _, points := range []int{10, 100} {
		for _, noSteps := range []bool{false, true} {
			b.Run(fmt.Sprintf("points-%d/no-steps-%v", points, noSteps), func(b *testing.B) {
				cfg := sched.Config{Strategy: sched.RandomWalk(1), NoSteps: noSteps}
				compareWithBare(b, func() sched.Schedule {
					return sched.Explore(cfg, func(th *sched.Thread) {
						pass := func(th *sched.Thread) {
							for range points {
								th.Point("p")
							}
						}
						together(th, pass, pass, pass)
					})
				})
			})
		}
	}
}

// BenchmarkExploreMixed is the same with locks, sleeps and conditions between
// the points.
func BenchmarkExploreMixed(b *testing.B) {
	cfg := sched.Config{Strategy: sched.RandomWalk(1), NoSteps: true}
	compareWithBare(b, func() sched.Schedule {
		var mu sched.Mutex
		done := 0
		return sched.Explore(cfg, func(th *sched.Thread) {
			work := func(th *sched.Thread) {
				for range 4 {
					mu.Lock(th)
					th.Point("locked")
					mu.Unlock(th)
					th.Sleep(time.Microsecond)
				}
				done++
				th.WaitUntil("all", nil, func() bool { return done == 3 })
			}
			together(th, work, work, work)
		})
	})
}

func compareWithBare(b *testing.B, schedule func() sched.Schedule) {
	const coroutines = 4 // root and three tasks
	var ours, bare time.Duration
	steps := 0
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		s := schedule()
		middle := time.Now()
		roundRobin(coroutines, len(s.Choices))
		bare += time.Since(middle)
		ours += middle.Sub(start)
		steps += len(s.Choices)
		if s.End != sched.Done {
			b.Fatal(s.End, s.Blocked, s.Panic)
		}
	}
	b.ReportMetric(float64(bare)/float64(ours), "x-bare-rate")
	b.ReportMetric(float64(b.N)/ours.Seconds(), "schedules/s")
	b.ReportMetric(float64(ours)/float64(steps), "ns/step")
}

// roundRobin resumes n coroutines in turn until steps switches are made.
func roundRobin(n, steps int) {
	nexts := make([]func() (struct{}, bool), n)
	stops := make([]func(), n)
	for i := range n {
		nexts[i], stops[i] = iter.Pull(func(yield func(struct{}) bool) {
			for yield(struct{}{}) {
			}
		})
	}
	for i := range steps {
		nexts[i%n]()
	}
	for _, stop := range stops {
		stop()
	}
}

// BenchmarkPointOff is a point of a free run without delays.
func BenchmarkPointOff(b *testing.B) {
	th := sched.Free(nil).NewThread("bench")
	for b.Loop() {
		th.Point("p")
	}
}

func BenchmarkMutexFree(b *testing.B) {
	th := sched.Free(nil).NewThread("bench")
	var mu sched.Mutex
	for b.Loop() {
		mu.Lock(th)
		mu.Unlock(th)
	}
}

func BenchmarkWakeNobody(b *testing.B) {
	th := sched.Free(nil).NewThread("bench")
	var c sched.Cond
	for b.Loop() {
		c.Wake(th)
	}
}
