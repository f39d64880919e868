package hip

import (
	"errors"
	"fmt"
	"runtime"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// children are the functions that a re-executed test binary can run. Each
// returns something for JSON.
func children() map[string]func() any {
	return map[string]func() any{
		"survey":   childSurvey,
		"open":     childOpen,
		"fault":    childFault,
		"injected": childInjected,
		"misroute": childMisroute,
		"threads":  childThreads,
		"events":   childEvents,
		"waiter":   childWaiter,
		"copies":   childCopies,
		"products": childProducts,
		"launches": childLaunches,
		"loads":    childLoads,
		"reset":    childReset,
		"compiles": childCompiles,
		"rebound":  childRebound,
		"rounds":   childRounds,
	}
}

// seen is an error as it can be sent.
type seen struct {
	Kind string // "library", "no device", "status" or "other"; empty for nil
	Text string
	Code int // of a StatusError anywhere in it
}

func see(err error) seen {
	if err == nil {
		return seen{}
	}
	s := seen{Kind: "other", Text: err.Error()}
	var st *rocm.StatusError
	if errors.As(err, &st) {
		s.Kind, s.Code = "status", st.Code
	}
	var none *rocm.NoDeviceError
	if errors.As(err, &none) {
		s.Kind = "no device"
	}
	var lib *rocm.LibraryError
	if errors.As(err, &lib) {
		s.Kind = "library"
	}
	return s
}

type surveyed struct {
	HIP, BLAS               rocm.Library
	HIPVersion, BLASVersion string
	HIPErr, BLASErr         seen
	HIPRTC, Comgr           LibraryFinding
	RTCErr, ComgrErr        seen
	Targets                 []Target
	TestABI                 string
	Devices                 []rocm.DeviceProps
	NoDevice                seen
	Usable                  bool
}

func childSurvey() any {
	f := Survey()
	return surveyed{
		HIP: f.HIP.Library, BLAS: f.RocBLAS.Library,
		HIPVersion: f.HIP.Version, BLASVersion: f.RocBLAS.Version,
		HIPErr: see(f.HIP.Err), BLASErr: see(f.RocBLAS.Err),
		HIPRTC: LibraryFinding{Library: f.HIPRTC.Library, Version: f.HIPRTC.Version}, RTCErr: see(f.HIPRTC.Err),
		Comgr: LibraryFinding{Library: f.Comgr.Library, Version: f.Comgr.Version}, ComgrErr: see(f.Comgr.Err),
		Targets: f.Targets,
		TestABI: f.TestABI, Devices: f.Devices, NoDevice: see(f.NoDevice), Usable: f.Usable(),
	}
}

type opened struct {
	Err, ErrFar seen // device 0, device 5
	Desc        rocm.Description
	Props       rocm.DeviceProps
	Current     int
}

func childOpen() any {
	runtime.LockOSThread()
	th := sched.Free(nil).NewThread("child")
	var o opened
	d, err := Open(0)
	_, far := Open(5)
	o.Err, o.ErrFar = see(err), see(far)
	if err != nil {
		return o
	}
	o.Desc = d.Describe(th)
	if o.Props, err = d.DeviceProps(th, 0); err == nil {
		o.Current, err = d.GetDevice(th)
	}
	o.Err = see(errors.Join(err, d.Close(th), d.Close(th)))
	return o
}

// onThreads runs f on n locked threads at once and returns their errors.
func onThreads(rt *sched.Runtime, n int, f func(th *sched.Thread, i int) error) []error {
	errs := make([]error, n)
	first := rt.NewThread("main")
	var tasks []*sched.Task
	for i := range n {
		tasks = append(tasks, sched.Go(first, fmt.Sprintf("t%d", i), func(th *sched.Thread) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			errs[i] = f(th, i)
		}))
	}
	for _, t := range tasks {
		t.Join(first)
	}
	return errs
}

type faulted struct {
	Enqueue, Sync, Later, Other, Count seen
	BLAS                               seen
}

