package sched_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/harness/sched"
)

// program is a generated protocol: what each task does, in order. It may
// deadlock.
type program [][]instruction

type instruction struct {
	op  string
	arg int
}

func drawProgram(rt *rapid.T) program {
	one := rapid.Custom(func(t *rapid.T) instruction {
		op := rapid.SampledFrom([]string{"point", "lock", "rlock", "wlock", "sleep", "await", "deadline", "set", "unlock"}).Draw(t, "op")
		return instruction{op, rapid.IntRange(0, 2).Draw(t, "arg")}
	})
	return rapid.SliceOfN(rapid.SliceOfN(one, 0, 8), 1, 4).Draw(rt, "program")
}

// world is what a program works on.
type world struct {
	mutex [3]sched.Mutex
	table [3]sched.RWMutex
	flag  [3]bool
	bad   string // a broken rule of the seam
	now   time.Duration
	inM   [3]int // tasks inside mutex
	inW   [3]int // writers inside table
	inR   [3]int // readers inside table
}

func (w *world) rule(ok bool, text string) {
	if !ok && w.bad == "" {
		w.bad = text
	}
}

func (w *world) tick(th *sched.Thread) {
	w.rule(th.Now() >= w.now, "the clock ran backwards")
	w.now = th.Now()
}

// run executes one task. Locks are released in reverse order, at the latest
// when it ends.
func (w *world) run(th *sched.Thread, code []instruction) {
	var undo []func()
	pop := func() { undo[len(undo)-1](); undo = undo[:len(undo)-1] }
	defer func() {
		for len(undo) > 0 {
			pop()
		}
	}()
	for _, in := range code {
		i := in.arg
		switch in.op {
		case "point":
			th.Point("p")
		case "lock":
			w.mutex[i].Lock(th)
			w.inM[i]++
			w.rule(w.inM[i] == 1, "two tasks hold one Mutex")
			undo = append(undo, func() { w.inM[i]--; w.mutex[i].Unlock(th) })
		case "rlock":
			w.table[i].RLock(th)
			w.inR[i]++
			w.rule(w.inW[i] == 0, "a reader beside a writer")
			undo = append(undo, func() { w.inR[i]--; w.table[i].RUnlock(th) })
		case "wlock":
			w.table[i].Lock(th)
			w.inW[i]++
			w.rule(w.inW[i] == 1 && w.inR[i] == 0, "a writer is not alone")
			undo = append(undo, func() { w.inW[i]--; w.table[i].Unlock(th) })
		case "unlock":
			if len(undo) > 0 {
				pop()
			}
		case "sleep":
			before := th.Now()
			th.Sleep(time.Duration(i))
			w.rule(th.Now() >= before+time.Duration(i), "woke early")
		case "set":
			w.flag[i] = true
		case "await":
			th.WaitUntil("flag", nil, func() bool { return w.flag[i] })
			w.rule(w.flag[i], "went on before the condition held")
		case "deadline":
			limit := th.Now() + time.Duration(i)
			held := th.WaitUntilDeadline("flag", nil, limit, func() bool { return w.flag[i] })
			w.rule(held == w.flag[i], "the result is not the condition")
			w.rule(held || th.Now() >= limit, "timed out early")
		}
		w.tick(th)
	}
}

func (p program) explore(s sched.Strategy) (*world, sched.Schedule) {
	w := &world{}
	return w, sched.Explore(sched.Config{Strategy: s}, func(th *sched.Thread) {
		var tasks []*sched.Task
		for i, code := range p {
			tasks = append(tasks, sched.Go(th, fmt.Sprintf("task-%d", i+1), func(th *sched.Thread) { w.run(th, code) }))
		}
		for _, t := range tasks {
			t.Join(th)
		}
	})
}

func TestSchedulesKeepTheRulesOfTheSeam(t *testing.T) {
	ends := map[sched.End]int{}
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		w, s := drawProgram(rt).explore(sched.RandomWalk(rapid.Uint64().Draw(rt, "seed")))
		ends[s.End]++
		g.Expect(w.bad).To(BeEmpty())
		g.Expect(s.End).To(BeElementOf(sched.Done, sched.Deadlock), "%v\n%s", s.Panic, s.Stack)
		g.Expect(s.Blocked != nil).To(Equal(s.End == sched.Deadlock))
		g.Expect([]any{w.inM, w.inR, w.inW}).To(HaveEach(Equal([3]int{})), "every lock was released")
		g.Expect(s.Choices).To(HaveLen(len(s.Steps)))
	})
	NewWithT(t).Expect(ends).To(HaveLen(2), "the programs reach both ends")
}

func TestTheSameSeedIsTheSameSchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		p, seed := drawProgram(rt), rapid.Uint64().Draw(rt, "seed")
		_, first := p.explore(sched.RandomWalk(seed))
		_, second := p.explore(sched.RandomWalk(seed))
		g.Expect(fmt.Sprintf("%#v", second)).To(Equal(fmt.Sprintf("%#v", first)))
	})
}

func TestReplayRepeatsASchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		p, seed := drawProgram(rt), rapid.Uint64().Draw(rt, "seed")
		_, first := p.explore(sched.RandomWalk(seed))
		_, second := p.explore(sched.Replay(first.Choices))
		g.Expect(fmt.Sprintf("%#v", second)).To(Equal(fmt.Sprintf("%#v", first)))
	})
}

// A list of choices that fits nothing is a schedule as well.
func TestReplayTakesAnyChoices(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		p := drawProgram(rt)
		w, s := p.explore(sched.Replay(rapid.SliceOf(rapid.IntRange(-2, 9)).Draw(rt, "choices")))
		g.Expect(w.bad).To(BeEmpty())
		g.Expect(s.End).To(BeElementOf(sched.Done, sched.Deadlock))
	})
}

func TestReplayRunsTheCurrentTaskOnWhereAChoiceDoesNotFit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		p := drawProgram(rt)
		_, none := p.explore(sched.Replay(nil))
		_, misfits := p.explore(sched.Replay([]int{99, -1, 99, 99, -1, 99, 99, 99, 99, 99, 99, 99}))
		g.Expect(misfits).To(Equal(none))
	})
}

func TestRandomWalkIsUniform(t *testing.T) {
	g := NewWithT(t)
	const n, draws = 5, 100000
	walk := sched.RandomWalk(9)
	var counts [n]int
	for range draws {
		counts[walk.Next(sched.State{Enabled: make([]sched.Choice, n)})]++
	}
	chi := 0.0
	for _, c := range counts {
		d := float64(c) - draws/n
		chi += d * d / (draws / n)
	}
	g.Expect(chi).To(BeNumerically("<", 18.47), "chi-squared, 4 degrees of freedom, p = 0.001")
	g.Expect(sched.RandomWalk(1)).NotTo(Equal(sched.RandomWalk(2)))
}
