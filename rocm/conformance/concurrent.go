package conformance

import (
	"sync"

	"rocstress/rocm"
)

// threads is how many threads the concurrent clauses run, as the harness does.
const threads = 8

func concurrentCreates(e *env) {
	var mu sync.Mutex
	owner := map[rocm.BLAS]int{}   // guarded by mu
	var ready, held sync.WaitGroup // all start at once; handles live until all exist
	ready.Add(threads)
	held.Add(threads)
	e.team(threads, func(e *env, i int) {
		ready.Done()
		ready.Wait()
		err := guarded(func() { e.claim(i, &mu, owner) })
		held.Done()
		held.Wait()
		e.must(err)
	})
}

// claim creates a handle that nobody else may have.
func (e *env) claim(i int, mu *sync.Mutex, owner map[rocm.BLAS]int) {
	h := e.handle()
	mu.Lock()
	defer mu.Unlock()
	if j, taken := owner[h]; taken {
		e.fatalf("threads %d and %d were given the same handle", j, i)
	}
	owner[h] = i
}

// concurrentStreams gives each thread a stream and a handle of its own.
func concurrentStreams(e *env) {
	const rounds = 8
	e.team(threads, func(e *env, i int) {
		s, h := e.stream(), e.handle()
		e.must(e.drv.RocBLASSetStream(e.th, h, s))
		for r := range rounds {
			p := e.newProduct(dense(32, 16, 24), 100+i*rounds+r, s)
			e.poisonC(p, s)
			e.must(e.drv.RocBLASSgemm(e.th, h, p.SGEMM))
			e.wantWords("product beside other threads", e.readC(p, s), p.want)
		}
	})
}
