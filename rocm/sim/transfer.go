package sim

import (
	"sync/atomic"
	"time"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// MemcpyHtoDAsync enqueues a copy to the device.
func (d *Driver) MemcpyHtoDAsync(th *sched.Thread, dst rocm.Ptr, src rocm.HostMem, words int, s rocm.Stream) error {
	const call = "hipMemcpyHtoDAsync"
	if err := d.enterCopy(call, src, words); err != nil || words == 0 {
		return err
	}
	return d.enqueue(th, call, s, &upload{dst: dst, src: src.Words[:words]})
}

// MemcpyDtoHAsync enqueues a copy to the host. The worker writes the host's
// words atomically, so that a caller who may not look yet can.
func (d *Driver) MemcpyDtoHAsync(th *sched.Thread, dst rocm.HostMem, src rocm.Ptr, words int, s rocm.Stream) error {
	const call = "hipMemcpyDtoHAsync"
	if err := d.enterCopy(call, dst, words); err != nil || words == 0 {
		return err
	}
	return d.enqueue(th, call, s, &download{dst: dst.Words[:words], src: src})
}

// MemsetD32Async enqueues the filling of words words with v.
func (d *Driver) MemsetD32Async(th *sched.Thread, dst rocm.Ptr, v uint32, words uint64, s rocm.Stream) error {
	const call = "hipMemsetD32Async"
	if err := d.enter(call); err != nil || words == 0 {
		return err
	}
	if words > maxMemory/wordBytes {
		return rocm.HipError(call, rocm.HipErrorInvalidValue)
	}
	return d.enqueue(th, call, s, &fill{dst: dst, v: v, words: words})
}

// enterCopy checks the host side of a copy. The device side is checked where
// the device touches it.
func (d *Driver) enterCopy(call string, m rocm.HostMem, words int) error {
	if err := d.enter(call); err != nil {
		return err
	}
	if words < 0 || words > len(m.Words) || d.hosts.get(m.Handle) == nil {
		return rocm.HipError(call, rocm.HipErrorInvalidValue)
	}
	return nil
}

type upload struct {
	dst rocm.Ptr
	src []uint32
}

func (u *upload) run(w *worker) error {
	err := w.mem().Store(u.dst, u.src)
	w.elapse(timeFor(uint64(len(u.src))*wordBytes, w.cfg().CopyRate))
	return err
}

type download struct {
	dst []uint32
	src rocm.Ptr
}

func (c *download) run(w *worker) error {
	words := w.words(len(c.dst))
	err := w.mem().Load(words, c.src)
	w.elapse(timeFor(uint64(len(words))*wordBytes, w.cfg().CopyRate))
	if err != nil {
		return err
	}
	for i, v := range words {
		atomic.StoreUint32(&c.dst[i], v)
	}
	return nil
}

type fill struct {
	dst   rocm.Ptr
	v     uint32
	words uint64
}

func (f *fill) run(w *worker) error {
	err := w.mem().fill(f.dst, f.v, f.words)
	w.elapse(timeFor(f.words*wordBytes, w.cfg().MemsetRate))
	return err
}

// timeFor returns how long amount takes at rate a second. Rate 0 is
// infinitely fast.
func timeFor(amount, rate uint64) time.Duration {
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(amount) / float64(rate) * float64(time.Second))
}
