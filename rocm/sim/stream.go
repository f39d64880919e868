package sim

import (
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// StreamCreate returns a stream of the current device and starts its worker.
func (d *Driver) StreamCreate(th *sched.Thread) (rocm.Stream, error) {
	if err := d.enter("hipStreamCreateWithFlags"); err != nil {
		return 0, err
	}
	h := d.streams.reserve()
	s := newStream(rocm.Stream(h), d.current(th))
	s.start(th, d)
	d.streams.put(h, s)
	return s.id, nil
}

// StreamDestroy takes the stream away from its users, lets the worker do what
// is enqueued and joins it. The null stream cannot be destroyed.
func (d *Driver) StreamDestroy(th *sched.Thread, id rocm.Stream) error {
	const call = "hipStreamDestroy"
	if err := d.enter(call); err != nil {
		return err
	}
	s := d.streams.take(uintptr(id))
	if s == nil {
		return rocm.HipError(call, rocm.HipErrorInvalidHandle)
	}
	s.finish(th)
	return d.enter(call)
}

// StreamSynchronize blocks until everything enqueued on the stream is done, or
// the device has faulted.
func (d *Driver) StreamSynchronize(th *sched.Thread, id rocm.Stream) error {
	const call = "hipStreamSynchronize"
	s, err := d.enterStream(th, call, id)
	if err != nil {
		return err
	}
	d.drain(th, s)
	if d.faulted() {
		return rocm.HipError(call, rocm.HipErrorIllegalAddress)
	}
	return nil
}

// StreamQuery returns nil or hipErrorNotReady at once.
func (d *Driver) StreamQuery(th *sched.Thread, id rocm.Stream) error {
	const call = "hipStreamQuery"
	s, err := d.enterStream(th, call, id)
	if err != nil {
		return err
	}
	if s.busy() {
		return rocm.HipError(call, rocm.HipErrorNotReady)
	}
	return nil
}

func (d *Driver) enterStream(th *sched.Thread, call string, id rocm.Stream) (*stream, error) {
	if err := d.enter(call); err != nil {
		return nil, err
	}
	s := d.streamOf(id, d.current(th))
	if s == nil {
		return nil, rocm.HipError(call, rocm.HipErrorInvalidHandle)
	}
	return s, nil
}

// streamOf returns the stream of a handle, nil if there is none. Handle 0 is
// the null stream of a device, a queue of its own: the streams that
// StreamCreate returns do not wait for it.
func (d *Driver) streamOf(id rocm.Stream, device int) *stream {
	if id == 0 {
		return d.null[device]
	}
	return d.streams.get(uintptr(id))
}

// enqueue puts a job on a stream, for a HIP call.
func (d *Driver) enqueue(th *sched.Thread, call string, id rocm.Stream, j job) error {
	if !d.submit(th, d.streamOf(id, d.current(th)), j) {
		return rocm.HipError(call, rocm.HipErrorInvalidHandle)
	}
	return nil
}

// submit puts a job on a stream and reports false if there is no such stream
// any more.
func (d *Driver) submit(th *sched.Thread, s *stream, j job) bool {
	if s == nil {
		return false
	}
	s.start(th, d)
	return s.append(th, j)
}
