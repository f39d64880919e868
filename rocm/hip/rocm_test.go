package hip

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/rocm"
)

// The libraries below stand for real ones: the CPU test ABI without its label,
// under the names and with the version that a ROCm release has.

const (
	unlabelled = "-Drocstress_abi_label=unused_label"
	version64  = "-DABI_HIP_VERSION=60443484"
	version52  = "-DABI_HIP_VERSION=50221153"
	noR0600    = "-DhipGetDevicePropertiesR0600=unused_properties"
)

// release builds a ROCm release in a new directory, whose HIP is hip and whose
// rocBLAS is the same file under the name blas, and returns it.
func release(hip, blas string, flags ...string) string {
	GinkgoHelper()
	root := GinkgoT().TempDir()
	lib := filepath.Join(root, "lib")
	Expect(os.Mkdir(lib, 0o755)).To(Succeed())
	skipUnbuildable(buildVariant(filepath.Join(lib, hip), append(flags, "-Wl,-soname,"+hip)...))
	if blas != "" {
		Expect(os.Symlink(hip, filepath.Join(lib, blas))).To(Succeed())
	}
	return root
}

var _ = Describe("a ROCm release", func() {
	It("is found below ROCM_PATH, with the rocBLAS of its major version", func() {
		root := release("libamdhip64.so.6", "librocblas.so.4", unlabelled, version64)
		var o opened
		reexec("open", &o, "ROCM_PATH="+root, "ROCSTRESS_ABI=arch=gfx942")
		Expect(o.Err).To(Equal(seen{}))
		Expect(o.Desc.TestABI).To(BeEmpty())
		Expect(o.Desc.Runtime).To(Equal("6.4.43484"))
		Expect(o.Desc.AbortsOnFault).To(BeTrue(), "HIP up to 6 aborts")
		Expect(o.Desc.Libraries[0].Name).To(Equal(filepath.Join(root, "lib", "libamdhip64.so.6")))
		Expect(o.Props.Name).To(Equal("HIP test ABI over pthreads"), "from hipDeviceGetName")
		Expect(o.Props.Arch).To(Equal("gfx942"))
	})

	It("is read in the old layout of the properties before HIP 6", func() {
		root := release("libamdhip64.so.5", "librocblas.so.0", unlabelled, version52, noR0600)
		var o opened
		reexec("open", &o, "ROCM_PATH="+root, "ROCSTRESS_ABI=arch=gfx90a:sramecc+:xnack-")
		Expect(o.Err).To(Equal(seen{}))
		Expect(o.Desc.Runtime).To(Equal("5.2.21153"))
		Expect(o.Props.Arch).To(Equal("gfx90a:sramecc+:xnack-"))
	})

	It("is asked for its device before rocBLAS is missed", func() {
		root := release("libamdhip64.so.6", "", unlabelled, version64)
		var o opened
		reexec("open", &o, "ROCM_PATH="+root, "ROCSTRESS_ABI=devices=0")
		Expect(o.Err.Kind).To(Equal("no device"))
		Expect(o.Err.Text).To(Equal("no usable device: hipGetDeviceCount failed: hipErrorNoDevice (100) " +
			"(libamdhip64.so.6, HIP 6.4.43484)"))

		reexec("open", &o, "ROCM_PATH="+root)
		Expect(o.Err.Kind).To(Equal("library"))
		Expect(o.Err.Text).To(ContainSubstring("rocBLAS (librocblas) cannot be loaded: tried " + root + "/lib/librocblas.so.4"))

		var s surveyed
		reexec("survey", &s, "ROCM_PATH="+root, "ROCSTRESS_ABI=devices=0")
		Expect(s.HIPErr).To(Equal(seen{}))
		Expect(s.NoDevice.Code).To(Equal(rocm.HipErrorNoDevice))
		Expect(s.BLASErr.Kind).To(Equal("library"))
		Expect(s.Usable).To(BeFalse())
	})

	It("is refused with a rocBLAS that brings another HIP", func() {
		root := release("libamdhip64.so.7", "", unlabelled)
		lib := filepath.Join(root, "lib")
		skipUnbuildable(buildStub(filepath.Join(lib, "libamdhip64.so.6"), "int other;\n"))
		blas := filepath.Join(lib, "librocblas.so.4")
		skipUnbuildable(buildStub(blas, `extern int other;
int rocblas_create_handle(void) { return other; }
int rocblas_destroy_handle(void) { return other; }
int rocblas_set_stream(void) { return other; }
int rocblas_sgemm(void) { return other; }
int rocblas_gemm_ex(void) { return other; }
int rocblas_get_version_string(char *s) { s[0] = 0; return other; }
`, "-L"+lib, "-l:libamdhip64.so.6", "-Wl,-rpath,$ORIGIN"))
		var o opened
		reexec("open", &o, "ROCM_PATH="+root, EnvRocBLAS+"="+blas)
		Expect(o.Err.Kind).To(Equal("library"))
		Expect(o.Err.Text).To(SatisfyAll(ContainSubstring("one HIP runtime for the process"),
			ContainSubstring(lib+"/libamdhip64.so.7: loaded first"), ContainSubstring(lib+"/libamdhip64.so.6: mapped as well")))
	})

	DescribeTable("is refused without a symbol, which is named",
		func(symbol string, flags ...string) {
			root := release("libamdhip64.so.7", "librocblas.so.5", append(flags, unlabelled)...)
			var o opened
			reexec("open", &o, "ROCM_PATH="+root)
			Expect(o.Err.Kind).To(Equal("library"))
			Expect(o.Err.Text).To(SatisfyAll(ContainSubstring("lacks the symbol "+symbol+" "),
				ContainSubstring(root+"/lib/lib"), ContainSubstring("declared in")))
		},
		Entry("of HIP", "hipStreamQuery", "-DhipStreamQuery=unused"),
		Entry("of rocBLAS", "rocblas_sgemm", "-Drocblas_sgemm=unused"),
		Entry("of either layout", "hipGetDeviceProperties", noR0600, "-DhipGetDeviceProperties=unused"),
	)
})

