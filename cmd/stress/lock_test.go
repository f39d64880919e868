package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"golang.org/x/sys/unix"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/harness/results"
)

var _ = Describe("the lock of a device", func() {
	gpu := &wire.Device{Driver: "hip", Name: "MI300X"}
	var (
		dir  string
		errs sharedBuffer
		a    *app
	)
	BeforeEach(func() {
		dir = GinkgoT().TempDir()
		errs = sharedBuffer{}
		a = &app{env: []string{"TMPDIR=" + dir}, stderr: &errs}
	})
	lock := func(ctx context.Context, wait time.Duration) (func() error, int, string) {
		release, err := a.lockDevice(ctx, "hip:0", gpu, wait)
		code, line := codeOf(err)
		return release, code, line
	}
	path := func() string { return filepath.Join(dir, "stress-hip-0.lock") }

	It("is held by one campaign, which it names, until that lets go", func(ctx SpecContext) {
		release, code, _ := lock(ctx, 0)
		Expect(code).To(Equal(harness.ExitClean))
		_, code, line := lock(ctx, 0)
		Expect(code).To(Equal(harness.ExitUnavailable))
		Expect(line).To(Equal(fmt.Sprintf("hip:0 is in use by process %d, and stayed so for 0s (lock %s); wait longer with --wait", os.Getpid(), path())))
		Expect(release()).To(Succeed())
		Expect(os.ReadFile(path())).To(BeEmpty(), "nobody is named who does not hold it")
		release, code, _ = lock(ctx, 0)
		Expect(code).To(Equal(harness.ExitClean))
		Expect(release()).To(Succeed())
		Expect(errs.String()).To(BeEmpty())
	})

	It("is waited for, and that is said", func(ctx SpecContext) {
		first, _, _ := lock(ctx, 0)
		got := make(chan int)
		go func() {
			defer GinkgoRecover()
			release, code, _ := lock(ctx, time.Hour)
			if release != nil {
				Expect(release()).To(Succeed())
			}
			got <- code
		}()
		Eventually(errs.String).Should(Equal(fmt.Sprintf("stress: hip:0 is in use by process %d; waiting up to 1h0m0s (--wait)\n", os.Getpid())))
		Expect(got).NotTo(Receive())
		Expect(first()).To(Succeed())
		Eventually(got, "5s").Should(Receive(Equal(harness.ExitClean)))
	}, SpecTimeout(20*time.Second))

	It("is waited for no longer than asked, nor after an interrupt", func(ctx SpecContext) {
		release, _, _ := lock(ctx, 0)
		defer release()
		_, code, line := lock(ctx, 50*time.Millisecond)
		Expect(code).To(Equal(harness.ExitUnavailable))
		Expect(line).To(ContainSubstring("stayed so for 50ms"))
		stopped, stop := context.WithCancel(ctx)
		stop()
		_, code, line = lock(stopped, time.Hour)
		Expect(code).To(Equal(harness.ExitInterrupted))
		Expect(line).To(ContainSubstring("waiting for hip:0"))
	})

	It("is not needed by a model", func(ctx SpecContext) {
		release, err := a.lockDevice(ctx, "sim:arch=gfx942", nil, 0)
		Expect(err).NotTo(HaveOccurred())
		Expect(release()).To(Succeed())
		Expect(os.ReadDir(dir)).To(BeEmpty())
	})

	It("names nobody where the file says nothing sensible", func(ctx SpecContext) {
		release, _, _ := lock(ctx, 0)
		defer release()
		Expect(os.WriteFile(path(), []byte("\x1b[2J 77 x"), 0)).To(Succeed())
		_, _, line := lock(ctx, 0)
		Expect(line).To(HavePrefix("hip:0 is in use by another process,"))
	})

	DescribeTable("that cannot be had at all is exit code 125",
		func(ctx SpecContext, spoil func()) {
			spoil()
			_, code, line := lock(ctx, time.Hour)
			Expect(code).To(Equal(harness.ExitUnavailable))
			Expect(line).To(And(ContainSubstring("stress-hip-0.lock"), ContainSubstring("TMPDIR")))
		},
		Entry("a directory in its place", func() { Expect(os.Mkdir(path(), 0o755)).To(Succeed()) }),
		Entry("a link in its place, which would be written through", func() {
			Expect(os.Symlink(filepath.Join(dir, "victim"), path())).To(Succeed())
		}),
		Entry("no directory", func() { Expect(os.Remove(dir)).To(Succeed()) }),
	)

	DescribeTable("goes by the device, whatever number it has here",
		func(want string, ordinal int, env ...string) {
			Expect(lockName(env, wire.Device{Driver: "hip", Ordinal: ordinal})).To(Equal("stress-hip-" + want + ".lock"))
		},
		Entry("as it is", "2", 2),
		Entry("an empty list hides nothing", "2", 2, "HIP_VISIBLE_DEVICES="),
		Entry("HIP", "5", 1, "HIP_VISIBLE_DEVICES=3, 5"),
		Entry("CUDA in its place", "5", 1, "CUDA_VISIBLE_DEVICES=3,5"),
		Entry("HIP wins over CUDA", "7", 0, "HIP_VISIBLE_DEVICES=7", "CUDA_VISIBLE_DEVICES=3"),
		Entry("ROCr", "4", 0, "ROCR_VISIBLE_DEVICES=4"),
		Entry("HIP among what ROCr left", "6", 0, "HIP_VISIBLE_DEVICES=1", "ROCR_VISIBLE_DEVICES=4,6"),
		Entry("a UUID", "GPU-1a2b", 0, "ROCR_VISIBLE_DEVICES=GPU-1a2b"),
		Entry("a path", "______x", 0, "ROCR_VISIBLE_DEVICES=../../x"),
		Entry("the last of two", "8", 0, "HIP_VISIBLE_DEVICES=7", "HIP_VISIBLE_DEVICES=8"),
		Entry("more than the list has", "3", 3, "HIP_VISIBLE_DEVICES=7"),
	)

	It("of a test ABI goes by its file", func() {
		abi := func(path string) string {
			return lockName(nil, wire.Device{TestABI: "x", Ordinal: 1, Libraries: []wire.Library{{Path: path}}})
		}
		file := filepath.Join(dir, "lib.so")
		Expect(os.WriteFile(file, nil, 0o644)).To(Succeed())
		Expect(os.Symlink(file, filepath.Join(dir, "link.so"))).To(Succeed())
		Expect(abi(file)).To(MatchRegexp(`^stress-abi-[0-9a-f]{12}-1\.lock$`))
		Expect(abi(filepath.Join(dir, "link.so"))).To(Equal(abi(file)))
		Expect(abi("/other.so")).NotTo(Equal(abi(file)))
	})
})

