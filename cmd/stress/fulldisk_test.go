package main

import (
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"golang.org/x/sys/unix"

	"rocstress/harness"
	"rocstress/harness/results"
)

// smallDisk returns a file system of so many free bytes, mounted for the spec.
func smallDisk(size int) string {
	GinkgoHelper()
	dir := filepath.Join(GinkgoT().TempDir(), "disk")
	Expect(os.Mkdir(dir, 0o755)).To(Succeed())
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		Skip(fmt.Sprintf("needs the right to mount a tmpfs: %v", err))
	}
	DeferCleanup(unix.Unmount, dir, 0)
	return dir
}

// ofProcess runs a command in a process of its own, to its end.
func ofProcess(args ...string) ended {
	GinkgoHelper()
	s := start(GinkgoT().TempDir(), args...)
	Eventually(s, "60s").Should(gexec.Exit(), "it hangs")
	return ended{s.ExitCode(), string(s.Out.Contents()), string(s.Err.Contents())}
}

var _ = Describe("a full disk", func() {
	It("ends the campaign with exit code 4, and what was counted is printed", func() {
		// Two pages for the manifest, which is replaced, and the rest for
		// results: room for some 20 children of the 400.
		disk := smallDisk(5 * os.Getpagesize())
		out := filepath.Join(disk, "out")
		got := ofProcess(small("run", "first-gemm", "--runs", "200", "-p", "2", "--format", "json", "--out", out)...)
		Expect(got.code).To(Equal(harness.ExitHarness), got.stderr)
		Expect(got.stderr).To(And(HavePrefix("stress: "), ContainSubstring("no space left on device"), ContainSubstring(out)))
		r := decode(got.stdout)
		Expect(r.Stopped).To(Equal("the harness failed"))
		n := r.Scenarios[0].Arms[0].Children
		Expect(n).To(And(BeNumerically(">=", 2), BeNumerically("<", 400)))
		Expect(recordsOf(out)).To(HaveLen(n), "what was printed is what was kept")

		By("making room")
		Expect(unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=4m")).To(Succeed())
		editManifest(out, func(m *results.Manifest) { m.Plan.Runs = n/2 + 2 })
		got = ofProcess("run", "--resume", out, "--format", "json", "--no-progress")
		Expect(got.code).To(Equal(harness.ExitClean), got.stderr)
		r = decode(got.stdout)
		Expect(r.Earlier).To(Equal(n))
		Expect(r.Scenarios[0].Arms[0].Children).To(Equal(2 * (n/2 + 2)))
	})

	It("that has no room at all is exit code 4 before any child runs", func() {
		disk := smallDisk(4 * os.Getpagesize())
		Expect(os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 4*os.Getpagesize()), 0o644)).To(Succeed())
		got := inProcess(small("run", "first-gemm", "--out", filepath.Join(disk, "out"))...)
		Expect(got.code).To(Equal(harness.ExitHarness), got.stderr)
		Expect(got.stderr).To(And(ContainSubstring(`--out "`+disk), ContainSubstring("no space left on device")))
		Expect(got.stdout).To(BeEmpty())
	})
})
