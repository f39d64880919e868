package sim

import (
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// hostBlock is one pinned host allocation.
type hostBlock struct {
	words []uint32
}

// Malloc maps memory of the current device. It holds FreshWord everywhere.
// Zero bytes are the null pointer and no error, as in HIP.
func (d *Driver) Malloc(th *sched.Thread, bytes uint64) (rocm.Ptr, error) {
	const call = "hipMalloc"
	if err := d.enter(call); err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, nil
	}
	p := d.mem.alloc(d.current(th), bytes, d.cfg.Memory)
	if p == 0 {
		return 0, rocm.HipError(call, rocm.HipErrorOutOfMemory)
	}
	return p, nil
}

// Free waits for the device, as hipFree does, and unmaps p. An address that
// Malloc did not return is hipErrorInvalidValue.
func (d *Driver) Free(th *sched.Thread, p rocm.Ptr) error {
	const call = "hipFree"
	if err := d.enter(call); err != nil {
		return err
	}
	if p == 0 {
		return nil
	}
	if !d.mem.starts(p) {
		return rocm.HipError(call, rocm.HipErrorInvalidValue)
	}
	if err := d.drainAll(th, call); err != nil {
		return err
	}
	if !d.mem.unmap(p) { // another thread freed it meanwhile
		return rocm.HipError(call, rocm.HipErrorInvalidValue)
	}
	return nil
}

// HostAlloc returns zeroed pinned host memory. One allocation may be as large
// as a device's memory.
func (d *Driver) HostAlloc(_ *sched.Thread, words int) (rocm.HostMem, error) {
	const call = "hipHostMalloc"
	if err := d.enter(call); err != nil {
		return rocm.HostMem{}, err
	}
	if words < 0 {
		return rocm.HostMem{}, rocm.HipError(call, rocm.HipErrorInvalidValue)
	}
	if uint64(words) > d.cfg.Memory/wordBytes {
		return rocm.HostMem{}, rocm.HipError(call, rocm.HipErrorOutOfMemory)
	}
	b := &hostBlock{words: make([]uint32, words)}
	h := d.hosts.reserve()
	d.hosts.put(h, b)
	return rocm.HostMem{Words: b.words, Handle: h}, nil
}

// HostFree waits for the device, as hipHostFree does, and takes m back.
func (d *Driver) HostFree(th *sched.Thread, m rocm.HostMem) error {
	const call = "hipHostFree"
	if err := d.enter(call); err != nil {
		return err
	}
	if err := d.drainAll(th, call); err != nil {
		return err
	}
	if d.hosts.take(m.Handle) == nil {
		return rocm.HipError(call, rocm.HipErrorInvalidValue)
	}
	return nil
}

// drainAll waits until every stream has done what is enqueued now.
func (d *Driver) drainAll(th *sched.Thread, call string) error {
	for _, s := range d.null {
		d.drain(th, s)
	}
	for _, s := range d.streams.all() {
		d.drain(th, s)
	}
	return d.enter(call)
}
