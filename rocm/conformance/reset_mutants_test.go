package conformance

import (
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

type noReset struct{ *sim.Driver }

func (noReset) DeviceReset(*sched.Thread) error { return nil }

type failingReset struct{ *sim.Driver }

func (failingReset) DeviceReset(*sched.Thread) error {
	return rocm.HipError("hipDeviceReset", rocm.HipErrorNotSupported)
}

// streamsOnly resets no memory, and every stream.
type streamsOnly struct {
	*sim.Driver
	streams []rocm.Stream // of the first device
}

func (b *streamsOnly) StreamCreate(th *sched.Thread) (rocm.Stream, error) {
	s, err := b.Driver.StreamCreate(th)
	if device, _ := b.GetDevice(th); device == 0 {
		b.streams = append(b.streams, s)
	}
	return s, err
}

func (b *streamsOnly) DeviceReset(th *sched.Thread) error {
	for _, s := range b.streams {
		if err := b.StreamDestroy(th, s); err != nil {
			return err
		}
	}
	return nil
}

// memoryOnly resets no stream, and all memory.
type memoryOnly struct {
	*sim.Driver
	memory []rocm.Ptr // of the first device
}

func (b *memoryOnly) Malloc(th *sched.Thread, bytes uint64) (rocm.Ptr, error) {
	p, err := b.Driver.Malloc(th, bytes)
	if device, _ := b.GetDevice(th); device == 0 {
		b.memory = append(b.memory, p)
	}
	return p, err
}

func (b *memoryOnly) Free(th *sched.Thread, p rocm.Ptr) error {
	b.memory = slices.DeleteFunc(b.memory, func(q rocm.Ptr) bool { return q == p })
	return b.Driver.Free(th, p)
}

func (b *memoryOnly) DeviceReset(th *sched.Thread) error {
	for _, p := range b.memory {
		if err := b.Driver.Free(th, p); err != nil {
			return err
		}
	}
	return nil
}

// lastReset leaves a device without streams.
type lastReset struct {
	*sim.Driver
	reset bool
}

func (b *lastReset) DeviceReset(th *sched.Thread) error {
	b.reset = true
	return b.Driver.DeviceReset(th)
}

func (b *lastReset) StreamCreate(th *sched.Thread) (rocm.Stream, error) {
	if b.reset {
		return 0, rocm.HipError("hipStreamCreateWithFlags", rocm.HipErrorInvalidHandle)
	}
	return b.Driver.StreamCreate(th)
}

type resetsAll struct{ *sim.Driver }

func (b resetsAll) DeviceReset(th *sched.Thread) error {
	return errors.Join(
		b.SetDevice(th, 1), b.Driver.DeviceReset(th),
		b.SetDevice(th, 0), b.Driver.DeviceReset(th))
}

// sharedHardware calls itself a real device, where a reset would hit others.
type sharedHardware struct {
	*sim.Driver
	testABI string
	resets  *int
}

func (b sharedHardware) Describe(th *sched.Thread) rocm.Description {
	d := b.Driver.Describe(th)
	d.Simulated, d.TestABI = false, b.testABI
	return d
}

func (b sharedHardware) DeviceReset(th *sched.Thread) error {
	*b.resets++
	return b.Driver.DeviceReset(th)
}

// TestRealDevicesAreNotReset shows which devices the suite resets, and that it
// passes on a host with one device.
func TestRealDevicesAreNotReset(t *testing.T) {
	for abi, want := range map[string]int{"": 0, "a test ABI": 1} {
		g := NewWithT(t)
		resets := 0
		d := opener(t, func(c *sim.Config) { c.Devices = 1 })().(*sim.Driver)
		rt := sched.Free(nil)
		s := &suite{drv: sharedHardware{d, abi, &resets}, rt: rt, limit: clauseLimit}
		s.run(t, named("resets a device and no other"))
		g.Expect(resets).To(Equal(want), "test ABI %q", abi)
		g.Expect(d.Close(rt.NewThread("end"))).To(Succeed())
		rt.Wait()
	}
}
