package harness_test

import (
	"os"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/childproc"
	"rocstress/childproc/wire"
	"rocstress/harness"
)

// sighting of a child that printed text on stderr.
func sighting(x childproc.Exit, text string, events ...wire.Event) harness.Sighting {
	scan, log := harness.NewScan(), &harness.EventLog{}
	if text != "" {
		scan.Observe(childproc.Stderr, []byte(text))
	}
	for _, e := range events {
		log.Add(e)
	}
	return harness.Sighting{Exit: x, Events: log, Hits: scan.Hits()}
}

func signaled(s syscall.Signal) childproc.Exit { return childproc.Exit{Code: -1, Signal: s} }

func exited(code int) childproc.Exit { return childproc.Exit{Code: code} }

// deadline is the end of a child that was killed long after it printed.
var deadline = childproc.Exit{
	Code: -1, Signal: syscall.SIGQUIT, Killed: true, KillReason: childproc.ReasonDeadline, KilledAt: time.Hour,
}

func firstError(e wire.FirstError) wire.Event {
	return wire.Event{Kind: wire.KindFirstError, FirstError: &e}
}

func phase(p string) wire.Event { return wire.Event{Kind: wire.KindPhase, Phase: p} }

var hello = wire.Event{Kind: wire.KindHello, Hello: &wire.Hello{Device: simDevice}}

const (
	fault   = "Memory access fault by GPU node-1 (Agent handle: 0x5640a8bb1980) on address 0x7feea09c5000. Reason: Page not present or supervisor privilege.\n"
	goCrash = "SIGSEGV: segmentation violation\nPC=0x7f m=4 sigcode=1\nsignal arrived during cgo execution\n"
)

// corpusLine is one row of testdata/signatures.txt.
type corpusLine struct{ id, outcome, text string }

func corpus() []corpusLine {
	GinkgoHelper()
	doc, err := os.ReadFile("testdata/signatures.txt")
	Expect(err).NotTo(HaveOccurred())
	var all []corpusLine
	for row := range strings.Lines(string(doc)) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
		Expect(f).To(HaveLen(3), row)
		all = append(all, corpusLine{f[0], f[1], strings.NewReplacer("<TAB>", "\t", "<NL>", "\n").Replace(f[2])})
	}
	Expect(len(all)).To(BeNumerically(">", 120))
	return all
}

