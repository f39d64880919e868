package hip

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

var _ rocm.Launcher = (*Driver)(nil)

// kernel is one loaded function with the module that holds it.
type kernel struct {
	module   uintptr // hipModule_t
	function uintptr // hipFunction_t
	device   int
	// code is the code object. The runtime reads it where it is for as long
	// as the module is loaded (ROCm/clr makes no copy).
	code []byte
	// gone is set when a reset took the module away: it must not be unloaded.
	gone atomic.Bool
}

// kernels are the functions that were loaded. A Function is an index into
// them, counted from 1. Launches take no lock: one around them would keep
// callers apart that are meant to race.
type kernels struct {
	mu  sync.Mutex                // serialises writers
	all atomic.Pointer[[]*kernel] // replaced, never changed
}

func (k *kernels) list() []*kernel {
	if all := k.all.Load(); all != nil {
		return *all
	}
	return nil
}

func (k *kernels) add(one *kernel) rocm.Function {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := append(append([]*kernel(nil), k.list()...), one)
	k.all.Store(&all)
	return rocm.Function(len(all))
}

// get returns a loaded kernel, nil for anything that LoadKernel did not return.
func (k *kernels) get(f rocm.Function) *kernel {
	all := k.list()
	if f == 0 || uint64(f) > uint64(len(all)) {
		return nil
	}
	return all[f-1]
}

// gone notes that a device was reset.
func (k *kernels) gone(device int) {
	for _, one := range k.list() {
		if one.device == device {
			one.gone.Store(true)
		}
	}
}

// LoadKernel compiles k with hiprtc for the calling thread's current device and
// loads it there, until Close. The first call loads hiprtc. It takes some 0.2
// to 0.5 s on a real runtime.
//
// Errors besides a *rocm.StatusError of HIP: a *rocm.LibraryError where hiprtc
// cannot be had; ErrUnknownArch where it does not know the device; a
// *rocm.StatusError of API "hiprtc" with the compiler's log where it refuses
// the source.
func (d *Driver) LoadKernel(th *sched.Thread, k *rocm.Kernel) (rocm.Function, error) {
	if k == nil || k.Name == "" || k.Source == "" {
		return 0, errors.New("a kernel needs a name and HIP C++ source to be compiled")
	}
	c, err := d.rtc.get(d.search, d.rt)
	if err != nil {
		return 0, err
	}
	one := &kernel{}
	if one.device, err = d.GetDevice(th); err != nil {
		return 0, err
	}
	arch, err := d.rt.archName(one.device)
	if err != nil {
		return 0, err
	}
	if one.code, err = c.compile(th, k, arch); err != nil {
		return 0, err
	}
	if err := d.load(one, k.Name); err != nil {
		return 0, err
	}
	return d.kernels.add(one), nil
}

// load loads the code of one and finds the function in it.
func (d *Driver) load(one *kernel, name string) error {
	code := call(d.rt.fn[fnModuleLoadData], uintptr(unsafe.Pointer(&one.module)), uintptr(unsafe.Pointer(&one.code[0])))
	if err := d.rt.status(fnModuleLoadData, code); err != nil {
		return err
	}
	symbol := cString(name)
	code = call(d.rt.fn[fnModuleGetFunction], uintptr(unsafe.Pointer(&one.function)), one.module, uintptr(unsafe.Pointer(&symbol[0])))
	if err := d.rt.status(fnModuleGetFunction, code); err != nil {
		return errors.Join(fmt.Errorf("kernel %s: %w", name, err), d.unload(one))
	}
	return nil
}

func (d *Driver) unload(one *kernel) error {
	return d.rt.status(fnModuleUnload, call(d.rt.fn[fnModuleUnload], one.module))
}

// unloadKernels unloads what no reset took away. Nothing launches any more.
func (d *Driver) unloadKernels() error {
	d.kernels.mu.Lock()
	defer d.kernels.mu.Unlock()
	var errs []error
	for _, one := range d.kernels.list() {
		if !one.gone.Load() {
			errs = append(errs, d.unload(one))
		}
		runtime.KeepAlive(one.code)
	}
	d.kernels.all.Store(nil)
	return errors.Join(errs...)
}

// Launch enqueues one launch. A Function that LoadKernel did not return is
// hipErrorInvalidHandle; sizes are the runtime's to judge. HIP reads the
// arguments before it returns.
func (d *Driver) Launch(_ *sched.Thread, f rocm.Function, l rocm.Launch) error {
	k := d.kernels.get(f)
	if k == nil {
		return d.rt.status(fnModuleLaunchKernel, rocm.HipErrorInvalidHandle)
	}
	values, params := make([]uint64, len(l.Args)), make([]unsafe.Pointer, len(l.Args)+1)
	for i, a := range l.Args {
		values[i] = uint64(uint32(a.Int)) //nolint:gosec // its bits, at the start of the word
		if a.IsPtr {
			values[i] = uint64(a.Ptr)
		}
		params[i] = unsafe.Pointer(&values[i])
	}
	const shared, extra = 0, 0
	code := call(d.rt.fn[fnModuleLaunchKernel], k.function,
		uintptr(l.Grid.X), uintptr(l.Grid.Y), uintptr(l.Grid.Z),
		uintptr(l.Block.X), uintptr(l.Block.Y), uintptr(l.Block.Z),
		shared, uintptr(l.Stream), uintptr(unsafe.Pointer(&params[0])), extra)
	runtime.KeepAlive(params) // and so the values
	return d.rt.status(fnModuleLaunchKernel, code)
}
