package harness

import (
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

// Sighting is everything that was seen of one child that ran.
type Sighting struct {
	Exit    childproc.Exit
	Events  *EventLog
	Hits    []Hit     // of a Scan over its outputs
	Expects []Outcome // what its scenario provokes on purpose
}

// Finding is what a child came to and what decided it.
type Finding struct {
	Outcome   Outcome
	Flags     Flags
	Signature string // of failures; "" otherwise
	Evidence  string // bounded, untrusted
}

// Classify decides what a child came to. It is pure: the same sighting gives
// the same finding.
//
// A child that exited 0 with its done event is judged by its checks. For every
// other end all evidence is collected, and the outcome that comes first in the
// order of precedence wins: text that was printed before the harness ended the
// child, a native status that the body returned, the exit itself.
func Classify(s Sighting) Finding {
	f := Finding{Flags: s.flags()}
	var won candidate
	switch {
	case s.Exit.Killed && s.Exit.KillReason == childproc.ReasonCanceled:
		won = candidate{NotMeasured, "", "interrupted: the campaign was ended while the child ran"}
	case s.endedWell():
		won, f.Flags.Provoked = s.judgeChecks()
	default:
		won = s.strongest()
	}
	f.Outcome, f.Evidence = won.outcome, bounded(won.evidence)
	if won.outcome != Pass && won.outcome != NotMeasured {
		f.Signature = signature(won.outcome, won.stable)
	}
	return f
}

// candidate is an outcome that some evidence speaks for.
type candidate struct {
	outcome  Outcome
	stable   string // the stable part of the evidence
	evidence string
}

func (s Sighting) endedWell() bool {
	return s.Exit.Code == 0 && s.Exit.Signal == 0 && !s.Exit.Killed && s.Events.Done && s.Events.AfterDone == 0 && s.Exit.BadEvents == 0
}

func (s Sighting) flags() Flags {
	f := Flags{Phase: s.Events.Phase, HarnessKilled: s.Exit.Killed, LeakedPipes: s.Exit.LeakedPipes}
	if s.Events.Done {
		f.Phase = wire.PhaseTeardown
	}
	if s.Events.FirstError != nil {
		f.FirstError = bounded(s.Events.FirstError.Text)
	}
	f.RaceReport = slices.ContainsFunc(s.Hits, func(h Hit) bool { return h.weight == race })
	return f
}

// judgeChecks judges a child that exited 0 with done. provoked is the outcome
// that its scenario brought about on purpose.
func (s Sighting) judgeChecks() (won candidate, provoked string) {
	var unexpected *candidate
	if len(s.Events.Provoked) > 0 {
		provoked = string(s.Events.Provoked[0])
	}
	for _, h := range s.Hits {
		switch {
		case h.weight == warning && !slices.Contains(s.Expects, LaunchError):
			// The device warns when a create fails; a scenario that fails
			// creates on purpose expects launch errors.
			if unexpected == nil {
				unexpected = &candidate{CheckFailed, "unexpected_warning", h.Text}
			}
		case h.weight != decisive || !faultText(h.Outcome):
		case slices.Contains(s.Expects, h.Outcome):
			if provoked == "" {
				provoked = string(h.Outcome)
			}
		case unexpected == nil || unexpected.stable == "unexpected_warning":
			unexpected = &candidate{CheckFailed, "unexpected_fault: " + signature(h.Outcome, h.Stable), h.Text}
		}
	}
	if c, ok := s.failedCheck(); ok {
		return c, provoked
	}
	if unexpected != nil {
		return *unexpected, provoked
	}
	return candidate{outcome: Pass}, provoked
}

// faultText reports whether text for o is a fault even where the child went
// on. Missing libraries and refused allocations are not: programs handle them.
func faultText(o Outcome) bool {
	switch o {
	case DeviceFault, DriverReset, QueueAbort, HeapCorruption, HostCrash:
		return true
	}
	return false
}

// failedCheck returns the failed check that comes first in the order of
// precedence.
func (s Sighting) failedCheck() (candidate, bool) {
	for _, o := range outcomes {
		if f := s.Events.failed[o]; f != nil {
			return candidate{o, stablePart(f.first.Name), f.evidence()}, true
		}
	}
	return candidate{}, false
}

// strongest returns the first in the order of precedence of everything that
// speaks for an outcome; of equals the earliest.
func (s Sighting) strongest() candidate {
	all := s.fromText()
	if c, ok := s.fromFirstError(); ok {
		all = append(all, c)
	}
	all = append(all, s.fromExit())
	if c, ok := s.failedCheck(); ok {
		all = append(all, c)
	}
	return slices.MinFunc(all, func(a, b candidate) int { return a.outcome.rank() - b.outcome.rank() })
}

// fromText returns what the outputs speak for, the earliest first.
func (s Sighting) fromText() []candidate {
	var all []candidate
	for _, h := range s.Hits {
		if h.weight != decisive && (h.weight != onFailure || !s.failed()) {
			continue
		}
		if h.beforeHello && s.Events.Hello != nil || s.afterKill(h) {
			continue
		}
		all = append(all, candidate{h.Outcome, h.Stable, h.Text})
	}
	return all
}

// failed reports whether the exit itself says that something went wrong.
func (s Sighting) failed() bool { return s.Exit.Code != 0 || s.Exit.Signal != 0 || s.Exit.Killed }

// afterKill reports whether h was printed only once the harness was ending the
// child: stack dumps quote a lot.
func (s Sighting) afterKill(h Hit) bool { return s.Exit.Killed && h.At > s.Exit.KilledAt }

// fromFirstError reads the error that a body returned: without done the first
// error is its own.
func (s Sighting) fromFirstError() (candidate, bool) {
	e := s.Events.FirstError
	if e == nil || s.Events.Done {
		return candidate{}, false
	}
	c := candidate{HostAbort, stablePart(e.Text), e.Text}
	switch e.Kind {
	case wire.ErrorLibraryMissing:
		c.outcome = LibraryMissing
	case wire.ErrorNoDevice:
		c.outcome = NoDevice
	case wire.ErrorStatus:
		c.outcome = statusOutcome(e.Name)
		if e.Call != "" {
			c.stable = stablePart(fmt.Sprintf("%s failed: %s", e.Call, e.Name))
		}
	}
	return c, true
}

// statusOutcome returns the outcome of a native failure. A sticky illegal
// address is a fault of the device and a refused allocation is one of memory,
// whichever call reported it.
func statusOutcome(name string) Outcome {
	switch name {
	case "hipErrorIllegalAddress":
		return DeviceFault
	case "hipErrorOutOfMemory", "rocblas_status_memory_error":
		return OutOfMemory
	}
	return LaunchError
}

// fromExit reads the exit alone.
func (s Sighting) fromExit() candidate {
	x := s.Exit
	switch {
	case x.Killed:
		return candidate{Timeout, "phase " + s.phase(), fmt.Sprintf(
			"no end within its deadline, killed after %v in phase %s; %d threads, %v of CPU time within %v",
			x.KilledAt, s.phase(), len(x.Evidence.Threads), x.Evidence.Busy(), x.Evidence.Interval)}
	case x.Signal != 0:
		name := unix.SignalName(x.Signal)
		switch x.Signal {
		case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL:
			return candidate{HostCrash, name, "ended by " + name}
		}
		return s.named(candidate{HostAbort, name, "ended by " + name})
	case x.Code != 0:
		return s.named(candidate{HostAbort, fmt.Sprintf("exit %d", x.Code), s.exitText()})
	case x.BadEvents > 0:
		return candidate{Incomplete, "unreadable events", fmt.Sprintf(
			"exit 0, but %d lines of its events cannot be read: %s", x.BadEvents, x.BadEventSample)}
	}
	if s.Events.AfterDone > 0 {
		return candidate{Incomplete, "events after done", fmt.Sprintf("exit 0, but %d events came after the first done", s.Events.AfterDone)}
	}
	return candidate{Incomplete, "", "exit 0, but no done event: the body did not finish"}
}

func (s Sighting) exitText() string {
	if s.Exit.WaitError != "" {
		return "its exit status could not be read: " + s.Exit.WaitError
	}
	return fmt.Sprintf("exit code %d", s.Exit.Code)
}

func (s Sighting) phase() string {
	if p := s.flags().Phase; p != "" {
		return p
	}
	return "start"
}

// named adds to an abort what the program said before it.
func (s Sighting) named(c candidate) candidate {
	for _, h := range s.Hits {
		if h.weight == hint || h.weight == race {
			return candidate{c.outcome, h.Stable, c.evidence + ": " + h.Text}
		}
	}
	return c
}
