package conformance

import "rocstress/rocm"

// streamOrder lets every operation of a stream depend on the one before.
func streamOrder(e *env) {
	const steps = 100
	s, p, out := e.stream(), e.malloc(1), e.host(steps)
	e.load(s)
	for i := range uint32(steps) {
		e.fill(p, i, 1, s)
		at := rocm.HostMem{Words: out.Words[i:], Handle: out.Handle}
		e.must(e.drv.MemcpyDtoHAsync(e.th, at, p, 1, s))
	}
	e.sync(s)
	for i := range uint32(steps) {
		e.wantWords("value seen by a step", out.Words[i:i+1], []uint32{i})
	}
}

func nullStream(e *env) {
	p := e.malloc(8)
	e.fill(p, poison, 8, 0)
	e.sync(0)
	e.must(e.drv.StreamQuery(e.th, 0))
	want := []uint32{poison, poison, poison, poison, poison, poison, poison, poison}
	e.wantWords("buffer filled on the null stream", e.read(p, 8, 0), want)
}

func streamQuery(e *env) {
	s := e.stream()
	e.must(e.drv.StreamQuery(e.th, s)) // new: nothing to do
	e.whileLoaded(s, func() {
		if err := e.drv.StreamQuery(e.th, s); !rocm.IsNotReady(err) {
			e.fatalf("StreamQuery of a loaded stream: got %v, want hipErrorNotReady", err)
		}
	})
	e.must(e.drv.StreamQuery(e.th, s)) // whileLoaded has synchronised it
}

func destroyFinishes(e *env) {
	s, err := e.drv.StreamCreate(e.th)
	e.must(err)
	p := e.malloc(1)
	e.write(p, []uint32{1}, 0)
	e.load(s)
	e.fill(p, 2, 1, s)
	e.must(e.drv.StreamDestroy(e.th, s))
	// Free waits for the device; a read beside it need not see the memset.
	e.must(e.drv.Free(e.th, e.leak(1)))
	e.wantWords("buffer filled on a destroyed stream", e.read(p, 1, 0), []uint32{2})
}

// leak allocates words that release does not give back.
func (e *env) leak(words int) rocm.Ptr {
	p, err := e.drv.Malloc(e.th, 4*uint64(words))
	e.must(err)
	return p
}
