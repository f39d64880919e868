package rocm_test

import (
	"errors"
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// poison fills outputs: a signaling NaN, which no arithmetic delivers.
const poison = 0xffa0dead

func floats(values ...float32) []uint32 {
	words := make([]uint32, len(values))
	for i, v := range values {
		words[i] = math.Float32bits(v)
	}
	return words
}

func product() []uint32 { return floats(19, 22, 43, 50) }

var _ = Describe("Device", func() {
	It("creates one handle with the first GEMM and keeps it", func() {
		r := newRig("create=0s")
		Expect(r.dev.Handles().Created).To(Equal(0))
		for range 3 {
			words, route, err := multiply(r.th, r.drv, r.dev)
			Expect(err).NotTo(HaveOccurred())
			Expect(route).To(Equal(rocm.RouteRocBLAS))
			Expect(words).To(Equal(product()))
		}
		Expect(r.dev.Handles()).To(Equal(rocm.HandleCount{Created: 1}))
		Expect(r.warnings).To(BeEmpty())
	})

	It("creates one handle when many threads ask at once", func() {
		r := newRig("create=2ms")
		var tasks []*sched.Task
		for range 8 {
			tasks = append(tasks, sched.Go(r.th, "worker", func(th *sched.Thread) {
				defer GinkgoRecover()
				Expect(r.dev.MakeCurrent(th)).To(Succeed())
				words, _, err := multiply(th, r.drv, r.dev)
				Expect(err).NotTo(HaveOccurred())
				Expect(words).To(Equal(product()))
			}))
		}
		for _, t := range tasks {
			t.Join(r.th)
		}
		Expect(r.dev.Handles().Created).To(Equal(1))
	})

	It("reports a failed creation with its status, forgets it, and warns once", func() {
		r := newRig("create=0s,create-fails=2,create-status=6")
		s, err := r.dev.NewStream(r.th)
		Expect(err).NotTo(HaveOccurred())
		for range 2 {
			_, err = r.dev.AcquireRocBLAS(r.th, s)
			var st *rocm.StatusError
			Expect(errors.As(err, &st)).To(BeTrue())
			Expect(err).To(MatchError("rocblas_create_handle failed: rocblas_status_internal_error (6)"))
		}
		lease, err := r.dev.AcquireRocBLAS(r.th, s)
		Expect(err).NotTo(HaveOccurred())
		lease.Release(r.th)
		Expect(r.warnings).To(ConsistOf(HavePrefix("Warning: rocBLAS")))
		Expect(r.dev.Handles()).To(Equal(rocm.HandleCount{Created: 1}))
	})

	It("takes the naive kernel while creation fails, and rocBLAS once it works", func() {
		r := newRig("create=0s,create-fails=1")
		words, route, err := multiply(r.th, r.drv, r.dev)
		Expect(err).NotTo(HaveOccurred())
		Expect(route).To(Equal(rocm.RouteNaive))
		Expect(words).To(Equal(product()))
		_, route, err = multiply(r.th, r.drv, r.dev)
		Expect(err).NotTo(HaveOccurred())
		Expect(route).To(Equal(rocm.RouteRocBLAS))
	})

	It("refuses an unsupported architecture for good, and stays exact without rocBLAS", func() {
		r := newRig("arch=gfx1010")
		_, err := r.dev.AcquireRocBLAS(r.th, 0)
		Expect(err).To(MatchError(rocm.ErrUnsupportedArch))
		Expect(r.dev.RocBLASAvailable(r.th)).To(BeFalse())
		words, route, err := multiply(r.th, r.drv, r.dev)
		Expect(err).NotTo(HaveOccurred())
		Expect(route).To(Equal(rocm.RouteNaive))
		Expect(words).To(Equal(product()))
		Expect(r.warnings).To(HaveLen(1))
		Expect(r.dev.Handles().Created).To(Equal(0))
	})

	It("names the status of a failed bind", func() {
		r := newRig("create=0s,set-stream-fails=1,set-stream-status=3")
		s, err := r.dev.NewStream(r.th)
		Expect(err).NotTo(HaveOccurred())
		_, err = r.dev.AcquireRocBLAS(r.th, s)
		Expect(err).To(MatchError(HavePrefix("rocblas_set_stream failed (status 3)")))
		lease, err := r.dev.AcquireRocBLAS(r.th, s)
		Expect(err).NotTo(HaveOccurred(), "the lock was given back")
		lease.Release(r.th)
	})

	It("answers availability under a lease", func() {
		r := newRig("create=0s")
		s, err := r.dev.NewStream(r.th)
		Expect(err).NotTo(HaveOccurred())
		lease, err := r.dev.AcquireRocBLAS(r.th, s)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.dev.RocBLASAvailable(r.th)).To(BeTrue())
		lease.Release(r.th)
		lease.Release(r.th)
		Expect(func() { _ = lease.GEMM(r.th, rocm.GEMM{}) }).To(Panic(), "the handle is out of reach without a lease")
	})

	It("releases the lease of a panicking holder", func() {
		r := newRig("create=0s")
		s, err := r.dev.NewStream(r.th)
		Expect(err).NotTo(HaveOccurred())
		func() {
			defer func() { Expect(recover()).To(Equal("boom")) }()
			lease, err := r.dev.AcquireRocBLAS(r.th, s)
			Expect(err).NotTo(HaveOccurred())
			defer lease.Release(r.th)
			panic("boom")
		}()
		lease, err := r.dev.AcquireRocBLAS(r.th, s)
		Expect(err).NotTo(HaveOccurred())
		lease.Release(r.th)
	})

	It("drops statuses without rocblas-status-check, and only then", func() {
		for removed, want := range map[string]error{
			"rocblas-status-check": nil,
			"rocblas-bind-lock":    &rocm.StatusError{},
		} {
			r := newRig("create=0s", removed)
			s, err := r.dev.NewStream(r.th)
			Expect(err).NotTo(HaveOccurred())
			lease, err := r.dev.AcquireRocBLAS(r.th, s)
			Expect(err).NotTo(HaveOccurred())
			err = lease.GEMM(r.th, rocm.GEMM{M: -1})
			lease.Release(r.th)
			if want == nil {
				Expect(err).NotTo(HaveOccurred())
			} else {
				Expect(errors.As(err, new(*rocm.StatusError))).To(BeTrue())
			}
		}
	})
})

