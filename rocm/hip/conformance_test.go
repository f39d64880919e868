package hip

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"rocstress/rocm"
	"rocstress/rocm/conformance"
)

// TestConformanceHere runs the suite in this process, on the library that
// STRESS_HIP_LIB names or the search finds. TestConformance runs it in a
// process for each library; on a GPU host it can be run alone.
func TestConformanceHere(t *testing.T) {
	var none *rocm.NoDeviceError
	var lib *rocm.LibraryError
	switch d, err := Open(0); {
	case errors.As(err, &none), errors.As(err, &lib) && os.Getenv(EnvHIP) == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	default:
		t.Logf("%+v", d.Describe(nil))
	}
	conformance.Run(t, func() rocm.Driver {
		d, err := Open(0)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// hereIn runs TestConformanceHere in a process of its own.
func hereIn(t *testing.T, vars ...string) {
	t.Helper()
	g := NewWithT(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestConformanceHere$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(cleanEnv(), vars...)
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	if strings.Contains(string(out), "--- SKIP: TestConformanceHere ") {
		t.Skip(string(out))
	}
	g.Expect(string(out)).To(ContainSubstring("--- PASS: TestConformanceHere "))
	g.Expect(string(out)).To(ContainSubstring("--- PASS: TestConformanceHere/multiplies_exactly "), "the suite ran")
}

func TestConformance(t *testing.T) {
	abi := func(t *testing.T, name string) string {
		path, err := buildABI(name)
		if errors.Is(err, errUnbuildable) {
			t.Skip(err)
		}
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return EnvHIP + "=" + path
	}
	t.Run("CPU test ABI", func(t *testing.T) { hereIn(t, abi(t, "cpu"), "ROCSTRESS_ABI=devices=2") })
	t.Run("CUDA test ABI", func(t *testing.T) { hereIn(t, abi(t, "nvidia")) })
	t.Run("CUDA test ABI over a fake CUDA", func(t *testing.T) {
		lib, dir := abi(t, "nvidia"), t.TempDir()
		NewWithT(t).Expect(fakeCUDA(dir)).To(Succeed())
		hereIn(t, lib, "LD_LIBRARY_PATH="+dir, "FAKE_CUDA=devices=2")
	})
	t.Run("ROCm", func(t *testing.T) { hereIn(t) })
}
