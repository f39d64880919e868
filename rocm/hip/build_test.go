package hip

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// errUnbuildable is why a test that needs a C compiler skips.
var errUnbuildable = errors.New("needs a C compiler and the sources in abi/, or STRESS_ABI_DIR with the built libraries")

// builds is where this test process builds libraries, made on first use.
var builds = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "rocstress-abi-") })

func removeBuilds() {
	if dir, err := builds(); err == nil {
		_ = os.RemoveAll(dir) // a leftover in the temporary directory harms nothing
	}
}

func cc() string {
	if cc := os.Getenv("CC"); cc != "" {
		return cc
	}
	return "cc"
}

// compile runs the C compiler on files below abi/, in that directory.
func compile(args ...string) (string, error) {
	if _, err := exec.LookPath(cc()); err != nil {
		return "", fmt.Errorf("%w: %w", errUnbuildable, err)
	}
	if _, err := os.Stat("abi/abi.h"); err != nil {
		return "", fmt.Errorf("%w: %w", errUnbuildable, err)
	}
	cmd := exec.Command(cc(), args...)
	cmd.Dir = "abi"
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out), nil
}

// sources returns C files below abi/, relative to it.
func sources(dirs ...string) []string {
	var files []string
	for _, dir := range dirs {
		found, _ := filepath.Glob(filepath.Join("abi", dir, "*.c")) // the pattern is well formed
		for _, f := range found {
			rel, _ := filepath.Rel("abi", f) // both are relative
			files = append(files, rel)
		}
	}
	return files
}

// buildABI returns a test ABI, "cpu" or "nvidia", built by the Makefile or
// found in STRESS_ABI_DIR.
func buildABI(name string) (string, error) {
	lib := "librocstress_abi_" + name + ".so"
	if dir := os.Getenv("STRESS_ABI_DIR"); dir != "" {
		path, err := filepath.Abs(filepath.Join(dir, lib))
		if err == nil {
			_, err = os.Stat(path)
		}
		return path, err
	}
	dir, err := builds()
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath("make"); err != nil {
		return "", fmt.Errorf("%w: %w", errUnbuildable, err)
	}
	if _, err := exec.LookPath(cc()); err != nil {
		return "", fmt.Errorf("%w: %w", errUnbuildable, err)
	}
	out, err := exec.Command("make", "-C", "abi", "OUT="+dir, name).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("make %s: %w\n%s", name, err, out)
	}
	return filepath.Join(dir, lib), nil
}

// buildVariant compiles the CPU test ABI with flags into a file of its own.
func buildVariant(path string, flags ...string) error {
	args := append([]string{"-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden"}, flags...)
	args = append(args, sources("common", "cpu")...)
	_, err := compile(append(args, "-o", path, "-lpthread")...)
	return err
}

// fakeCUDA builds a CUDA driver, cuBLAS and NVRTC over the CPU test ABI into dir.
func fakeCUDA(dir string) error {
	path := filepath.Join(dir, "libcuda.so.1")
	err := buildVariant(path, "-DABI_EXPORT=", `-DABI_ENV="FAKE_CUDA"`, "-Wall", "-Wextra", "-Werror", "check/fakecuda.c")
	if err != nil {
		return err
	}
	return errors.Join(os.Symlink("libcuda.so.1", filepath.Join(dir, "libcublas.so.13")),
		os.Symlink("libcuda.so.1", filepath.Join(dir, "libnvrtc.so.13")))
}

// buildStub compiles one line of C into a library.
func buildStub(path, text string, flags ...string) error {
	src := path + ".c"
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		return err
	}
	_, err := compile(append(append([]string{"-fPIC", "-shared", "-o", path, src}, flags...), "-Wl,-soname,"+filepath.Base(path))...)
	return err
}