var _ = Describe("ParseSet", func() {
	It("expands groups", func() {
		set, err := rocm.ParseSet([]string{"locks", "rocblas-status-check"})
		Expect(err).NotTo(HaveOccurred())
		Expect(set.IDs()).To(Equal([]string{"rocblas-bind-lock", "rocblas-init-lock", "rocblas-status-check"}))
	})
	It("names what it does not know and what it accepts", func() {
		_, err := rocm.ParseSet([]string{"rocblas-lock"})
		Expect(err).To(MatchError(And(ContainSubstring(`"rocblas-lock"`), ContainSubstring("rocblas-bind-lock"), ContainSubstring("old-device"))))
	})
	It("knows every member of every group", func() {
		known := map[rocm.Protection]bool{}
		for _, p := range rocm.Protections() {
			known[p.ID] = true
		}
		for name, members := range rocm.Groups() {
			Expect(members).NotTo(BeEmpty(), name)
			for _, p := range members {
				Expect(known).To(HaveKey(p))
			}
		}
	})
})

var _ = DescribeTable("FactsOf",
	func(arch string, want rocm.ArchFacts) { Expect(rocm.FactsOf(arch)).To(Equal(want)) },
	Entry("with a suffix", "gfx90a:sramecc+:xnack-", rocm.ArchFacts{Arch: "gfx90a", RocBLAS: true, NativeWMMA: true, CDNAMFMA: true}),
	Entry("RDNA 3.5", "gfx1151", rocm.ArchFacts{Arch: "gfx1151", RocBLAS: true, NativeWMMA: true}),
	Entry("WMMA without rocBLAS", "gfx1103", rocm.ArchFacts{Arch: "gfx1103", NativeWMMA: true}),
	Entry("rocBLAS without WMMA", "gfx1030", rocm.ArchFacts{Arch: "gfx1030", RocBLAS: true}),
	Entry("unknown", "gfx1010", rocm.ArchFacts{Arch: "gfx1010"}),
)
