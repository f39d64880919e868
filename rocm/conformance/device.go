package conformance

import (
	"sync/atomic"

	"rocstress/rocm"
)

func describes(e *env) {
	d := e.drv.Describe(e.th)
	if d.Driver == "" || d.Runtime == "" || d.BLAS == "" {
		e.fatalf("Describe leaves out the driver, the runtime or the BLAS version: %+v", d)
	}
}

func (e *env) deviceCount() int {
	n, err := e.drv.DeviceCount(e.th)
	e.must(err)
	if n < 1 {
		e.fatalf("DeviceCount is %d and no error", n)
	}
	return n
}

func properties(e *env) {
	for i := range e.deviceCount() {
		p, err := e.drv.DeviceProps(e.th, i)
		e.must(err)
		if p.Name == "" || p.Arch == "" {
			e.fatalf("device %d lacks a name or an architecture: %+v", i, p)
		}
		if p.TotalMemory < 4*fillerMaxWords || p.MaxThreadsPerBlock < 64 || p.MultiProcessors < 1 || p.WarpSize < 16 {
			e.fatalf("device %d has implausible properties: %+v", i, p)
		}
	}
}

// currentDevice sets the last device on one thread and looks from another. On
// a host with one device it cannot tell threads apart, and checks the rest.
func currentDevice(e *env) {
	last := e.deviceCount() - 1
	e.must(e.drv.SetDevice(e.th, last))
	e.team(1, func(e *env, _ int) { e.wantDevice(0) })
	e.wantDevice(last)
	e.must(e.drv.SetDevice(e.th, 0))
	e.wantDevice(0)
}

func (e *env) wantDevice(want int) {
	got, err := e.drv.GetDevice(e.th)
	e.must(err)
	if got != want {
		e.fatalf("GetDevice on thread %s is %d, want %d", e.th.Name(), got, want)
	}
}

func invalidDevice(e *env) {
	for _, ordinal := range []int{-1, e.deviceCount()} {
		e.wantCode("SetDevice", e.drv.SetDevice(e.th, ordinal), "hip", rocm.HipErrorInvalidDevice)
		_, err := e.drv.DeviceProps(e.th, ordinal)
		e.wantCode("DeviceProps", err, "hip", rocm.HipErrorInvalidDevice)
	}
	e.wantDevice(0)
}

// closes is the last clause: it ends with work enqueued, which Close drains.
func closes(e *env) {
	s, err := e.drv.StreamCreate(e.th)
	e.must(err)
	m, err := e.drv.HostAlloc(e.th, 1)
	e.must(err)
	p, err := e.drv.Malloc(e.th, 4)
	e.must(err)
	e.load(s)
	e.must(e.drv.MemsetD32Async(e.th, p, poison, 1, s))
	e.must(e.drv.MemcpyDtoHAsync(e.th, m, p, 1, s))
	e.undo = nil // Close takes everything back
	e.must(e.drv.Close(e.th))
	// A Driver that does not drain may be writing still.
	e.wantWords("memory after Close", []uint32{atomic.LoadUint32(&m.Words[0])}, []uint32{poison})
}
