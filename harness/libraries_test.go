package harness_test

import (
	"context"
	"errors"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/childproc/wire"
	"rocstress/harness"
)

func gpu(libs ...wire.Library) wire.Device {
	return wire.Device{Driver: "hip", Name: "AMD Radeon 8060S", Arch: "gfx1151", Runtime: "7.2.4", BLAS: "5.2.0", Libraries: libs}
}

var (
	hipLib  = wire.Library{Name: "libamdhip64.so.7", Path: "/opt/rocm/lib/libamdhip64.so.7", BuildID: "aa"}
	blasLib = wire.Library{Name: "librocblas.so.5", Path: "/opt/rocm/lib/librocblas.so.5"}
)

// with returns a library with another path and build id.
func with(l wire.Library, path, build string) wire.Library {
	l.Path, l.BuildID = path, build
	return l
}

var _ = Describe("Libraries", func() {
	It("have a fingerprint of what they are, not where they lie", func() {
		one := harness.Fingerprint([]wire.Library{hipLib, blasLib})
		Expect(one).To(MatchRegexp("^[0-9a-f]{12}$"))
		Expect(harness.Fingerprint([]wire.Library{blasLib, with(hipLib, "/elsewhere", "aa")})).To(Equal(one))
		Expect(harness.Fingerprint([]wire.Library{with(hipLib, hipLib.Path, "ab"), blasLib})).NotTo(Equal(one))
		Expect(harness.Fingerprint([]wire.Library{hipLib, with(blasLib, "/elsewhere", "")})).NotTo(Equal(one), "without a build id the path is all there is")
		Expect(harness.Fingerprint([]wire.Library{hipLib})).NotTo(Equal(one))
		Expect(harness.Fingerprint(nil)).To(BeEmpty())
	})

	DescribeTable("are compared with the device they drive",
		func(change func(d *wire.Device), says string) {
			is := gpu(hipLib, blasLib)
			change(&is)
			Expect(harness.Difference(gpu(hipLib, blasLib), is)).To(Equal(says))
		},
		Entry("the same", func(*wire.Device) {}, ""),
		Entry("moved", func(d *wire.Device) { d.Libraries[0].Path = "/elsewhere" }, ""),
		Entry("another ordinal under other visibility", func(d *wire.Device) { d.Ordinal = 3 }, ""),
		Entry("rebuilt", func(d *wire.Device) { d.Libraries[0].BuildID = "bb" }, "library libamdhip64.so.7 was build id aa, is build id bb"),
		Entry("another file", func(d *wire.Device) { d.Libraries[1].Path = "/x" }, "library librocblas.so.5 was /opt/rocm/lib/librocblas.so.5, is /x"),
		Entry("gone", func(d *wire.Device) { d.Libraries = d.Libraries[:1] }, "library librocblas.so.5 was /opt/rocm/lib/librocblas.so.5, is not mapped"),
		Entry("one more", func(d *wire.Device) { d.Libraries = append(d.Libraries, wire.Library{Name: "x", BuildID: "1"}) }, "library x was not mapped, is build id 1"),
		Entry("another device", func(d *wire.Device) { d.Name = "MI300X" }, `device was "AMD Radeon 8060S", is "MI300X"`),
		Entry("another version", func(d *wire.Device) { d.Runtime = "6.4" }, `HIP was "7.2.4", is "6.4"`),
		Entry("a test ABI", func(d *wire.Device) { d.TestABI = "cpu" }, `test ABI was "", is "cpu"`),
	)
})

