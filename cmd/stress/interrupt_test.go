package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"golang.org/x/sys/unix"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/harness/results"
)

// process is one process as /proc shows it: its number alone may come to mean
// another.
type process struct {
	pid   int
	start string
}

// childrenOf returns the children of a process.
func childrenOf(parent int) []process {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	Expect(err).NotTo(HaveOccurred())
	var found []process
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		Expect(err).NotTo(HaveOccurred())
		if f := statFields(pid); f != nil && f[1] == strconv.Itoa(parent) {
			found = append(found, process{pid, f[19]})
		}
	}
	return found
}

// statFields returns what follows the name in /proc/pid/stat: state, parent
// and so on, the time of the start at 19 (proc_pid_stat(5)). nil: it is gone.
func statFields(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

func (p process) alive() bool {
	f := statFields(p.pid)
	return f != nil && f[19] == p.start && f[0] != "Z"
}

// isScenario reports whether the process runs a scenario: until exec it is a
// copy of its parent.
func (p process) isScenario() bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
	return err == nil && strings.Contains(string(env), wire.EnvChild+"="+harness.ChildEntry+"\x00")
}

// stopped reports whether SIGSTOP has reached every thread.
func (p process) stopped() bool {
	f := statFields(p.pid)
	return f != nil && f[0] == "T"
}

// pendingQuit reports whether SIGQUIT waits for the process (ShdPnd of
// proc_pid_status(5)).
func (p process) pendingQuit() bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	_, rest, _ := strings.Cut(string(text), "ShdPnd:")
	mask, err := strconv.ParseUint(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), 16, 64)
	return err == nil && mask&(1<<(uint(unix.SIGQUIT)-1)) != 0
}

func recorded(dir string) int {
	f, err := os.Open(filepath.Join(dir, "results.jsonl"))
	if err != nil {
		return 0
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		n++
	}
	return n
}

var _ = Describe("an interrupted campaign", func() {
	expectGone := func(children []process) {
		GinkgoHelper()
		Expect(children).NotTo(BeEmpty(), "the spec saw children before the signal")
		for _, c := range children {
			Eventually(c.alive, "5s").Should(BeFalse(), "child %d", c.pid)
		}
	}

	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGTERM} {
		It(fmt.Sprintf("keeps partial results and leaves no child (%v)", sig), func() {
			cwd := GinkgoT().TempDir()
			s := start(cwd, small("run", "first-gemm", "--runs", "100000", "-p", "2", "--out", "out", "--format", "json")...)
			out := filepath.Join(cwd, "out")
			Eventually(func() int { return recorded(out) }, "20s").Should(BeNumerically(">=", 2))
			var children []process
			Eventually(func() []process { children = childrenOf(s.Command.Process.Pid); return children }, "5s").ShouldNot(BeEmpty())
			s.Signal(sig)
			Eventually(s, "15s").Should(gexec.Exit(harness.ExitInterrupted))
			expectGone(children)

			r := decode(string(s.Out.Contents()))
			Expect(r.Stopped).To(Equal(harness.StopInterrupted))
			Expect(r.Scenarios[0].Arms[0].Children).To(BeNumerically(">=", 2))
			d, err := results.Open(out)
			Expect(err).NotTo(HaveOccurred())
			n := 0
			Expect(d.Records(func(rec harness.Record) error { n++; return nil })).To(Succeed())
			Expect(n).To(Equal(r.Scenarios[0].Arms[0].Children + r.Scenarios[0].Arms[0].NotMeasured))
		})
	}

	It("does not wait for children that hang", func() {
		cwd := GinkgoT().TempDir()
		s := start(cwd, small("run", "first-gemm", "--sim", "create=1h", "--timeout", "1h", "--out", "out")...)
		var children []process
		Eventually(func() []process { children = childrenOf(s.Command.Process.Pid); return children }, "10s").ShouldNot(BeEmpty())
		s.Interrupt()
		Eventually(s, "15s").Should(gexec.Exit(harness.ExitInterrupted))
		expectGone(children)
		Expect(string(s.Out.Contents())).To(ContainSubstring("stopped early: interrupted"))
	})

	// A stopped child does not answer the first signal, so that the campaign is
	// still ending it when the second comes.
	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGTERM} {
		It(fmt.Sprintf("stops at once the second time (%v)", sig), func() {
			cwd := GinkgoT().TempDir()
			s := start(cwd, small("run", "first-gemm", "--sim", "create=1h", "--timeout", "1h", "-p", "1", "--out", "out")...)
			var children []process
			// The first child may be a probe, which ends by itself.
			Eventually(func() []process {
				children = slices.DeleteFunc(childrenOf(s.Command.Process.Pid), func(p process) bool { return !p.isScenario() })
				return children
			}, "20s").Should(HaveLen(1))
			Expect(unix.Kill(children[0].pid, unix.SIGSTOP)).To(Succeed())
			Eventually(children[0].stopped, "5s").Should(BeTrue())
			s.Signal(sig)
			Eventually(children[0].pendingQuit, "5s").Should(BeTrue(), "the campaign is ending its child")
			s.Signal(sig)
			Eventually(s, "10s").Should(gexec.Exit(harness.ExitInterrupted))
			Expect(string(s.Out.Contents())).To(BeEmpty(), "there was no time for a report")
			expectGone(children)
			Expect(recorded(filepath.Join(cwd, "out"))).To(BeZero())
		})
	}

	It("takes its children along when it is killed", func() {
		cwd := GinkgoT().TempDir()
		s := start(cwd, small("run", "first-gemm", "--sim", "create=1h", "--timeout", "1h", "--out", "out")...)
		var children []process
		Eventually(func() []process { children = childrenOf(s.Command.Process.Pid); return children }, "10s").ShouldNot(BeEmpty())
		s.Kill()
		Eventually(s, "5s").Should(gexec.Exit())
		expectGone(children)
	})
})

var _ = Describe("the built binary", func() {
	It("names its default results directory by time and process", func() {
		cwd := GinkgoT().TempDir()
		s := start(cwd, small("run", "first-gemm")...)
		Eventually(s, "30s").Should(gexec.Exit(harness.ExitClean))
		dirs, err := filepath.Glob(filepath.Join(cwd, "stress-results", fmt.Sprintf("*Z-%d", s.Command.Process.Pid)))
		Expect(err).NotTo(HaveOccurred())
		Expect(dirs).To(HaveLen(1))
	})

	It("runs its own probe child", func() {
		s := start(GinkgoT().TempDir(), "doctor", "--device", "sim")
		Eventually(s, "10s").Should(gexec.Exit(harness.ExitClean))
		Expect(string(s.Out.Contents())).To(HavePrefix("sim: usable\n"))
	})
})
