package sim_test

import (
	"errors"
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// rig is one opened driver and the thread that uses it.
type rig struct {
	*sim.Driver
	rt *sched.Runtime
	th *sched.Thread
}

// newRig opens a driver that is closed when the spec ends.
func newRig(change func(*sim.Config)) *rig {
	GinkgoHelper()
	return newDelayedRig(nil, change)
}

func newDelayedRig(delay sched.Delayer, change func(*sim.Config)) *rig {
	GinkgoHelper()
	cfg := sim.DefaultConfig()
	cfg.MemsetRate = slowMemset
	if change != nil {
		change(&cfg)
	}
	d, err := sim.Open(cfg)
	Expect(err).NotTo(HaveOccurred())
	rt := sched.Free(delay)
	r := &rig{Driver: d, rt: rt, th: rt.NewThread("main")}
	DeferCleanup(func() {
		Expect(d.Close(r.th)).To(Succeed())
		rt.Wait()
	})
	return r
}

// must0 and must fail the spec on an error.
func must0(err error) {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
}

func must[T any](v T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return v
}

// upload puts words into new device memory.
func (r *rig) upload(words ...uint32) rocm.Ptr {
	GinkgoHelper()
	p := must(r.Malloc(r.th, uint64(len(words))*4))
	r.write(p, words...)
	return p
}

func (r *rig) write(p rocm.Ptr, words ...uint32) {
	GinkgoHelper()
	m := must(r.HostAlloc(r.th, len(words)))
	copy(m.Words, words)
	must0(r.MemcpyHtoDAsync(r.th, p, m, len(words), 0))
	must0(r.StreamSynchronize(r.th, 0))
	must0(r.HostFree(r.th, m))
}

// read returns words of device memory through a stream.
func (r *rig) read(p rocm.Ptr, words int, s rocm.Stream) []uint32 {
	GinkgoHelper()
	m := must(r.HostAlloc(r.th, words))
	must0(r.MemcpyDtoHAsync(r.th, m, p, words, s))
	must0(r.StreamSynchronize(r.th, s))
	return m.Words
}

// load makes a stream late by an eighth of a second of device time.
func (r *rig) load(s rocm.Stream) {
	GinkgoHelper()
	const bytes = slowMemset / 8
	filler := must(r.Malloc(r.th, bytes))
	must0(r.MemsetD32Async(r.th, filler, 0, bytes/4, s))
}

// slowMemset is the memset rate of a rig in bytes per second: filler takes
// device time and hardly any of the host's.
const slowMemset = 512 << 10

func bits(values ...float32) []uint32 {
	words := make([]uint32, len(values))
	for i, v := range values {
		words[i] = math.Float32bits(v)
	}
	return words
}

// haveCode matches the StatusError of one code.
func haveCode(api string, code int) OmegaMatcher {
	return WithTransform(func(err error) rocm.StatusError {
		if st := new(rocm.StatusError); errors.As(err, &st) {
			return rocm.StatusError{API: st.API, Code: st.Code}
		}
		return rocm.StatusError{}
	}, Equal(rocm.StatusError{API: api, Code: code}))
}
