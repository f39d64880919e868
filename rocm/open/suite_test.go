package open_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm/open"
)

func TestOpen(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "rocm/open")
}

var _ = Describe("the name of a device", func() {
	DescribeTable("is accepted", func(spec string) {
		Expect(open.Check(spec)).To(Succeed())
	},
		Entry(nil, "sim"), Entry(nil, "sim:arch=gfx90a,create=0s"), Entry(nil, "hip"), Entry(nil, "hip:0"), Entry(nil, "hip:255"))

	// Each is refused by its form, so Open loads no library for it.
	DescribeTable("is refused in one line that names it", func(spec, accepted string) {
		err := open.Check(spec)
		Expect(err).To(MatchError(And(ContainSubstring(accepted), Not(ContainSubstring("\n")))))
		_, openErr := open.Open(spec)
		Expect(openErr).To(MatchError(err.Error()))
	},
		Entry(nil, "", "accepted: sim, "),
		Entry(nil, "cuda", `"cuda"; accepted: sim, sim:key=value,..., hip, hip:N`),
		Entry(nil, "sim:", `"sim:"`),
		Entry(nil, "hip:", `"hip:"`),
		Entry(nil, "hip:x", `"hip:x"; accepted: hip:N with N from 0 to 255`),
		Entry(nil, "hip:-1", `"hip:-1"`),
		Entry(nil, "hip:256", `"hip:256"`),
		Entry(nil, "sim:arch", "key=value"),
		Entry(nil, "sim:colour=red", "accepted keys: arch, "),
		Entry(nil, "sim:devices=-1", "devices=-1"))

	It("opens a simulated device", func() {
		d, err := open.Open("sim:arch=gfx942")
		Expect(err).NotTo(HaveOccurred())
		th := sched.Free(nil).NewThread("test")
		Expect(d.Describe(th).Simulated).To(BeTrue())
		Expect(d.DeviceProps(th, 0)).To(HaveField("Arch", "gfx942"))
		Expect(d.Close(th)).To(Succeed())
	})

	It("knows the points of all drivers, each once", func() {
		seen := map[sched.Point]bool{}
		for _, p := range open.Points() {
			Expect(seen).NotTo(HaveKey(p))
			seen[p] = true
		}
		Expect(seen).To(And(HaveKey(sched.Point("sim.blas.create")), HaveKey(sched.Point("hip.blas.sgemm"))))
	})
})
