package conformance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// env is what a clause works with: a Driver, a thread, and everything the
// clause took, which release gives back.
type env struct {
	drv rocm.Driver
	rt  *sched.Runtime
	th  *sched.Thread

	undo    []func() error // in order of taking
	filler  filler
	staging rocm.HostMem // for write and read, so that they allocate nothing beside a loaded stream
}

// filler is work that keeps a stream busy for a while.
type filler struct {
	p     rocm.Ptr
	words uint64
	times int
}

func (e *env) fatalf(format string, args ...any) {
	panic(failed{fmt.Errorf(format, args...)})
}

// must ends the clause on an error.
func (e *env) must(err error) {
	if err != nil {
		panic(failed{err})
	}
}

// wantCode ends the clause unless err is a StatusError of this API and code.
func (e *env) wantCode(what string, err error, api string, code int) {
	gotAPI, gotCode := codeOf(err)
	if gotAPI != api || gotCode != code {
		e.fatalf("%s: got %v, want %s status %d", what, err, api, code)
	}
}

// release gives back everything in the reverse order of taking.
func (e *env) release() {
	var errs []error
	for i := len(e.undo) - 1; i >= 0; i-- {
		errs = append(errs, e.undo[i]())
	}
	e.undo = nil
	e.must(errors.Join(errs...))
}

func (e *env) malloc(words int) rocm.Ptr {
	p, err := e.drv.Malloc(e.th, 4*uint64(words))
	e.must(err)
	if p == 0 {
		e.fatalf("Malloc of %d words returned the null pointer", words)
	}
	e.undo = append(e.undo, func() error { return e.drv.Free(e.th, p) })
	return p
}

func (e *env) host(words int) rocm.HostMem {
	m, err := e.drv.HostAlloc(e.th, words)
	e.must(err)
	if len(m.Words) < words {
		e.fatalf("HostAlloc of %d words returned %d", words, len(m.Words))
	}
	e.undo = append(e.undo, func() error { return e.drv.HostFree(e.th, m) })
	return m
}

func (e *env) stream() rocm.Stream {
	s, err := e.drv.StreamCreate(e.th)
	e.must(err)
	if s == 0 {
		e.fatalf("StreamCreate returned the null stream")
	}
	e.undo = append(e.undo, func() error { return e.drv.StreamDestroy(e.th, s) })
	return s
}

func (e *env) handle() rocm.BLAS {
	h, err := e.drv.RocBLASCreateHandle(e.th)
	e.must(err)
	if h == 0 {
		e.fatalf("RocBLASCreateHandle returned the null handle")
	}
	e.undo = append(e.undo, func() error { return e.drv.RocBLASDestroyHandle(e.th, h) })
	return h
}

func (e *env) sync(s rocm.Stream) { e.must(e.drv.StreamSynchronize(e.th, s)) }

// stage returns host memory of n words that the next write or read reuses.
func (e *env) stage(n int) rocm.HostMem {
	if n > len(e.staging.Words) {
		e.staging = e.host(max(n, stagingWords))
	}
	return e.staging
}

const stagingWords = 1 << 14

// write copies words to the device through s and waits.
func (e *env) write(dst rocm.Ptr, words []uint32, s rocm.Stream) {
	m := e.stage(len(words))
	copy(m.Words, words)
	e.must(e.drv.MemcpyHtoDAsync(e.th, dst, m, len(words), s))
	e.sync(s)
}

// read returns words from the device, copied through s, and waits.
func (e *env) read(src rocm.Ptr, words int, s rocm.Stream) []uint32 {
	m := e.stage(words)
	for i := range words {
		m.Words[i] = unread
	}
	e.must(e.drv.MemcpyDtoHAsync(e.th, m, src, words, s))
	e.sync(s)
	return slices.Clone(m.Words[:words])
}

// unread and poison are words that no result of the suite equals: NaNs with a
// payload of their own.
const (
	unread uint32 = 0x7fc0dead
	poison uint32 = 0x7fc0beef
)

func (e *env) fill(p rocm.Ptr, v uint32, words int, s rocm.Stream) {
	e.must(e.drv.MemsetD32Async(e.th, p, v, uint64(words), s))
}

// wantWords ends the clause at the first word that differs.
func (e *env) wantWords(what string, got, want []uint32) {
	if len(got) != len(want) {
		e.fatalf("%s: got %d words, want %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			e.fatalf("%s: word %d of %d is %#x (as float %v), want %#x (as float %v)", what, i, len(want),
				got[i], math.Float32frombits(got[i]), want[i], math.Float32frombits(want[i]))
		}
	}
}

const (
	fillerTime     = 40 * time.Millisecond // long beside any host step of a clause
	fillerMinimum  = time.Millisecond      // one memset, so that enqueuing keeps ahead
	fillerMaxWords = 1 << 24               // 64 MiB
	fillerMaxTimes = 2000
)

// load makes s late by about fillerTime of device work.
func (e *env) load(s rocm.Stream) {
	if e.filler.times == 0 {
		e.measureFiller(s)
	}
	for range e.filler.times {
		e.must(e.drv.MemsetD32Async(e.th, e.filler.p, 0, e.filler.words, s))
	}
}

// measureFiller sizes the filler on this device.
func (e *env) measureFiller(s rocm.Stream) {
	for words := uint64(1 << 18); ; words *= 4 {
		p := e.malloc(int(words))
		began := e.th.Now()
		e.must(e.drv.MemsetD32Async(e.th, p, 0, words, s))
		e.sync(s)
		took := e.th.Now() - began
		if took < fillerMinimum && words < fillerMaxWords {
			continue
		}
		times := int(fillerTime/max(took, 1)) + 1
		e.filler = filler{p: p, words: words, times: min(times, fillerMaxTimes)}
		return
	}
}

// whileLoaded loads busy and runs f, until busy was still not done when f had
// returned: only then has f shown that it did not wait for busy. A device that
// never stays busy that long fails.
func (e *env) whileLoaded(busy rocm.Stream, f func()) {
	const attempts = 4
	for range attempts {
		e.load(busy)
		f()
		err := e.drv.StreamQuery(e.th, busy)
		e.sync(busy)
		if rocm.IsNotReady(err) {
			return
		}
		e.must(err)
		e.filler.times *= 2
	}
	e.fatalf("the loaded stream was idle each of %d times the other work was done: it is waited for, or StreamQuery never says NotReady", attempts)
}

// team runs f on n locked threads at once and ends the clause with their
// errors.
func (e *env) team(n int, f func(e *env, i int)) {
	errs := make(chan error, n)
	for i := range n {
		go func() {
			errs <- onThread(e.rt, e.drv, fmt.Sprintf("conformance-%d", i), func(e *env) { f(e, i) })
		}()
	}
	var all []error
	for range n {
		all = append(all, <-errs)
	}
	e.must(errors.Join(all...))
}
