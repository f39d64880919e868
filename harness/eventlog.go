package harness

import (
	"fmt"

	"rocstress/childproc/wire"
)

const (
	maxSkews    = 4096 // threads whose skew is kept of one child
	maxProvoked = 16
)

// EventLog sums up the events of one child in bounded memory. The zero value
// is ready. Not safe for concurrent use.
type EventLog struct {
	Hello      *wire.Hello
	Phase      string // the last one entered
	SkewNS     []int64
	Overlap    int // the largest of its barriers
	FirstError *wire.FirstError
	Provoked   []Outcome
	Done       bool
	// AfterDone counts events after done, done itself among them: a body that
	// ends twice has told nothing.
	AfterDone int

	passed int
	failed map[Outcome]*failedChecks
}

// failedChecks are the failed checks of one child that speak for one outcome.
type failedChecks struct {
	first wire.Check
	count int // outputs, where a check counts them
}

// Add takes the next event.
func (l *EventLog) Add(e wire.Event) {
	if l.Done {
		l.AfterDone++
	}
	switch e.Kind {
	case wire.KindHello:
		l.Hello = e.Hello
	case wire.KindPhase:
		l.Phase = e.Phase
	case wire.KindRelease:
		room := maxSkews - len(l.SkewNS)
		l.SkewNS = append(l.SkewNS, e.Release.SkewNS[:min(room, len(e.Release.SkewNS))]...)
		l.Overlap = max(l.Overlap, e.Release.Overlap)
	case wire.KindCheck:
		l.check(*e.Check)
	case wire.KindFirstError:
		if l.FirstError == nil {
			l.FirstError = e.FirstError
		}
	case wire.KindProvoked:
		if len(l.Provoked) < maxProvoked {
			l.Provoked = append(l.Provoked, Outcome(cut(e.Provoked, maxSignature)))
		}
	case wire.KindDone:
		l.Done = true
	}
}

func (l *EventLog) check(c wire.Check) {
	if c.OK {
		l.passed++
		return
	}
	o := checkOutcome(c.Kind)
	f := l.failed[o]
	if f == nil {
		if l.failed == nil {
			l.failed = map[Outcome]*failedChecks{}
		}
		f = &failedChecks{first: c}
		l.failed[o] = f
	}
	f.count += max(1, c.Count)
}

func checkOutcome(kind string) Outcome {
	switch kind {
	case wire.FailUnwritten:
		return UnwrittenOutput
	case wire.FailNaN:
		return NaNOutput
	case wire.FailWrong:
		return WrongResult
	}
	return CheckFailed
}

// evidence says which check failed and how.
func (f *failedChecks) evidence() string {
	if f.first.Detail != "" {
		return f.first.Name + ": " + f.first.Detail
	}
	return fmt.Sprintf("%s failed, %d times", f.first.Name, f.count)
}
