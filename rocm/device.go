package rocm

import (
	"errors"
	"fmt"
	"sync/atomic"

	"rocstress/harness/sched"
)

// Config are the settings of a Device.
type Config struct {
	Ordinal int // of the device; 0 is the first
	Removed Set // protections to do without; nil: none
	// Warn receives the one warning a Device ever prints, a line without its
	// end. nil drops it.
	Warn func(line string)
}

// Device is one GPU as the threads of a backend share it. All methods are safe
// for concurrent use as long as no protection is removed.
type Device struct {
	drv   Driver
	cfg   Config
	props DeviceProps
	facts ArchFacts
	lazy  lazyFacts // used without arch-at-construction only
	probe lazyFact  // of bf16; used without no-reset-probe only

	warned  atomic.Bool  // the one warning was given
	created atomic.Int64 // rocBLAS handles ever created
	dropped atomic.Int64 // rocBLAS handles destroyed

	// mu is the one mutex of the handle protocol, as in the seed. It is never
	// held together with naive.mu.
	mu sched.Mutex
	// The three fields below are written under mu while every protection is
	// in place, and are atomics so that removing one leaves racy logic and
	// not a data race.
	handle atomic.Uintptr // BLAS; 0 until created
	ready  atomic.Bool    // handle is usable, readable without mu
	bound  atomic.Uintptr // Stream that handle is bound to
	// failed is set without rocblas-retry-after-failure only: a creation
	// failed, and nobody tries again.
	failed atomic.Bool

	naive naiveKernel
}

// NewDevice makes the device current for th and reads its properties. The
// rocBLAS handle is created by its first user.
func NewDevice(th *sched.Thread, drv Driver, cfg Config) (*Device, error) {
	if err := drv.SetDevice(th, cfg.Ordinal); err != nil {
		return nil, err
	}
	props, err := drv.DeviceProps(th, cfg.Ordinal)
	if err != nil {
		return nil, err
	}
	return &Device{drv: drv, cfg: cfg, props: props, facts: FactsOf(props.Arch)}, nil
}

// Props returns the properties of the device.
func (d *Device) Props() DeviceProps { return d.props }

// MakeCurrent makes the device current for th, as every thread must before it
// enqueues.
func (d *Device) MakeCurrent(th *sched.Thread) error {
	return d.drv.SetDevice(th, d.cfg.Ordinal)
}

// NewStream returns a stream of this device, owned by the caller.
func (d *Device) NewStream(th *sched.Thread) (Stream, error) {
	if err := d.MakeCurrent(th); err != nil {
		return 0, err
	}
	return d.drv.StreamCreate(th)
}

// HandleCount is the life of a Device's rocBLAS handles.
type HandleCount struct {
	Created   int
	Destroyed int
}

// Live returns how many handles exist. One is right once a GEMM has run; more
// are leaks.
func (c HandleCount) Live() int { return c.Created - c.Destroyed }

// Handles returns how many rocBLAS handles were created and destroyed.
func (d *Device) Handles() HandleCount {
	return HandleCount{Created: int(d.created.Load()), Destroyed: int(d.dropped.Load())}
}

// Close destroys the rocBLAS handle. Streams belong to their owners. Nothing
// of the Device may be in use.
func (d *Device) Close(th *sched.Thread) error {
	d.mu.Lock(th)
	defer d.mu.Unlock(th)
	h := BLAS(d.handle.Load())
	if h == 0 {
		return nil
	}
	d.ready.Store(false)
	d.handle.Store(0)
	d.bound.Store(0)
	if err := d.drv.RocBLASDestroyHandle(th, h); err != nil {
		return err
	}
	d.dropped.Add(1)
	return nil
}

func (d *Device) keeps(p Protection) bool { return !d.cfg.Removed.Has(p) }

// warnOnce gives the Device's one warning.
func (d *Device) warnOnce(err error) {
	if d.cfg.Warn != nil && d.warned.CompareAndSwap(false, true) {
		d.cfg.Warn(fmt.Sprintf("Warning: rocBLAS cannot be used, GEMMs take the naive kernel: %v", err))
	}
}

// ErrUnsupportedArch is the permanent refusal of a device whose architecture
// rocBLAS ships no kernels for.
var ErrUnsupportedArch = errors.New("rocBLAS is not available on this GPU architecture")

// errGivenUp is what a Device without rocblas-retry-after-failure answers once
// a creation has failed.
var errGivenUp = errors.New("rocBLAS is not available: an earlier creation of its handle failed")
