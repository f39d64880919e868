package conformance

import (
	"errors"
	"sync/atomic"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

type undescribed struct{ *sim.Driver }

func (b undescribed) Describe(th *sched.Thread) rocm.Description {
	d := b.Driver.Describe(th)
	d.BLAS = ""
	return d
}

type warpless struct{ *sim.Driver }

func (b warpless) DeviceProps(th *sched.Thread, i int) (rocm.DeviceProps, error) {
	p, err := b.Driver.DeviceProps(th, i)
	p.WarpSize = 0
	return p, err
}

type sharedDevice struct {
	*sim.Driver
	current atomic.Int64
}

func (b *sharedDevice) SetDevice(th *sched.Thread, i int) error {
	b.current.Store(int64(i))
	return b.Driver.SetDevice(th, i)
}

func (b *sharedDevice) GetDevice(*sched.Thread) (int, error) { return int(b.current.Load()), nil }

type anyDevice struct{ *sim.Driver }

func (anyDevice) SetDevice(*sched.Thread, int) error { return nil }

type shortCopy struct{ *sim.Driver }

func (b shortCopy) MemcpyDtoHAsync(th *sched.Thread, dst rocm.HostMem, src rocm.Ptr, words int, s rocm.Stream) error {
	return b.Driver.MemcpyDtoHAsync(th, dst, src, words-1, s)
}

type resizedFill struct {
	*sim.Driver
	by int64
}

func (b resizedFill) MemsetD32Async(th *sched.Thread, p rocm.Ptr, v uint32, words uint64, s rocm.Stream) error {
	return b.Driver.MemsetD32Async(th, p, v, uint64(int64(words)+b.by), s)
}

type vagueMalloc struct{ *sim.Driver }

func (b vagueMalloc) Malloc(th *sched.Thread, bytes uint64) (rocm.Ptr, error) {
	p, err := b.Driver.Malloc(th, bytes)
	if err != nil {
		err = rocm.HipError("hipMalloc", rocm.HipErrorInvalidValue)
	}
	return p, err
}

type overtaking struct{ *sim.Driver }

func (b overtaking) MemcpyDtoHAsync(th *sched.Thread, dst rocm.HostMem, src rocm.Ptr, words int, _ rocm.Stream) error {
	return errors.Join(b.Driver.MemcpyDtoHAsync(th, dst, src, words, 0), b.StreamSynchronize(th, 0))
}

type deadNull struct{ *sim.Driver }

func (b deadNull) MemsetD32Async(th *sched.Thread, p rocm.Ptr, v uint32, words uint64, s rocm.Stream) error {
	if s == 0 {
		return nil
	}
	return b.Driver.MemsetD32Async(th, p, v, words, s)
}

type constantQuery struct {
	*sim.Driver
	answer error
}

func (b constantQuery) StreamQuery(*sched.Thread, rocm.Stream) error { return b.answer }

// dropping delays small memsets to the next synchronisation, and forgets them
// where there is none.
type dropping struct {
	*sim.Driver
	pending []func() error
}

func (b *dropping) MemsetD32Async(th *sched.Thread, p rocm.Ptr, v uint32, words uint64, s rocm.Stream) error {
	if words > 1 {
		return b.Driver.MemsetD32Async(th, p, v, words, s)
	}
	b.pending = append(b.pending, func() error { return b.Driver.MemsetD32Async(th, p, v, words, s) })
	return nil
}

func (b *dropping) StreamDestroy(th *sched.Thread, s rocm.Stream) error {
	b.pending = nil
	return b.Driver.StreamDestroy(th, s)
}

type changed struct {
	*sim.Driver
	change func(g *rocm.SGEMM)
}

func (b changed) RocBLASSgemm(th *sched.Thread, h rocm.BLAS, g rocm.SGEMM) error {
	b.change(&g)
	return b.Driver.RocBLASSgemm(th, h, g)
}

// swapOperands computes B A where the shapes allow it.
func swapOperands(g *rocm.SGEMM) {
	if g.M == g.N {
		g.A, g.B, g.LDA, g.LDB = g.B, g.A, g.M, g.K
	}
}

type unbound struct{ *sim.Driver }

func (b unbound) RocBLASSetStream(th *sched.Thread, h rocm.BLAS, _ rocm.Stream) error {
	return b.Driver.RocBLASSetStream(th, h, 0)
}

// serial waits for every stream where it should wait for one.
type serial struct {
	*sim.Driver
	streams []rocm.Stream
}

func (b *serial) StreamCreate(th *sched.Thread) (rocm.Stream, error) {
	s, err := b.Driver.StreamCreate(th)
	b.streams = append(b.streams, s)
	return s, err
}

func (b *serial) StreamSynchronize(th *sched.Thread, s rocm.Stream) error {
	for _, other := range b.streams {
		if err := b.Driver.StreamSynchronize(th, other); err != nil {
			return err
		}
	}
	return b.Driver.StreamSynchronize(th, s)
}

type bindsOnce struct {
	*sim.Driver
	bound bool
}

func (b *bindsOnce) RocBLASSetStream(th *sched.Thread, h rocm.BLAS, s rocm.Stream) error {
	if b.bound {
		return nil
	}
	b.bound = true
	return b.Driver.RocBLASSetStream(th, h, s)
}

type nullSucceeds struct{ *sim.Driver }

func (b nullSucceeds) RocBLASSgemm(th *sched.Thread, h rocm.BLAS, g rocm.SGEMM) error {
	if h == 0 {
		return nil
	}
	return b.Driver.RocBLASSgemm(th, h, g)
}

type nullWrites struct{ *sim.Driver }

func (b nullWrites) RocBLASSgemm(th *sched.Thread, h rocm.BLAS, g rocm.SGEMM) error {
	err := b.Driver.RocBLASSgemm(th, h, g)
	if h == 0 {
		err = errors.Join(b.MemsetD32Async(th, g.C, 0, 1, 0), err)
	}
	return err
}

type oneHandle struct{ *sim.Driver }

func (oneHandle) RocBLASCreateHandle(*sched.Thread) (rocm.BLAS, error) { return 1, nil }

func (oneHandle) RocBLASDestroyHandle(*sched.Thread, rocm.BLAS) error { return nil }

type secondWrong struct {
	*sim.Driver
	created atomic.Int64
}

func (b *secondWrong) RocBLASCreateHandle(th *sched.Thread) (rocm.BLAS, error) {
	b.created.Add(1)
	return b.Driver.RocBLASCreateHandle(th)
}

func (b *secondWrong) RocBLASSgemm(th *sched.Thread, h rocm.BLAS, g rocm.SGEMM) error {
	if b.created.Load() > 1 {
		g.K--
	}
	return b.Driver.RocBLASSgemm(th, h, g)
}

type lostLaunch struct{ *sim.Driver }

func (lostLaunch) Launch(*sched.Thread, rocm.Function, rocm.Launch) error { return nil }

type anyBlock struct{ *sim.Driver }

func (b anyBlock) Launch(th *sched.Thread, f rocm.Function, l rocm.Launch) error {
	l.Block.X = min(l.Block.X, 64)
	return b.Driver.Launch(th, f, l)
}

type undrained struct{ *sim.Driver }

func (undrained) Close(*sched.Thread) error { return nil }