var _ = Describe("Classify", func() {
	It("tells the lines of the corpus, and is not fooled by the decoys", func() {
		for _, l := range corpus() {
			f := harness.Classify(sighting(exited(1), "loading\n"+l.text+"\nmore\n"))
			if l.outcome == "-" {
				Expect(f.Outcome).To(Equal(harness.HostAbort), "%s: %s", l.id, l.text)
				Expect(f.Evidence).To(HavePrefix("exit code 1"), "%s: %s", l.id, l.text)
				continue
			}
			Expect(f.Outcome).To(Equal(harness.Outcome(l.outcome)), "%s: %s", l.id, l.text)
			Expect(f.Signature).To(HavePrefix(l.outcome), l.id)
		}
	})

	It("lets no decoy spoil a child that passes", func() {
		for _, l := range corpus() {
			if l.outcome != "-" {
				continue
			}
			f := harness.Classify(sighting(exited(0), l.text+"\n", hello, check(true, "", ""), done))
			Expect(f.Outcome).To(Equal(harness.Pass), "%s: %s", l.id, l.text)
		}
	})

	DescribeTable("decides by exit, events and text", func(s harness.Sighting, outcome harness.Outcome, signature string) {
		f := harness.Classify(s)
		Expect(f.Outcome).To(Equal(outcome))
		Expect(f.Signature).To(Equal(signature))
	},
		Entry("done and all checks true", sighting(exited(0), "", check(true, "", ""), done), harness.Pass, ""),
		Entry("exit 0 without done", sighting(exited(0), "", hello, check(true, "", "")), harness.Incomplete, "incomplete"),
		Entry("nothing at all", sighting(exited(0), ""), harness.Incomplete, "incomplete"),
		Entry("events that cannot be read", sighting(childproc.Exit{BadEvents: 1}, "", done), harness.Incomplete, "incomplete: unreadable events"),
		Entry("unwritten before NaN before wrong",
			sighting(exited(0), "", check(false, wire.FailWrong, ""), check(false, wire.FailNaN, ""), check(false, wire.FailUnwritten, ""), done),
			harness.UnwrittenOutput, "unwritten_output: outputs"),
		Entry("NaN before wrong", sighting(exited(0), "", check(false, wire.FailWrong, ""), check(false, wire.FailNaN, ""), done),
			harness.NaNOutput, "nan_output: outputs"),
		Entry("wrong before another check", sighting(exited(0), "", check(false, "", ""), check(false, wire.FailWrong, ""), done),
			harness.WrongResult, "wrong_result: outputs"),
		Entry("another check", sighting(exited(0), "", check(false, "", ""), done), harness.CheckFailed, "check_failed: outputs"),
		Entry("failed checks beat a missing done", sighting(exited(0), "", check(false, wire.FailWrong, "")), harness.WrongResult, "wrong_result: outputs"),
		Entry("SIGSEGV", sighting(signaled(syscall.SIGSEGV), ""), harness.HostCrash, "host_crash: SIGSEGV"),
		Entry("SIGBUS", sighting(signaled(syscall.SIGBUS), ""), harness.HostCrash, "host_crash: SIGBUS"),
		Entry("SIGFPE", sighting(signaled(syscall.SIGFPE), ""), harness.HostCrash, "host_crash: SIGFPE"),
		Entry("SIGILL", sighting(signaled(syscall.SIGILL), ""), harness.HostCrash, "host_crash: SIGILL"),
		Entry("SIGABRT alone", sighting(signaled(syscall.SIGABRT), ""), harness.HostAbort, "host_abort: SIGABRT"),
		Entry("a SIGKILL that is not ours", sighting(signaled(syscall.SIGKILL), ""), harness.HostAbort, "host_abort: SIGKILL"),
		Entry("SIGABRT after heap text", sighting(signaled(syscall.SIGABRT), "free(): double free detected in tcache 2\n"),
			harness.HeapCorruption, "heap_corruption: free(): double free detected in tcache #"),
		Entry("SIGABRT after a fault", sighting(signaled(syscall.SIGABRT), fault), harness.DeviceFault, "device_fault: Memory access fault by GPU"),
		Entry("exit 2 of a Go child that crashed in C", sighting(exited(2), goCrash), harness.HostCrash, "host_crash: SIGSEGV"),
		Entry("exit 2 of a Go panic", sighting(exited(2), "panic: index out of range [7] with length 1\n"),
			harness.HostAbort, "host_abort: panic: index out of range [#] with length #"),
		Entry("uncaught C++ exception, cause on the next line",
			sighting(signaled(syscall.SIGABRT), "terminate called after throwing an instance of 'std::out_of_range'\n  what():  _Map_base::at\n"),
			harness.HostAbort, "host_abort: terminate called after throwing an instance of 'std::out_of_range' _Map_base::at"),
		Entry("a fault beats heap text whatever came first",
			sighting(signaled(syscall.SIGABRT), "free(): invalid pointer\n"+fault), harness.DeviceFault, "device_fault: Memory access fault by GPU"),
		Entry("exit code alone", sighting(exited(7), ""), harness.HostAbort, "host_abort: exit 7"),
		Entry("deadline", sighting(deadline, "", hello, phase("run")), harness.Timeout, "timeout: phase run"),
		Entry("deadline before any event", sighting(deadline, ""), harness.Timeout, "timeout: phase start"),
		Entry("deadline after done", sighting(deadline, "", hello, check(false, wire.FailWrong, ""), done), harness.Timeout, "timeout: phase teardown"),
		Entry("a fault printed before the deadline", sighting(deadline, fault, hello), harness.DeviceFault, "device_fault: Memory access fault by GPU"),
		Entry("an API error before a hang is a hang",
			sighting(deadline, "", hello, phase("run"), firstError(wire.FirstError{Kind: wire.ErrorStatus, Text: "x"})), harness.Timeout, "timeout: phase run"),
		Entry("a refused allocation that was handled",
			sighting(exited(0), "HIP out of memory. Tried to allocate 1 GiB\n", hello, check(true, "", ""), done), harness.Pass, ""),
		Entry("a warning of the device", sighting(exited(0), "Warning: rocBLAS handle: create failed\n", done),
			harness.CheckFailed, "check_failed: unexpected_warning"),
		Entry("a fault that nobody expected", sighting(exited(0), fault, check(true, "", ""), done),
			harness.CheckFailed, "check_failed: unexpected_fault: device_fault: Memory access fault by GPU"),
		Entry("a failed oracle check beside it", sighting(exited(0), fault, check(false, wire.FailNaN, ""), done),
			harness.NaNOutput, "nan_output: outputs"),
	)

	DescribeTable("reads the error that a body returned", func(e wire.FirstError, outcome harness.Outcome, signature string) {
		f := harness.Classify(sighting(exited(1), "", hello, phase("run"), firstError(e)))
		Expect(f.Outcome).To(Equal(outcome))
		Expect(f.Signature).To(Equal(signature))
		Expect(f.Flags.FirstError).To(Equal(e.Text))
		Expect(f.Flags.Phase).To(Equal("run"))
	},
		Entry("a status", wire.FirstError{Kind: wire.ErrorStatus, Text: "t", Call: "hipModuleLaunchKernel", Code: 1, Name: "hipErrorInvalidValue"},
			harness.LaunchError, "launch_error: hipModuleLaunchKernel failed: hipErrorInvalidValue"),
		Entry("a status that says the device faulted", wire.FirstError{Kind: wire.ErrorStatus, Text: "t", Call: "hipMemcpy", Code: 700, Name: "hipErrorIllegalAddress"},
			harness.DeviceFault, "device_fault: hipMemcpy failed: hipErrorIllegalAddress"),
		Entry("a status of memory", wire.FirstError{Kind: wire.ErrorStatus, Text: "t", Call: "rocblas_create_handle", Code: 5, Name: "rocblas_status_memory_error"},
			harness.OutOfMemory, "out_of_memory: rocblas_create_handle failed: rocblas_status_memory_error"),
		Entry("a missing library", wire.FirstError{Kind: wire.ErrorLibraryMissing, Text: "libamdhip64 cannot be loaded"},
			harness.LibraryMissing, "library_missing: libamdhip# cannot be loaded"),
		Entry("no device", wire.FirstError{Kind: wire.ErrorNoDevice, Text: "no usable device"}, harness.NoDevice, "no_device: no usable device"),
		Entry("any other", wire.FirstError{Kind: wire.ErrorOther, Text: "thread 3: gave up"}, harness.HostAbort, "host_abort: thread #: gave up"),
	)

	It("does not blame an error that the body went on from", func() {
		e := firstError(wire.FirstError{Kind: wire.ErrorStatus, Text: "t", Call: "hipMalloc", Code: 2, Name: "hipErrorOutOfMemory"})
		f := harness.Classify(sighting(exited(3), "", hello, e, check(true, "", ""), done))
		Expect(f.Signature).To(Equal("host_abort: exit 3"))
		Expect(f.Flags.FirstError).To(Equal("t"))
	})

	It("does not take a missing library for the cause once the device was opened", func() {
		text := "librocblas.so.5: cannot open shared object file: No such file or directory\n"
		Expect(harness.Classify(sighting(exited(1), text)).Outcome).To(Equal(harness.LibraryMissing))
		Expect(harness.Classify(sighting(exited(1), text, hello)).Outcome).To(Equal(harness.HostAbort))
		Expect(harness.Classify(sighting(signaled(syscall.SIGSEGV), text, hello)).Outcome).To(Equal(harness.HostCrash))
	})

	It("ignores what a child prints while it is being ended", func() {
		x := deadline
		x.KilledAt = 0 // before everything
		Expect(harness.Classify(sighting(x, goCrash)).Outcome).To(Equal(harness.Timeout))
	})

	It("does not measure a child that was interrupted", func() {
		x := deadline
		x.KillReason = childproc.ReasonCanceled
		f := harness.Classify(sighting(x, fault, hello))
		Expect(f.Outcome).To(Equal(harness.NotMeasured))
		Expect(f.Flags.HarnessKilled).To(BeTrue())
		Expect(f.Signature).To(BeEmpty())
	})

	It("passes a fault that the scenario provokes, and says so", func() {
		s := sighting(exited(0), fault, check(true, "", ""), done)
		s.Expects = []harness.Outcome{harness.DeviceFault}
		f := harness.Classify(s)
		Expect(f.Outcome).To(Equal(harness.Pass))
		Expect(f.Flags.Provoked).To(Equal("device_fault"))
		s = sighting(exited(0), "Warning: rocBLAS handle: create failed\n", wire.Event{Kind: wire.KindProvoked, Provoked: "launch_error"}, done)
		s.Expects = []harness.Outcome{harness.LaunchError}
		f = harness.Classify(s)
		Expect(f.Outcome).To(Equal(harness.Pass))
		Expect(f.Flags.Provoked).To(Equal("launch_error"))
		s = sighting(exited(0), fault+"free(): invalid pointer\n", done)
		s.Expects = []harness.Outcome{harness.DeviceFault}
		Expect(harness.Classify(s).Signature).To(Equal("check_failed: unexpected_fault: heap_corruption: free(): invalid pointer"))
	})

	It("flags the report of a race detector", func() {
		f := harness.Classify(sighting(exited(66), "==================\nWARNING: DATA RACE\nRead at 0x00c000\n", done))
		Expect(f.Outcome).To(Equal(harness.HostAbort))
		Expect(f.Flags.RaceReport).To(BeTrue())
		Expect(f.Signature).To(Equal("host_abort: WARNING: DATA RACE"))
	})

	It("groups children by the stable part of what they printed", func() {
		one := harness.Classify(sighting(exited(134), fault))
		two := harness.Classify(sighting(exited(134), strings.NewReplacer("node-1", "node-3", "0x7feea09c5000", "(nil)").Replace(fault)))
		Expect(two.Signature).To(Equal(one.Signature))
		Expect(two.Evidence).NotTo(Equal(one.Evidence))
	})

	It("bounds evidence and keeps it valid text", func() {
		f := harness.Classify(sighting(exited(1), "", firstError(wire.FirstError{Kind: wire.ErrorOther, Text: strings.Repeat("\xffä", 5000)})))
		Expect(len(f.Evidence)).To(BeNumerically("<=", 400))
		Expect(strings.ToValidUTF8(f.Evidence, "")).To(Equal(f.Evidence))
		Expect(len(f.Signature)).To(BeNumerically("<", 200))
	})
})
