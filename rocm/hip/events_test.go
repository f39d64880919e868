package hip

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"rocstress/harness/sched"
)

// eventful are the codes of an event's life, called by symbol: the Driver has
// no events.
type eventful struct {
	Fresh, Pending, LastError, Synchronized, Done int
	Value                                         uint32
	Destroyed, LastAfter                          int
}

func childEvents() any {
	runtime.LockOSThread()
	th := sched.Free(nil).NewThread("child")
	d, err := Open(0)
	if err != nil {
		return see(err)
	}
	fn := func(name string) uintptr {
		addr, err := purego.Dlsym(d.rt.lib.handle, name)
		if err != nil {
			panic(err)
		}
		return addr
	}
	s, errS := d.StreamCreate(th)
	p, errP := d.Malloc(th, 1<<18)
	m, errM := d.HostAlloc(th, 1)
	if errS != nil || errP != nil || errM != nil {
		return []seen{see(errS), see(errP), see(errM)}
	}
	var e uintptr
	var r eventful
	call(fn("hipEventCreateWithFlags"), uintptr(unsafe.Pointer(&e)), 2)
	r.Fresh = call(fn("hipEventQuery"), e)
	errSet := d.MemsetD32Async(th, p, 7, 1<<16, s) // a second at 256 KiB/s
	errCopy := d.MemcpyDtoHAsync(th, m, p, 1, s)
	if errSet != nil || errCopy != nil {
		return []seen{see(errSet), see(errCopy)}
	}
	call(fn("hipEventRecord"), e, uintptr(s))
	r.Pending = call(fn("hipEventQuery"), e)
	r.LastError = call(fn("hipGetLastError"))
	r.Synchronized = call(fn("hipEventSynchronize"), e)
	r.Value = m.Words[0]
	r.Done = call(fn("hipEventQuery"), e)
	call(fn("hipEventDestroy"), e)
	r.Destroyed = call(fn("hipEventDestroy"), e)
	r.LastAfter = call(fn("hipPeekAtLastError"))
	return r
}
