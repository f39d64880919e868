package rocm

import (
	"errors"
	"fmt"

	"rocstress/harness/sched"
)

// Lease is the right to enqueue on the Device's rocBLAS handle, bound to one
// stream. It belongs to the thread that acquired it and holds the Device's
// lock until Release, so a holder enqueues and releases without waiting for
// anything.
type Lease struct {
	dev    *Device
	handle BLAS
	locked bool // false where bind and GEMM are not one critical section
	done   bool
}

// RocBLASAvailable reports whether GEMMs can take rocBLAS, creating the handle
// if nobody has. Once the handle is ready it takes no lock, so that it is safe
// to ask while holding a lease. A failed creation is not remembered: the next
// call tries again.
func (d *Device) RocBLASAvailable(th *sched.Thread) bool {
	if !d.facts.RocBLAS {
		d.warnOnce(ErrUnsupportedArch)
		return false
	}
	th.Point(PointFlagRead)
	if d.ready.Load() {
		return true
	}
	if d.keeps(RocBLASInitLock) {
		d.mu.Lock(th)
		defer d.mu.Unlock(th)
	}
	_, err := d.createIfNeeded(th)
	return err == nil
}

// AcquireRocBLAS locks the handle, creates it if needed and binds it to s. The
// caller must Release the lease, by defer, so that a panic releases it too.
//
// Errors: ErrUnsupportedArch; a *StatusError of the failed creation, which the
// next call tries again; "rocblas_set_stream failed (status N)", wrapping its
// *StatusError.
func (d *Device) AcquireRocBLAS(th *sched.Thread, s Stream) (*Lease, error) {
	if !d.facts.RocBLAS {
		d.warnOnce(ErrUnsupportedArch)
		return nil, ErrUnsupportedArch
	}
	h, have, err := d.handleBeforeLock(th)
	if err != nil {
		return nil, err
	}
	d.mu.Lock(th)
	locked := true
	defer func() {
		if locked {
			d.mu.Unlock(th)
		}
	}()
	if !have {
		if h, err = d.createIfNeeded(th); err != nil {
			return nil, err
		}
	}
	if err := d.bind(th, h, s); err != nil {
		return nil, err
	}
	locked = !d.keeps(RocBLASBindLock)
	return &Lease{dev: d, handle: h, locked: !locked}, nil
}

// handleBeforeLock is what a removed protection does ahead of the lock: trust
// the flag and take whatever handle is there, or create outside the mutex. It
// reports whether it settled the handle. With both protections in place it
// does nothing.
func (d *Device) handleBeforeLock(th *sched.Thread) (h BLAS, have bool, err error) {
	if !d.keeps(RocBLASPublishAfterCreate) {
		th.Point(PointFlagRead)
		if d.ready.Load() {
			th.Point(PointHandleRead)
			return BLAS(d.handle.Load()), true, nil
		}
	}
	if !d.keeps(RocBLASInitLock) {
		h, err = d.createIfNeeded(th)
		return h, err == nil, err
	}
	return 0, false, nil
}

// createIfNeeded returns the handle, creating it where there is none. The
// caller holds mu, unless rocblas-init-lock is removed. A failure leaves no
// trace but the warning.
func (d *Device) createIfNeeded(th *sched.Thread) (BLAS, error) {
	publishFirst := !d.keeps(RocBLASPublishAfterCreate)
	if d.failed.Load() {
		return 0, errGivenUp
	}
	th.Point(PointHandleRead)
	if publishFirst && d.ready.Load() {
		return BLAS(d.handle.Load()), nil
	}
	if h := BLAS(d.handle.Load()); h != 0 && !publishFirst {
		return h, nil
	}
	if publishFirst {
		th.Point(PointFlagSet)
		d.ready.Store(true)
	}
	if err := d.MakeCurrent(th); err != nil {
		return 0, err
	}
	th.Point(PointCreate)
	h, err := d.drv.RocBLASCreateHandle(th)
	if err != nil {
		d.warnOnce(err)
		if !d.keeps(RocBLASRetryAfterFailure) {
			d.failed.Store(true)
		}
		return 0, err
	}
	d.created.Add(1)
	th.Point(PointPublish)
	d.handle.Store(uintptr(h))
	if !publishFirst {
		th.Point(PointFlagSet)
		d.ready.Store(true)
	}
	return h, nil
}

// bind binds h to s unless the Device believes it is. The caller holds mu.
func (d *Device) bind(th *sched.Thread, h BLAS, s Stream) error {
	th.Point(PointBindCheck)
	if Stream(d.bound.Load()) == s {
		return nil
	}
	th.Point(PointBind)
	if err := d.drv.RocBLASSetStream(th, h, s); err != nil && d.keeps(RocBLASStatusCheck) {
		var st *StatusError
		if errors.As(err, &st) {
			return fmt.Errorf("rocblas_set_stream failed (status %d): %w", st.Code, err)
		}
		return err
	}
	d.bound.Store(uintptr(s))
	return nil
}

// Release gives the lease back. Releasing twice does nothing.
func (l *Lease) Release(th *sched.Thread) {
	if l.done {
		return
	}
	l.done = true
	if l.locked {
		l.locked = false
		l.dev.mu.Unlock(th)
	}
}
