package sim

import (
	"math"
	"time"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// function is a compiled kernel.
type function struct {
	kernel *rocm.Kernel
	device int // that was current when it was loaded
}

// hiprtcErrorCompilation is what hiprtcCompileProgram returns for a program it
// cannot compile. Source: hiprtc.h of HIP 5.2 to 7.2.
const hiprtcErrorCompilation = 6

// LoadKernel takes the time of a compilation. A kernel without a Go body
// cannot run here and does not compile.
func (d *Driver) LoadKernel(th *sched.Thread, k *rocm.Kernel) (rocm.Function, error) {
	if err := d.enter("hipModuleLoadData"); err != nil {
		return 0, err
	}
	th.Point(PointCompile)
	pause(th, d.cfg.Compile)
	if k == nil || k.Body == nil {
		return 0, &rocm.StatusError{
			API: "hiprtc", Call: "hiprtcCompileProgram",
			Code: hiprtcErrorCompilation, Name: "HIPRTC_ERROR_COMPILATION",
		}
	}
	f := d.functions.reserve()
	d.functions.put(f, &function{kernel: k, device: d.current(th)})
	return rocm.Function(f), nil
}

// Launch enqueues one launch, or refuses it with the codes that
// hipModuleLaunchKernel gives on AMD: hipErrorInvalidValue for a block of too
// many threads, hipErrorInvalidConfiguration for a grid of 2^32 threads or
// more in one dimension.
func (d *Driver) Launch(th *sched.Thread, fn rocm.Function, l rocm.Launch) error {
	const call = "hipModuleLaunchKernel"
	if err := d.enter(call); err != nil {
		return err
	}
	f := d.functions.get(uintptr(fn))
	if f == nil {
		return rocm.HipError(call, rocm.HipErrorInvalidHandle)
	}
	if code := checkLaunch(l, uint64(d.cfg.MaxThreads)); code != 0 {
		return rocm.HipError(call, code)
	}
	l.Args = append([]rocm.Arg(nil), l.Args...) // HIP copies the arguments
	return d.enqueue(th, call, l.Stream, &kernelRun{body: f.kernel.Body, launch: l})
}

func checkLaunch(l rocm.Launch, maxThreads uint64) int {
	block := [3]uint64{uint64(l.Block.X), uint64(l.Block.Y), uint64(l.Block.Z)}
	grid := [3]uint64{uint64(l.Grid.X), uint64(l.Grid.Y), uint64(l.Grid.Z)}
	threads := uint64(1)
	for i := range block {
		if block[i] == 0 || grid[i] == 0 {
			return rocm.HipErrorInvalidValue
		}
		// Checked factor by factor, so that the product cannot wrap.
		threads *= block[i]
		if threads > maxThreads {
			return rocm.HipErrorInvalidValue
		}
	}
	for i := range block {
		if grid[i]*block[i] > math.MaxUint32 {
			return rocm.HipErrorInvalidConfiguration
		}
	}
	return 0
}

// kernelRun is one launched kernel.
type kernelRun struct {
	body   func(mem rocm.KernelMemory, l rocm.Launch) error
	launch rocm.Launch
}

func (k *kernelRun) run(w *worker) error {
	err := k.body(w.mem(), k.launch)
	w.elapse(time.Duration(0))
	return err
}
