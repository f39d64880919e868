package conformance

import "rocstress/rocm"

// resets checks a reset where the Driver has one and the device is not one
// that others may be using: a simulated device, or one behind a test ABI. No
// host memory and no rocBLAS handle is held across it: what becomes of them is
// the runtime's affair.
func resets(e *env) {
	r, ok := e.drv.(rocm.Resetter)
	if d := e.drv.Describe(e.th); !ok || !d.Simulated && d.TestABI == "" {
		return
	}
	kept := e.onSecondDevice()
	e.must(e.drv.SetDevice(e.th, 0))
	s, p := e.unowned()
	e.must(r.DeviceReset(e.th))
	e.must(e.drv.SetDevice(e.th, 0))
	e.refused("synchronisation with a stream of before the reset", e.drv.StreamSynchronize(e.th, s))
	e.refused("query of a stream of before the reset", e.drv.StreamQuery(e.th, s))
	e.refused("free of memory of before the reset", e.drv.Free(e.th, p))
	e.refused("memset on a stream of before the reset", e.drv.MemsetD32Async(e.th, e.malloc(1), 0, 1, s))
	e.worksAfterReset()
	kept()
}

// unowned returns a stream and memory that a reset takes back: 16 words filled
// with poison.
func (e *env) unowned() (rocm.Stream, rocm.Ptr) {
	s, err := e.drv.StreamCreate(e.th)
	e.must(err)
	p := e.leak(unownedWords)
	e.fill(p, poison, unownedWords, s)
	e.sync(s)
	return s, p
}

const unownedWords = 16

// refused ends the clause unless err is a failure of HIP. Which code it is
// depends on how much a runtime remembers of what is gone.
func (e *env) refused(what string, err error) {
	if api, code := codeOf(err); api != "hip" || code == 0 || rocm.IsNotReady(err) {
		e.fatalf("%s: got %v, want a hip status that refuses it", what, err)
	}
}

// worksAfterReset takes everything anew.
func (e *env) worksAfterReset() {
	s, h := e.stream(), e.handle()
	e.must(e.drv.RocBLASSetStream(e.th, h, s))
	p := e.newProduct(dense(16, 8, 32), 4, s)
	e.poisonC(p, s)
	e.must(e.drv.RocBLASSgemm(e.th, h, p.SGEMM))
	e.wantWords("product after the reset", e.readC(p, s), p.want)
	e.fill(p.C, poison, 1, 0)
	e.sync(0)
	e.wantWords("word filled on the null stream after the reset", e.read(p.C, 1, s), []uint32{poison})
	if l, f := e.launcher(); l != nil {
		e.must(l.Launch(e.th, f, addLaunch(p.C, 1, 1, 64, s)))
		e.wantWords("word after a kernel of after the reset", e.read(p.C, 1, s), []uint32{poison + 1})
	}
}

// onSecondDevice takes a stream and memory of the second device. What it
// returns shows that they are as they were and gives them back. On a host with
// one device both do nothing.
func (e *env) onSecondDevice() (kept func()) {
	if e.deviceCount() < 2 {
		return func() {}
	}
	e.must(e.drv.SetDevice(e.th, 1))
	s, p := e.unowned()
	return func() {
		e.must(e.drv.SetDevice(e.th, 1))
		out := e.host(unownedWords)
		e.must(e.drv.MemcpyDtoHAsync(e.th, out, p, unownedWords, s))
		e.sync(s)
		for i := range out.Words[:unownedWords] {
			e.wantWords("word of the device that was not reset", out.Words[i:i+1], []uint32{poison})
		}
		e.must(e.drv.Free(e.th, p))
		e.must(e.drv.StreamDestroy(e.th, s))
		e.must(e.drv.SetDevice(e.th, 0))
	}
}