var _ = Describe("the HIP header of this host", func() {
	It("has the values and offsets of abi.h", func() {
		const header = "/usr/include/hip/hip_runtime_api.h"
		if _, err := os.Stat(header); err != nil {
			Skip("needs a HIP header (Debian: libamdhip64-dev): " + err.Error())
		}
		args := []string{"-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-D__HIP_PLATFORM_AMD__"}
		_, err := compile(append(args, "check/layout.c")...)
		skipUnbuildable(err)
		_, err = compile(append(args, "-include", "planted.h", "-I"+planted("ABI_R0000_ARCH = 396", "ABI_R0000_ARCH = 400"), "check/layout.c")...)
		Expect(err).To(HaveOccurred(), "a wrong offset is noticed")
	})
})

var _ = Describe("the prototypes of the HIP header of this host", func() {
	check := func(dir string) string {
		GinkgoHelper()
		out, err := exec.Command("make", "-C", dir, "OUT="+GinkgoT().TempDir(), "check").CombinedOutput()
		if err == nil && strings.Contains(string(out), "\nskipped: ") {
			Skip(string(out))
		}
		return string(out)
	}

	It("are those of abi.h, or the build of the check fails", func() {
		for _, tool := range []string{"make", cc()} {
			if _, err := exec.LookPath(tool); err != nil {
				Skip(errUnbuildable.Error() + ": " + err.Error())
			}
		}
		if _, err := compile("-x", "c++", "-fsyntax-only", os.DevNull); err != nil {
			Skip("needs a C++ compiler: " + err.Error())
		}
		Expect(check("abi")).NotTo(ContainSubstring("error:"))

		changed := filepath.Join(GinkgoT().TempDir(), "abi")
		Expect(os.CopyFS(changed, os.DirFS("abi"))).To(Succeed())
		text, err := os.ReadFile("abi/abi.h")
		Expect(err).NotTo(HaveOccurred())
		wrong := replaceOnce(string(text), "unsigned shared_bytes, void *stream, void **params", "unsigned shared_bytes, void **params")
		Expect(os.WriteFile(filepath.Join(changed, "abi.h"), []byte(wrong), 0o600)).To(Succeed())
		Expect(check(changed)).To(ContainSubstring("hipModuleLaunchKernel is declared otherwise"))
	})
})

// planted writes abi.h with a change, as planted.h in a new directory.
func planted(from, to string) string {
	GinkgoHelper()
	text, err := os.ReadFile("abi/abi.h")
	Expect(err).NotTo(HaveOccurred())
	changed := []byte("#define ABI_CONSTANTS_ONLY\n" + replaceOnce(string(text), from, to))
	dir := GinkgoT().TempDir()
	Expect(os.WriteFile(filepath.Join(dir, "planted.h"), changed, 0o600)).To(Succeed())
	return dir
}

func replaceOnce(text, from, to string) string {
	GinkgoHelper()
	Expect(strings.Count(text, from)).To(Equal(1), from)
	return strings.Replace(text, from, to, 1)
}

var _ = Describe("the real runtime of this host", func() {
	It("is surveyed and opened without a crash", func() {
		var s surveyed
		reexec("survey", &s)
		if s.HIPErr.Kind == "library" {
			Skip(s.HIPErr.Text)
		}
		Expect(s.HIPErr).To(Equal(seen{}))
		Expect(s.HIP.Path).To(ContainSubstring("libamdhip64.so"))
		Expect(s.HIPVersion).To(MatchRegexp(`^\d+\.\d+\.\d+$`))
		Expect(s.HIP.BuildID).To(MatchRegexp("^[0-9a-f]+$"))
		var o opened
		reexec("open", &o)
		if s.NoDevice.Kind == "no device" {
			Expect(s.Devices).To(BeEmpty())
			Expect(s.NoDevice.Code).To(BeElementOf(0, rocm.HipErrorNoDevice, rocm.HipErrorInvalidDevice))
			Expect(o.Err).To(Equal(s.NoDevice))
		}
	})
})
