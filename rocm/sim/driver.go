package sim

import (
	"sync/atomic"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// Version is the version that Describe reports for the runtime and for BLAS.
const Version = "sim-1"

// Driver is a simulated ROCm runtime. It implements rocm.Driver,
// rocm.BF16Library, rocm.Resetter and rocm.Launcher and is safe for concurrent
// use.
type Driver struct {
	cfg  Config
	mem  *memory
	null []*stream // the null stream of each device; its worker starts on first use
	// resets counts the resets of each device, up to the memory of the last.
	resets []atomic.Uint64

	streams   *table[stream]
	hosts     *table[hostBlock]
	handles   *table[handle]
	functions *table[function]

	// library is the lock inside rocBLAS that serialises handle creation.
	library *sched.Mutex
	creates atomic.Int64 // creations that got as far as succeeding or failing
	binds   atomic.Int64 // calls of set_stream with a valid handle
	gemmExs atomic.Int64 // calls of gemm_ex that got as far as succeeding or failing

	fault  atomic.Pointer[fault] // the first fault; never cleared
	closed atomic.Bool
}

var (
	_ rocm.Driver      = (*Driver)(nil)
	_ rocm.BF16Library = (*Driver)(nil)
	_ rocm.Resetter    = (*Driver)(nil)
	_ rocm.Launcher    = (*Driver)(nil)
)

// Bases of the handle spaces, apart from each other and from device memory so
// that a handle of one kind is never one of another.
const (
	streamBase   = 0x5100_0000_0000
	hostBase     = 0x5200_0000_0000
	blasBase     = 0x5300_0000_0000
	functionBase = 0x5400_0000_0000
)

// Open returns a simulated runtime. It starts nothing: the workers are started
// by the calls that need them and joined by StreamDestroy, DeviceReset and
// Close. A cfg
// that Validate refuses is an error.
func Open(cfg Config) (*Driver, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := &Driver{
		cfg:       cfg,
		resets:    make([]atomic.Uint64, cfg.Devices),
		mem:       newMemory(),
		streams:   newTable[stream](streamBase),
		hosts:     newTable[hostBlock](hostBase),
		handles:   newTable[handle](blasBase),
		functions: newTable[function](functionBase),
		library:   sched.NewMutex("sim rocBLAS library"),
	}
	for ordinal := range cfg.Devices {
		d.null = append(d.null, newStream(0, ordinal))
	}
	return d, nil
}

// Describe says that this is a simulated device, and which.
func (d *Driver) Describe(*sched.Thread) rocm.Description {
	return rocm.Description{Driver: "sim", Simulated: true, Runtime: Version, BLAS: Version}
}

// Close drains every stream and joins every worker. A second call does
// nothing.
func (d *Driver) Close(th *sched.Thread) error {
	if !d.closed.CompareAndSwap(false, true) {
		return nil
	}
	for _, s := range d.streams.all() {
		if d.streams.take(uintptr(s.id)) != nil {
			s.finish(th)
		}
	}
	for _, s := range d.null {
		s.finish(th)
	}
	return nil
}
