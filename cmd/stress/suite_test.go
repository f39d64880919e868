package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"go.uber.org/goleak"

	"rocstress/childproc"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// TestMain makes the test binary a child where a driver started it: commands
// that tests run in this process start it as they start stress.
func TestMain(m *testing.M) {
	childproc.Main(entries())
	os.Exit(m.Run())
}

func TestStress(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "cmd/stress")
}

// stressPath is the binary for specs that need a process of its own.
var stressPath string

var _ = BeforeSuite(func() {
	var err error
	stressPath, err = gexec.Build("rocstress/cmd/stress", "-buildvcs=false")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(gexec.CleanupBuildArtifacts)
})

// ended is what a command came to.
type ended struct {
	code           int
	stdout, stderr string
}

// inProcess runs a command in this process. It leaves no goroutine.
func inProcess(args ...string) ended { return inProcessWith(os.Environ(), args...) }

func inProcessWith(env []string, args ...string) ended {
	GinkgoHelper()
	before := goleak.IgnoreCurrent()
	var out, errs bytes.Buffer
	code := run(context.Background(), args, env, strings.NewReader(""), &out, &errs)
	Eventually(func() error { return goleak.Find(before) }).Should(Succeed())
	return ended{code, out.String(), errs.String()}
}

// start starts the real binary in a directory of its own.
func start(dir string, args ...string) *gexec.Session {
	GinkgoHelper()
	cmd := exec.Command(stressPath, args...)
	cmd.Dir = dir
	s, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { s.Kill().Wait("10s") })
	return s
}

// small makes children short; specs add what they are about.
func small(args ...string) []string {
	return append(args, "--device", "sim", "--threads", "2", "--rounds", "2", "--shape", "4x4x4", "--children", "2", "--no-progress")
}

// broken makes every child fail: no handle is ever created, so no GEMM takes
// the route it should.
var broken = []string{"--sim", "create-fails=1000000"}

// freshDir returns a results directory that does not exist yet.
func freshDir() string { return filepath.Join(GinkgoT().TempDir(), "out") }

func expectGolden(name, got string) {
	GinkgoHelper()
	path := filepath.Join("testdata", name)
	if *update {
		Expect(os.WriteFile(path, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred(), "run: go test ./cmd/stress -update")
	Expect(got).To(Equal(string(want)), "if the change is meant, run: go test ./cmd/stress -update")
}
