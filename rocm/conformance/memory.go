package conformance

import (
	"math"

	"rocstress/rocm"
)

// distinct returns n words that differ from each other.
func distinct(n int, seed uint32) []uint32 {
	words := make([]uint32, n)
	for i := range words {
		words[i] = (uint32(i) + seed) * 2654435761 // odd: a bijection of 32-bit words
	}
	return words
}

func roundTrip(e *env) {
	s := e.stream()
	for _, n := range []int{1, 3, 1024, 100_003} {
		a, b := e.malloc(n), e.malloc(n)
		e.write(a, distinct(n, 1), s)
		e.write(b, distinct(n, 2), s)
		e.wantWords("first buffer", e.read(a, n, s), distinct(n, 1))
		e.wantWords("second buffer", e.read(b, n, s), distinct(n, 2))
	}
	e.must(e.drv.MemcpyHtoDAsync(e.th, e.malloc(1), e.host(1), 0, s))
	e.sync(s)
}

// fillsExactly fills the middle of a buffer, as poisoning does.
func fillsExactly(e *env) {
	const n, from, words = 1000, 100, 700
	s, p := e.stream(), e.malloc(n)
	want := distinct(n, 3)
	e.write(p, want, s)
	e.fill(p+4*from, poison, words, s)
	for i := range words {
		want[from+i] = poison
	}
	e.wantWords("buffer with a filled middle", e.read(p, n, s), want)
}

func outOfMemory(e *env) {
	p, err := e.drv.Malloc(e.th, math.MaxInt64)
	if err == nil {
		e.must(e.drv.Free(e.th, p))
	}
	e.wantCode("Malloc of 2^63-1 bytes", err, "hip", rocm.HipErrorOutOfMemory)
	p = e.malloc(16) // and the device goes on
	e.write(p, distinct(16, 4), 0)
	e.wantWords("memory after out of memory", e.read(p, 16, 0), distinct(16, 4))
}
