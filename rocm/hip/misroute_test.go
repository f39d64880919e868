package hip

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// atSgemm is a Delayer that tells when a thread is about to call rocblas_sgemm.
type atSgemm struct {
	once    sync.Once
	reached chan struct{}
}

func (a *atSgemm) Delay(_ int, p sched.Point) time.Duration {
	if p == PointSgemm {
		a.once.Do(func() { close(a.reached) })
	}
	return 0
}

type misrouted struct {
	Err     seen
	Status  seen   // of the GEMM
	Own     uint32 // the output, read on the stream the GEMM was meant for
	Drained uint32 // the output after the stream it went to
}

const unwritten = 0x7fc0beef

// childMisroute binds a handle to another, loaded stream while a GEMM is
// inside the library: the GEMM lands there, with every status success.
func childMisroute() any {
	runtime.LockOSThread()
	at := &atSgemm{reached: make(chan struct{})}
	rt := sched.Free(at)
	th := rt.NewThread("child")
	d, err := Open(0)
	if err != nil {
		return misrouted{Err: see(err)}
	}
	own, err1 := d.StreamCreate(th)
	other, err2 := d.StreamCreate(th)
	load, err3 := d.Malloc(th, 1<<20)
	p, err4 := d.Malloc(th, 4096)
	m, err5 := d.HostAlloc(th, 3)
	h, err6 := d.RocBLASCreateHandle(th)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return misrouted{Err: see(err)}
	}
	m.Words[0], m.Words[1], m.Words[2] = math.Float32bits(3), math.Float32bits(5), unwritten
	c := p + 8
	var r misrouted
	r.Err = see(errors.Join(
		d.MemcpyHtoDAsync(th, p, m, 3, own),
		d.StreamSynchronize(th, own),
		d.RocBLASSetStream(th, h, own),
		d.MemsetD32Async(th, load, 0, 1<<18, other),
	))
	var status error
	gemm := sched.Go(th, "gemm", func(th *sched.Thread) {
		status = d.RocBLASSgemm(th, h, rocm.SGEMM{M: 1, N: 1, K: 1, Alpha: 1, A: p, LDA: 1, B: p + 4, LDB: 1, C: c, LDC: 1})
	})
	<-at.reached
	bind := d.RocBLASSetStream(th, h, other)
	gemm.Join(th)
	r.Status = see(status)
	read := func(s rocm.Stream) (uint32, error) {
		err := errors.Join(d.MemcpyDtoHAsync(th, m, c, 1, s), d.StreamSynchronize(th, s))
		return m.Words[0], err
	}
	var errOwn, errOther error
	r.Own, errOwn = read(own)
	r.Drained, errOther = read(other)
	if err := errors.Join(bind, errOwn, errOther); err != nil {
		r.Err = see(err)
	}
	return r
}
