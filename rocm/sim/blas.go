package sim

import (
	"sync/atomic"
	"syscall"
	"time"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// handle is a rocBLAS handle. It belongs to the device that was current at its
// creation.
type handle struct {
	device int
	resets uint64         // of the device before the handle was created
	stream atomic.Uintptr // rocm.Stream; unchecked until something is launched
	freed  atomic.Bool
}

// createSteps is how many steps a creation is split in.
const createSteps = 2

// RocBLASCreateHandle creates a handle bound to the null stream. Creations are
// serialised by a lock of the library.
func (d *Driver) RocBLASCreateHandle(th *sched.Thread) (rocm.BLAS, error) {
	const call = "rocblas_create_handle"
	if err := d.enterBLAS(call); err != nil {
		return 0, err
	}
	d.library.Lock(th)
	defer d.library.Unlock(th)
	for range createSteps {
		th.Point(PointCreate)
		pause(th, d.cfg.Create/createSteps)
	}
	if d.creates.Add(1) <= int64(d.cfg.CreateFails) {
		return 0, rocm.RocBLASError(call, d.cfg.CreateStatus)
	}
	h, device := d.handles.reserve(), d.current(th)
	d.handles.put(h, &handle{device: device, resets: d.resets[device].Load()})
	return rocm.BLAS(h), nil
}

// RocBLASDestroyHandle frees a handle. Freeing one twice is a crash. Freeing one
// whose device was reset is not, as rocm.Resetter has it; rocBLAS aborts where
// hipFree of the handle's workspace fails.
func (d *Driver) RocBLASDestroyHandle(th *sched.Thread, b rocm.BLAS) error {
	h, err := d.handleOf(th, "rocblas_destroy_handle", b)
	if err != nil {
		return err
	}
	if !h.freed.CompareAndSwap(false, true) {
		useAfterFree(th)
	}
	d.handles.take(uintptr(b))
	return nil
}

// RocBLASSetStream binds a handle. Like rocblas_set_stream it stores what it
// is given: a stream that does not exist is noticed by the next launch.
func (d *Driver) RocBLASSetStream(th *sched.Thread, b rocm.BLAS, s rocm.Stream) error {
	const call = "rocblas_set_stream"
	h, err := d.handleOf(th, call, b)
	if err != nil {
		return err
	}
	if err := d.enterBLAS(call); err != nil {
		return err
	}
	busy(th, d.cfg.SetStream)
	th.Point(PointSetStream)
	if d.binds.Add(1) <= int64(d.cfg.SetStreamFails) {
		return rocm.RocBLASError(call, d.cfg.SetStreamStatus)
	}
	if h.freed.Load() {
		useAfterFree(th)
	}
	h.stream.Store(uintptr(s))
	return nil
}

// RocBLASSgemm chooses a kernel, then reads the handle's stream, then launches
// on it: the order in which rocBLAS does, and the window in which a second
// thread can bind the handle to a stream of its own.
func (d *Driver) RocBLASSgemm(th *sched.Thread, b rocm.BLAS, g rocm.SGEMM) error {
	const call = "rocblas_sgemm"
	h, err := d.selectKernel(th, call, b, g)
	if h == nil {
		return err
	}
	return d.launchGEMM(th, call, h, &gemm{SGEMM: g, handle: h})
}

// RocBLASGemmEx goes the way of RocBLASSgemm. The product has the accuracy of
// the architecture's matrix unit.
func (d *Driver) RocBLASGemmEx(th *sched.Thread, b rocm.BLAS, g rocm.GemmEx) error {
	const call = "rocblas_gemm_ex"
	args := rocm.SGEMM{
		M: g.M, N: g.N, K: g.K, Alpha: 1, A: g.A, LDA: g.LDA, B: g.B, LDB: g.LDB, C: g.C, LDC: g.LDC,
	}
	h, err := d.selectKernel(th, call, b, args)
	if h == nil {
		return err
	}
	if d.gemmExs.Add(1) <= int64(d.cfg.GemmExFails) {
		return rocm.RocBLASError(call, d.cfg.GemmExStatus)
	}
	return d.launchGEMM(th, call, h, &gemm{SGEMM: args, handle: h, bf16: true})
}

// selectKernel is what a GEMM does before it reads the handle's stream. It
// returns no handle where it is refused or has nothing to do.
func (d *Driver) selectKernel(th *sched.Thread, call string, b rocm.BLAS, g rocm.SGEMM) (*handle, error) {
	h, err := d.handleOf(th, call, b)
	if err != nil {
		return nil, err
	}
	if code := checkGEMM(g); code != 0 {
		return nil, rocm.RocBLASError(call, code)
	}
	if g.M == 0 || g.N == 0 {
		return nil, nil
	}
	if err := d.enterBLAS(call); err != nil {
		return nil, err
	}
	busy(th, d.cfg.Select)
	th.Point(PointReadStream)
	if h.freed.Load() {
		useAfterFree(th)
	}
	return h, nil
}

func (d *Driver) launchGEMM(th *sched.Thread, call string, h *handle, j *gemm) error {
	s := d.streamOf(rocm.Stream(h.stream.Load()), h.device)
	if !d.submit(th, s, j) {
		return rocm.RocBLASError(call, rocm.RocBLASInternalError)
	}
	return nil
}

// handleOf returns the object of a handle. The null handle is a status; a
// handle that was freed, or was none ever, is a pointer that rocBLAS follows.
// Real memory may stay readable for a while after it was freed; here the crash
// is at once.
func (d *Driver) handleOf(th *sched.Thread, call string, b rocm.BLAS) (*handle, error) {
	if b == 0 {
		return nil, rocm.RocBLASError(call, rocm.RocBLASInvalidHandle)
	}
	h := d.handles.get(uintptr(b))
	if h == nil {
		useAfterFree(th)
	}
	return h, nil
}

func useAfterFree(th *sched.Thread) {
	Crash(th, syscall.SIGSEGV, "use of a rocBLAS handle after it was freed")
}

// pause is th.Sleep, and no scheduling point where there is nothing to wait.
func pause(th *sched.Thread, d time.Duration) {
	if d > 0 {
		th.Sleep(d)
	}
}

// busy is th.Busy, and no scheduling point where there is nothing to do.
func busy(th *sched.Thread, d time.Duration) {
	if d > 0 {
		th.Busy(d)
	}
}
