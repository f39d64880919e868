package main

import (
	"context"
	"errors"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/rocm"
	"rocstress/rocm/open"
)

// noROCm is an environment in which no machine has ROCm.
func noROCm() []string { return append(os.Environ(), "STRESS_HIP_LIB=/nonexistent/libamdhip64.so") }

var _ = Describe("doctor", func() {
	It("finds the simulated device usable wherever it runs", func() {
		got := inProcessWith(noROCm(), "doctor")
		Expect(got.code).To(Equal(harness.ExitClean))
		Expect(got.stdout).To(And(ContainSubstring("hip:0: NOT usable\n"), ContainSubstring("/nonexistent/libamdhip64.so"),
			ContainSubstring("sim: usable\n")))
		Expect(inProcessWith(noROCm(), "doctor", "--device", "sim").stdout).NotTo(ContainSubstring("hip"))
	})

	It("exits with 125 where the asked device is not usable", func() {
		got := inProcessWith(noROCm(), "doctor", "--device", "hip:3")
		Expect(got.code).To(Equal(harness.ExitUnavailable))
		Expect(got.stdout).To(HavePrefix("hip:3: NOT usable\n"))
		got = inProcess("doctor", "--sim", "devices=0")
		Expect(got.code).To(Equal(harness.ExitUnavailable))
		Expect(got.stdout).To(And(ContainSubstring("NOT usable"), ContainSubstring("hipErrorNoDevice (100)")))
	})
})

// launch stands in for a Launcher: a child that sends events and ends so.
func launch(events []wire.Event, exit childproc.Exit) runChild {
	return func(_ context.Context, s childproc.Spec) (childproc.Exit, error) {
		for _, e := range events {
			s.OnEvent(e)
		}
		return exit, nil
	}
}

var _ = Describe("a probe", func() {
	phase := func(p string) wire.Event { return wire.Event{Kind: wire.KindPhase, Phase: p} }
	done := wire.Event{Kind: wire.KindDone}
	gpu := wire.Device{Driver: "hip", Name: "AMD Radeon 8060S", Arch: "gfx1151", Runtime: "7.2.4"}

	It("reports a child that aborted as a finding, with what it last printed", func() {
		f, err := probeDevice(context.Background(), launch([]wire.Event{phase(wire.PhaseInit)},
			childproc.Exit{Code: -1, Signal: unix.SIGABRT}), nil, "hip:0")
		Expect(err).NotTo(HaveOccurred())
		Expect(f.usable()).To(BeFalse())
		Expect(f.text()).To(ContainSubstring("problem: the probe child was ended by SIGABRT"))
	})

	It("is not usable where the child died after it had opened the device", func() {
		f, err := probeDevice(context.Background(), launch([]wire.Event{phase(wire.PhaseRun), hello(gpu)},
			childproc.Exit{Code: -1, Signal: unix.SIGSEGV}), nil, "hip:0")
		Expect(err).NotTo(HaveOccurred())
		Expect(f.usable()).To(BeFalse())
		Expect(f.brief()).To(ContainSubstring("SIGSEGV"))
	})

	It("names libraries, versions, devices and what is missing", func() {
		none := &rocm.NoDeviceError{Runtime: "libamdhip64.so.5, HIP 5.2.3", Err: rocm.HipError("hipGetDeviceCount", 100)}
		events := surveyed(open.Findings{HIP: libraryFinding(), NoDevice: none})
		events = append([]wire.Event{phase(wire.PhaseInit)}, append(events, phase(wire.PhaseRun), firstError(none))...)
		f, err := probeDevice(context.Background(), launch(events, childproc.Exit{Code: 1}), nil, "hip:0")
		Expect(err).NotTo(HaveOccurred())
		Expect(f.text()).To(Equal("hip:0: NOT usable\n" +
			"  HIP 5.2.3\n" +
			"  library libamdhip64.so.5: /usr/lib/libamdhip64.so.5, build id 00ff\n" +
			"  problem: no usable device: hipGetDeviceCount failed: hipErrorNoDevice (100) (libamdhip64.so.5, HIP 5.2.3)\n"))
		Expect(f.brief()).To(ContainSubstring("hipErrorNoDevice (100)"))
	})

	It("lists the devices it found", func() {
		events := surveyed(open.Findings{HIP: libraryFinding(), Devices: []rocm.DeviceProps{{Name: "MI300X", Arch: "gfx942:sramecc+:xnack-"}},
			Targets: []open.Target{{Arch: "gfx942", Answer: "known to libamd_comgr.so.3", Known: true}}})
		events = append(append([]wire.Event{phase(wire.PhaseInit)}, events...), phase(wire.PhaseRun), hello(gpu), done)
		f, err := probeDevice(context.Background(), launch(events, childproc.Exit{}), nil, "hip:0")
		Expect(err).NotTo(HaveOccurred())
		Expect(f.usable()).To(BeTrue())
		Expect(f.text()).To(And(ContainSubstring("opened: AMD Radeon 8060S, gfx1151"), ContainSubstring("device hip:0: MI300X, gfx942\n"),
			ContainSubstring("  kernels for gfx942: known to libamd_comgr.so.3\n")))
	})

	It("escapes what a child said", func() {
		f := finding{spec: "hip:0", problems: []string{"\x1b[2J\nhip:0: usable"}}
		Expect(f.text()).To(Equal("hip:0: NOT usable\n" + `  problem: \x1b[2J\nhip:0: usable` + "\n"))
	})

	It("is an error where no child could be started", func() {
		fail := func(context.Context, childproc.Spec) (childproc.Exit, error) {
			return childproc.Exit{}, errors.New("no memory")
		}
		_, err := probeDevice(context.Background(), fail, nil, "hip:0")
		code, line := codeOf(err)
		Expect(code).To(Equal(harness.ExitHarness))
		Expect(line).To(ContainSubstring("no memory"))
	})

	It("is interrupted where the user has lost patience", func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := probeDevice(ctx, launch(nil, childproc.Exit{Code: -1, Signal: unix.SIGKILL}), nil, "hip:0")
		code, _ := codeOf(err)
		Expect(code).To(Equal(harness.ExitInterrupted))
	})
})

func libraryFinding() (l struct {
	rocm.Library
	Version string
	Err     error
}) {
	l.Library = rocm.Library{Name: "libamdhip64.so.5", Path: "/usr/lib/libamdhip64.so.5", BuildID: "00ff"}
	l.Version = "5.2.3"
	return l
}
