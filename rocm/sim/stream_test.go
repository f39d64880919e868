package sim_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/rocm"
)

var _ = Describe("Streams", func() {
	It("execute in the order of enqueuing", func() {
		r := newRig(nil)
		s := must(r.StreamCreate(r.th))
		p := r.upload(0)
		out := must(r.HostAlloc(r.th, 64))
		for i := range uint32(64) {
			must0(r.MemsetD32Async(r.th, p, i, 1, s))
			must0(r.MemcpyDtoHAsync(r.th, rocm.HostMem{Words: out.Words[i:], Handle: out.Handle}, p, 1, s))
		}
		must0(r.StreamSynchronize(r.th, s))
		for i := range uint32(64) {
			Expect(out.Words[i]).To(Equal(i))
		}
	})

	It("run beside each other", func() {
		r := newRig(nil)
		slow, fast := must(r.StreamCreate(r.th)), must(r.StreamCreate(r.th))
		p := r.upload(1)
		r.load(slow)
		Expect(r.read(p, 1, fast)).To(Equal([]uint32{1}))
		Expect(rocm.IsNotReady(r.StreamQuery(r.th, slow))).To(BeTrue())
		must0(r.StreamSynchronize(r.th, slow))
		must0(r.StreamQuery(r.th, slow))
	})

	It("are invalid after they were destroyed, and finish first", func() {
		r := newRig(nil)
		s := must(r.StreamCreate(r.th))
		p := r.upload(1)
		r.load(s)
		must0(r.MemsetD32Async(r.th, p, 2, 1, s))
		must0(r.StreamDestroy(r.th, s))
		Expect(r.read(p, 1, 0)).To(Equal([]uint32{2}))
		Expect(r.StreamSynchronize(r.th, s)).To(haveCode("hip", rocm.HipErrorInvalidHandle))
		Expect(r.MemsetD32Async(r.th, p, 2, 1, s)).To(haveCode("hip", rocm.HipErrorInvalidHandle))
		Expect(r.StreamDestroy(r.th, s)).To(haveCode("hip", rocm.HipErrorInvalidHandle))
		Expect(r.StreamDestroy(r.th, 0)).To(haveCode("hip", rocm.HipErrorInvalidHandle))
	})
})

var _ = Describe("A GEMM on another stream than its caller's", func() {
	const poison = 0x7fc0beef

	It("is read back unwritten while that stream is loaded", func() {
		r := newRig(nil)
		own, other := must(r.StreamCreate(r.th)), must(r.StreamCreate(r.th))
		h := must(r.RocBLASCreateHandle(r.th))
		a, b, c := r.upload(bits(1, 2)...), r.upload(bits(3, 4)...), r.upload(poison, 0)
		gemm := rocm.SGEMM{M: 1, N: 1, K: 2, Alpha: 1, A: a, LDA: 1, B: b, LDB: 2, C: c, LDC: 1}
		must0(r.RocBLASSetStream(r.th, h, own))
		r.load(other)
		must0(r.RocBLASSetStream(r.th, h, other))
		must0(r.RocBLASSgemm(r.th, h, gemm))
		Expect(r.read(c, 1, own)).To(Equal([]uint32{poison}))
		must0(r.StreamSynchronize(r.th, other))
		Expect(r.read(c, 1, own)).To(Equal(bits(11)))
	})

	It("reads inputs that are not there yet while its caller's is loaded", func() {
		r := newRig(nil)
		own, other := must(r.StreamCreate(r.th)), must(r.StreamCreate(r.th))
		h := must(r.RocBLASCreateHandle(r.th))
		a, b := must(r.Malloc(r.th, 8)), r.upload(bits(3, 4)...)
		c := r.upload(poison)
		in := must(r.HostAlloc(r.th, 2))
		copy(in.Words, bits(1, 2))
		r.load(own)
		must0(r.MemcpyHtoDAsync(r.th, a, in, 2, own))
		must0(r.RocBLASSetStream(r.th, h, other))
		must0(r.RocBLASSgemm(r.th, h, rocm.SGEMM{M: 1, N: 1, K: 2, Alpha: 1, A: a, LDA: 1, B: b, LDB: 2, C: c, LDC: 1}))
		must0(r.StreamSynchronize(r.th, other))
		must0(r.StreamSynchronize(r.th, own))
		got := r.read(c, 1, own)[0]
		Expect(got).NotTo(BeElementOf(bits(11)[0], uint32(poison)))
		Expect(got&0x7f800000).To(Equal(uint32(0x7f800000)), "fresh memory is a NaN, and so is what came of it")
	})

	It("goes nowhere when the bound stream is gone", func() {
		r := newRig(nil)
		s := must(r.StreamCreate(r.th))
		h := must(r.RocBLASCreateHandle(r.th))
		must0(r.RocBLASSetStream(r.th, h, s))
		must0(r.StreamDestroy(r.th, s))
		p := r.upload(bits(1)...)
		err := r.RocBLASSgemm(r.th, h, rocm.SGEMM{M: 1, N: 1, K: 1, Alpha: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1})
		Expect(err).To(haveCode("rocblas", rocm.RocBLASInternalError))
	})
})