var _ = Describe("A campaign whose libraries change", func() {
	on := func(libs ...wire.Library) []wire.Event {
		return []wire.Event{{Kind: wire.KindHello, Hello: &wire.Hello{V: 1, PID: 9, Device: gpu(libs...)}}, check(true, "", ""), done}
	}
	// script changes the libraries for child 3.
	script := func(_ context.Context, o wire.Spec) play {
		if o.Child == 3 {
			return play{events: on(with(hipLib, hipLib.Path, "bb"))}
		}
		return play{events: on(hipLib)}
	}

	It("says once what the first child opened, flags those that differ, and warns", func(ctx SpecContext) {
		plan, store := single(1, 4), &shelf{}
		var told []wire.Device
		result, err := harness.Campaign{
			Plan: plan, Run: (&theatre{script: script}).run, Store: store,
			Described: func(d wire.Device) error {
				Expect(store.records).To(BeEmpty(), "before any record is kept")
				told = append(told, d)
				return nil
			},
		}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(told).To(Equal([]wire.Device{gpu(hipLib)}))
		for i, r := range store.records {
			Expect(r.Flags.OtherLibraries).To(Equal(i == 2), "child %d", r.Child)
			Expect(r.Libraries).To(HaveLen(12))
			Expect(r.Device).To(Equal("hip gfx1151"))
		}
		Expect(report(plan, result).Warnings).To(HaveExactElements(And(
			ContainSubstring("(" + store.records[0].Libraries + "): 1; run, run 1, child 3 has " + store.records[2].Libraries))))
		// A resume counts the flags of earlier records too.
		result, err = harness.Campaign{Plan: plan, Run: (&theatre{script: script}).run, Earlier: earlier(store.records)}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(report(plan, result).Warnings).To(HaveLen(1))
	})

	It("goes by what it is told to expect", func(ctx SpecContext) {
		plan, store, expected := single(1, 2), &shelf{}, gpu(with(hipLib, "", "cc"))
		result, err := harness.Campaign{
			Plan: plan, Run: (&theatre{script: script}).run, Store: store, Device: &expected,
			Described: func(wire.Device) error { Fail("nothing new is known"); return nil },
		}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(store.records).To(HaveEach(HaveField("Flags.OtherLibraries", true)))
		Expect(*result.Device).To(Equal(expected))
	})

	It("has no warning where nothing differs, or a child says nothing", func(ctx SpecContext) {
		plan := comparison(1, 3)
		t := &theatre{script: removedFails(play{})}
		result, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(report(plan, result).Warnings).To(BeEmpty())
	})

	It("ends where it cannot be told", func(ctx SpecContext) {
		full := errors.New("no space left")
		_, err := harness.Campaign{
			Plan: single(1, 2), Run: (&theatre{script: script}).run, Described: func(wire.Device) error { return full },
		}.Execute(ctx)
		Expect(err).To(MatchError(full))
	})
})

var _ = Describe("Provenance", func() {
	It("keeps the variables that matter, and no secret", func() {
		Expect(harness.RelevantEnv([]string{
			"HIP_VISIBLE_DEVICES=1", "ROCR_VISIBLE_DEVICES=", "AMD_LOG_LEVEL=3", "HSA_XNACK=1", "GPU_MAX_HW_QUEUES=2", "ROCM_PATH=/r=/s",
			"MLX_TOKEN=t0p", "STRESS_HIP_LIB=/x", "LD_LIBRARY_PATH=/l", "GODEBUG=a=1", "GOMAXPROCS=2",
			"HOSTNAME=h", "HOME=/root", "PATH=/bin", "MY_HIP_X=1",
		})).To(Equal(map[string]string{
			"HIP_VISIBLE_DEVICES": "1", "ROCR_VISIBLE_DEVICES": "", "AMD_LOG_LEVEL": "3", "HSA_XNACK": "1", "GPU_MAX_HW_QUEUES": "2",
			"ROCM_PATH": "/r=/s", "MLX_TOKEN": "(hidden)", "STRESS_HIP_LIB": "/x", "LD_LIBRARY_PATH": "/l", "GODEBUG": "a=1", "GOMAXPROCS": "2",
		}))
	})

	DescribeTable("reads the versions of kernel drivers", func(file, text, name, want string) {
		got := harness.KernelDrivers(fstest.MapFS{file: {Data: []byte(text)}})
		Expect(got).To(Equal(map[string]string{name: want}))
	},
		Entry(nil, "sys/module/amdgpu/version", "6.12.12\n", "amdgpu", "6.12.12"),
		Entry(nil, "proc/sys/kernel/osrelease", "6.8.0-60-generic\n", "linux", "6.8.0-60-generic"),
		Entry(nil, "proc/driver/nvidia/version",
			"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22-4)  Tue Sep 23\nGCC version:  gcc 12\n",
			"nvidia", "NVIDIA UNIX Open Kernel Module for x86_64 580.95.05"),
		Entry(nil, "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n",
			"nvidia", "NVIDIA UNIX x86_64 Kernel Module 535.183.01"),
	)

	It("leaves out what cannot be read", func() {
		Expect(harness.KernelDrivers(fstest.MapFS{"sys/module/amdgpu/version": {Data: nil}})).To(BeEmpty())
	})
})