// cpuABI returns the environment in which the HIP test ABI over pthreads is
// device hip:0.
func cpuABI(dir string) []string {
	GinkgoHelper()
	for _, tool := range []string{"make", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			Skip("needs " + tool + " to build the test ABI")
		}
	}
	out, err := exec.Command("make", "-C", "../../rocm/hip/abi", "OUT="+dir, "cpu").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return append(os.Environ(), "STRESS_HIP_LIB="+filepath.Join(dir, "librocstress_abi_cpu.so"), "TMPDIR="+dir)
}

var _ = Describe("campaigns on one device", Label("slow"), func() {
	It("take turns, and the next one gets it when the first is killed", func() {
		dir := GinkgoT().TempDir()
		env := cpuABI(dir)
		stress := func(more ...string) *gexec.Session {
			cmd := exec.Command(stressPath, append(strings.Fields("run first-gemm --device hip --threads 2 --rounds 2 --shape 4x4x4 --no-progress"), more...)...)
			cmd.Dir, cmd.Env = dir, env
			s, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func() { s.Kill().Wait("10s") })
			return s
		}
		first := stress("--runs", "100000", "--out", "first")
		Eventually(func() int { return recorded(filepath.Join(dir, "first")) }, "30s").Should(BeNumerically(">=", 1))

		second := stress("--wait", "0", "--out", "second")
		Eventually(second, "30s").Should(gexec.Exit(harness.ExitUnavailable))
		Expect(string(second.Err.Contents())).To(ContainSubstring(fmt.Sprintf("hip:0 is in use by process %d", first.Command.Process.Pid)))
		Expect(string(second.Out.Contents())).To(BeEmpty())
		Expect(filepath.Join(dir, "second")).NotTo(BeADirectory())

		third := stress("--wait", "1h", "--children", "2", "--out", "third", "--format", "json")
		Eventually(func() string { return string(third.Err.Contents()) }, "30s").Should(ContainSubstring("waiting up to 1h0m0s"))
		first.Signal(unix.SIGKILL)
		Eventually(third, "60s").Should(gexec.Exit(harness.ExitClean))
		r := decode(string(third.Out.Contents()))
		Expect(r.Device.TestABI).NotTo(BeEmpty())
		for _, rec := range recordsOf(filepath.Join(dir, "third")) {
			Expect(rec.Libraries).To(MatchRegexp("^[0-9a-f]{12}$"))
		}
		Expect(r.Warnings).To(BeEmpty())

		By("continuing the first")
		editManifest(filepath.Join(dir, "first"), func(m *results.Manifest) { m.Plan.Runs = 1 })
		keepLines(filepath.Join(dir, "first"), 1, "")
		args := []string{"run", "--resume", "first", "--no-progress"}
		resume := func(env []string) *gexec.Session {
			cmd := exec.Command(stressPath, args...)
			cmd.Dir, cmd.Env = dir, env
			s, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			Eventually(s, "60s").Should(gexec.Exit())
			return s
		}
		editManifest(filepath.Join(dir, "first"), func(m *results.Manifest) { m.Device.Libraries[0].BuildID = "77" })
		s := resume(env)
		Expect(s.ExitCode()).To(Equal(harness.ExitUsage))
		Expect(string(s.Err.Contents())).To(MatchRegexp("librocstress_abi_cpu.so was build id 77, is build id [0-9a-f]{40}\n"))
		editManifest(filepath.Join(dir, "first"), func(m *results.Manifest) { m.Device = r.Device })
		s = resume(env)
		Expect(s.ExitCode()).To(Equal(harness.ExitClean), string(s.Err.Contents()))
		Expect(string(s.Out.Contents())).To(ContainSubstring("resumed:   1 children had been run before"))
	})
})
