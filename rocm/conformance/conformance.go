// Package conformance is the one suite that every rocm.Driver passes, so that
// the simulated device may not drift from the real one. It judges results and
// order, never speed, and needs one device with some 64 MiB of free memory.
package conformance

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// clause is one thing a Driver must do.
type clause struct {
	name  string
	check func(e *env)
}

// clauses returns the suite in the order in which it runs. Close is the last.
func clauses() []clause {
	return []clause{
		{"describes itself", describes},
		{"has devices with properties", properties},
		{"keeps the current device of each thread", currentDevice},
		{"refuses a device that does not exist", invalidDevice},
		{"brings memory there and back", roundTrip},
		{"fills exactly the words asked for", fillsExactly},
		{"says out of memory", outOfMemory},
		{"keeps the order of a stream", streamOrder},
		{"runs on the null stream", nullStream},
		{"queries a stream", streamQuery},
		{"finishes a stream that is destroyed", destroyFinishes},
		{"multiplies exactly", exactProducts},
		{"multiplies on the bound stream", boundStream},
		{"follows a new binding", rebinding},
		{"refuses the null handle and writes nothing", nullHandle},
		{"creates handles from many threads", concurrentCreates},
		{"is exact on many streams at once", concurrentStreams},
		{"multiplies bf16 within its bound", bf16Products},
		{"multiplies bf16 on the bound stream", bf16BoundStream},
		{"refuses bf16 on the null handle and writes nothing", bf16NullHandle},
		{"launches kernels", launches},
		{"refuses a block that is too large", oversizedBlock},
		{"resets a device and no other", resets},
		{"closes and drains", closes},
	}
}

// clauseLimit bounds one clause. The slowest wait for handle creations, which
// on real hosts took seconds for eight threads.
const clauseLimit = 60 * time.Second

// Run opens one Driver and checks every clause of the contract on it, each as
// a subtest where t has subtests, and closes it. A clause that does not end
// within a minute fails and ends the suite, with its goroutine left behind.
func Run(t testing.TB, open func() rocm.Driver) {
	t.Helper()
	drv := open()
	if drv == nil {
		t.Errorf("open returned no Driver")
		return
	}
	(&suite{drv: drv, rt: sched.Free(nil), limit: clauseLimit}).run(t, clauses())
}

// suite is one opened Driver under test.
type suite struct {
	drv   rocm.Driver
	rt    *sched.Runtime
	limit time.Duration // of one clause
}

func (s *suite) run(t testing.TB, list []clause) {
	t.Helper()
	for _, c := range list {
		if !subtest(t, c.name, func(t testing.TB) bool { return s.runClause(t, c) }) {
			t.Errorf("suite stopped at %q: the Driver is stuck", c.name)
			return
		}
	}
}

// subtest runs f as a subtest of a *testing.T, and as part of any other TB. It
// returns what f returned.
func subtest(t testing.TB, name string, f func(t testing.TB) bool) bool {
	t.Helper()
	tt, ok := t.(*testing.T)
	if !ok {
		return f(t)
	}
	ended := true
	tt.Run(name, func(t *testing.T) { ended = f(t) })
	return ended
}

// failed is the panic with which a clause ends; it never leaves the package.
type failed struct{ err error }

// runClause checks one clause on a thread of its own and reports whether it
// ended in time.
func (s *suite) runClause(t testing.TB, c clause) bool {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- onThread(s.rt, s.drv, "conformance", c.check) }()
	limit := time.NewTimer(s.limit)
	defer limit.Stop()
	select {
	case err := <-result:
		if err != nil {
			t.Errorf("driver %s: %v", c.name, err)
		}
		return true
	case <-limit.C:
		t.Errorf("driver %s: no end within %v", c.name, s.limit)
		return false
	}
}

// onThread runs check on the calling goroutine, locked to an OS thread since
// real runtimes keep state there, and gives back what check left behind.
func onThread(rt *sched.Runtime, drv rocm.Driver, name string, check func(e *env)) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := &env{drv: drv, rt: rt, th: rt.NewThread(name)}
	if err := guarded(func() { check(e) }); err != nil {
		// What is left of a broken clause is not worth a second report.
		_ = guarded(e.release)
		return err
	}
	return guarded(e.release)
}

// guarded returns the error with which f ended itself.
func guarded(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failed:
			err = p.err
		case error:
			err = fmt.Errorf("panic: %w", p)
		default:
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	f()
	return nil
}

// codeOf returns the API and code of a StatusError, or "" and 0.
func codeOf(err error) (string, int) {
	var st *rocm.StatusError
	if errors.As(err, &st) {
		return st.API, st.Code
	}
	return "", 0
}