// childFault copies to an address that no allocation has.
func childFault() any {
	runtime.LockOSThread()
	rt := sched.Free(nil)
	th := rt.NewThread("child")
	d, err := Open(0)
	if err != nil {
		return faulted{Enqueue: see(err)}
	}
	s, errS := d.StreamCreate(th)
	m, errM := d.HostAlloc(th, 16)
	p, errP := d.Malloc(th, 64)
	h, errH := d.RocBLASCreateHandle(th)
	if err := errors.Join(errS, errM, errP, errH); err != nil {
		return faulted{Enqueue: see(err)}
	}
	var f faulted
	f.Enqueue = see(d.MemcpyHtoDAsync(th, p+1<<40, m, 16, s))
	f.Sync = see(d.StreamSynchronize(th, s))
	_, err = d.Malloc(th, 4)
	f.Later = see(err)
	f.Other = see(onThreads(rt, 1, func(th *sched.Thread, _ int) error { return d.SetDevice(th, 0) })[0])
	_, err = d.DeviceCount(th)
	f.Count = see(err)
	f.BLAS = see(d.RocBLASSgemm(th, h, rocm.SGEMM{M: 1, N: 1, K: 1, Alpha: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1}))
	return f
}

// childInjected returns the codes of three creations and, with the handle of
// the last, of two bindings.
func childInjected() any {
	runtime.LockOSThread()
	th := sched.Free(nil).NewThread("child")
	d, err := Open(0)
	if err != nil {
		return []seen{see(err)}
	}
	var all []seen
	var h rocm.BLAS
	for range 3 {
		h, err = d.RocBLASCreateHandle(th)
		all = append(all, see(err))
	}
	for range 2 {
		all = append(all, see(d.RocBLASSetStream(th, h, 0)))
	}
	return all
}

// childThreads returns the current devices that threads read back after each
// set its own.
func childThreads() any {
	runtime.LockOSThread()
	rt := sched.Free(nil)
	d, err := Open(0)
	if err != nil {
		return []int{-1}
	}
	const n = 4
	got := make([]int, n)
	for i, err := range onThreads(rt, n, func(th *sched.Thread, i int) error {
		for range 1000 {
			if err := d.SetDevice(th, i); err != nil {
				return err
			}
			ordinal, err := d.GetDevice(th)
			if err != nil || ordinal != i {
				return fmt.Errorf("thread %d reads %d: %w", i, ordinal, err)
			}
		}
		got[i] = i
		return nil
	}) {
		if err != nil {
			got[i] = -1
		}
	}
	return got
}

// childWaiter returns what waiting for a stream comes to that would take hours,
// when another stream faults a second later.
func childWaiter() any {
	runtime.LockOSThread()
	rt := sched.Free(nil)
	th := rt.NewThread("child")
	d, err := Open(0)
	if err != nil {
		return []seen{see(err)}
	}
	slow, err1 := d.StreamCreate(th)
	bad, err2 := d.StreamCreate(th)
	p, err3 := d.Malloc(th, 1<<20)
	m, err4 := d.HostAlloc(th, 1)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return []seen{see(err)}
	}
	err = errors.Join(
		d.MemsetD32Async(th, p, 0, 1<<18, slow),
		d.MemsetD32Async(th, p, 0, 1<<4, bad),
		d.MemcpyHtoDAsync(th, p+1<<40, m, 1, bad),
	)
	waited := onThreads(rt, 1, func(th *sched.Thread, _ int) error { return d.StreamSynchronize(th, slow) })
	return []seen{see(err), see(waited[0])}
}

// childCopies returns what copies come to that would leave their host memory.
func childCopies() any {
	runtime.LockOSThread()
	th := sched.Free(nil).NewThread("child")
	d, err := Open(0)
	if err != nil {
		return []seen{see(err)}
	}
	p, err1 := d.Malloc(th, 64)
	m, err2 := d.HostAlloc(th, 4)
	if err := errors.Join(err1, err2); err != nil {
		return []seen{see(err)}
	}
	mine := rocm.HostMem{Words: make([]uint32, 4)}
	_, errHost := d.HostAlloc(th, -1)
	return []seen{
		see(d.MemcpyHtoDAsync(th, p, m, 5, 0)),
		see(d.MemcpyDtoHAsync(th, m, p, 5, 0)),
		see(d.MemcpyHtoDAsync(th, p, m, -1, 0)),
		see(d.MemcpyDtoHAsync(th, mine, p, 4, 0)),
		see(errHost),
	}
}
