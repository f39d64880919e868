package hip

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/rocm"
)

// hiprtcCompilation is HIPRTC_ERROR_COMPILATION.
const hiprtcCompilation = 6

// kernelSpecs are what both test ABIs must do.
func kernelSpecs(lib func() []string) {
	It("multiplies exactly in its own kernel, and in bf16 within the bound", func() {
		var verdicts []string
		reexec("products", &verdicts, lib()...)
		Expect(verdicts).To(Equal([]string{"all 561 elements exact", "all 561 elements exact"}))
	})

	It("rounds bf16 to nearest, ties to even", func() {
		var got []float32
		reexec("rounds", &got, lib()...)
		Expect(got).To(Equal([]float32{256, 260, 260, 264}))
	})

	It("refuses a launch that AMD refuses", func() {
		var all []seen
		reexec("launches", &all, lib()...)
		var codes []int
		for _, s := range all {
			codes = append(codes, s.Code)
		}
		Expect(codes).To(Equal([]int{
			rocm.HipErrorInvalidHandle, rocm.HipErrorInvalidHandle,
			rocm.HipErrorInvalidValue, rocm.HipErrorInvalidValue, rocm.HipErrorInvalidValue,
			rocm.HipErrorInvalidConfiguration, 0, 0, 0, rocm.HipErrorIllegalAddress,
		}), "%+v", all)
	})

	It("goes on with new things after a reset, and refuses the old ones", func() {
		var r reset
		stderr := reexec("reset", &r, lib()...)
		Expect(r.Err).To(Equal(seen{}), stderr)
		Expect(r.Launch.Code).To(Equal(rocm.HipErrorInvalidHandle), r.Launch.Text)
		Expect(r.Sync.Code).To(Equal(rocm.HipErrorInvalidHandle), r.Sync.Text)
		Expect(r.Copy.Code).To(Equal(rocm.HipErrorInvalidHandle), r.Copy.Text)
		Expect(r.Gemm.Code).To(Equal(rocm.RocBLASInternalError), r.Gemm.Text)
		Expect(r.Free.Code).To(Equal(rocm.HipErrorInvalidValue), r.Free.Text)
		Expect(r.Destroy).To(Equal(seen{}), "a handle outlives the reset")
		Expect(r.Again).To(Equal("all 561 elements exact"))
		Expect(r.Close).To(Equal(seen{}), "what the reset took is not unloaded again")
	})

	It("says which kernel it cannot compile, and where", func() {
		var all []seen
		reexec("loads", &all, lib()...)
		Expect(all).To(HaveLen(6))
		Expect(all[0]).To(Equal(seen{}))
		Expect(all[1].Code).To(Equal(hiprtcCompilation))
		Expect(all[1].Text).To(SatisfyAll(
			HavePrefix("kernel other for gfx1151: hiprtcCompileProgram failed: HIPRTC_ERROR_COMPILATION (6); the compiler said:\n"),
			ContainSubstring("other.hip:3: error: kernel 'other' is none that this test ABI has")))
		Expect(all[2].Text).To(ContainSubstring(`error: no extern "C" __global__ void function`))
		Expect(all[3].Text).To(Equal("kernel other: hipModuleGetFunction failed: hipErrorNotFound (500)"))
		Expect(all[4].Text).To(ContainSubstring("a kernel needs a name and HIP C++ source"))
		Expect(all[5]).To(Equal(seen{}), "closes")
	})
}

var _ = Describe("kernels on the CPU test ABI", func() {
	kernelSpecs(func() []string { return []string{cpuABI()} })

	It("of a handle whose workspace a reset freed end the device", func() {
		var all []seen
		reexec("rebound", &all, cpuABI())
		Expect(all).To(HaveLen(3))
		Expect(all[:2]).To(Equal([]seen{{}, {}}), "nobody notices before")
		Expect(all[2].Code).To(Equal(rocm.HipErrorIllegalAddress))
	})

	It("and bf16 GEMMs fail on demand", func() {
		var codes []string
		reexec("products", &codes, cpuABI(), "ROCSTRESS_ABI=gemm-ex-fails=1,gemm-ex-status=2")
		Expect(codes).To(Equal([]string{"rocblas_gemm_ex failed: rocblas_status_not_implemented (2)"}))
	})

	It("are compiled without asking comgr, as the survey says", func() {
		var s surveyed
		reexec("survey", &s, cpuABI(), "ROCSTRESS_ABI=devices=2,arch=gfx90a:sramecc+:xnack-")
		Expect(s.HIPRTC.Path).To(Equal(s.HIP.Path))
		Expect(s.HIPRTC.BuildID).To(Equal(s.HIP.BuildID))
		Expect(s.Comgr).To(Equal(LibraryFinding{}))
		Expect(s.Targets).To(Equal([]Target{{Arch: "gfx90a", Answer: "skipped: test ABI", Known: true}}))
	})
})

var _ = Describe("kernels on the CUDA test ABI", Ordered, func() {
	var vars []string

	BeforeAll(func() {
		built, err := buildABI("nvidia")
		skipUnbuildable(err)
		dir := GinkgoT().TempDir()
		skipUnbuildable(fakeCUDA(dir))
		vars = []string{EnvHIP + "=" + built, "LD_LIBRARY_PATH=" + dir}
	})

	kernelSpecs(func() []string { return vars })
})

// comgrOf is the source of a comgr that knows two architectures.
const comgrOf = `
int amd_comgr_get_isa_count(unsigned long *n) { *n = 2; return 0; }
int amd_comgr_get_isa_name(unsigned long i, const char **name)
{
    static const char *const names[] = {"amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1030"};
    *name = names[i];
    return 0;
}
`

// saysError is the source of a hiprtc that succeeds with an error in its log,
// as HIP 6.4 does for gfx9-generic.
const saysError = `
#include <string.h>
static const char log[] = "error: cannot find ROCm device library";
int hiprtcCreateProgram(void **p) { *p = (void *)1; return 0; }
int hiprtcCompileProgram(void) { return 0; }
int hiprtcGetProgramLogSize(void *p, unsigned long *n) { (void)p; *n = sizeof log; return 0; }
int hiprtcGetProgramLog(void *p, char *to) { (void)p; memcpy(to, log, sizeof log); return 0; }
int hiprtcGetCodeSize(void *p, unsigned long *n) { (void)p; *n = 4; return 0; }
int hiprtcGetCode(void *p, char *to) { (void)p; memcpy(to, "code", 4); return 0; }
int hiprtcDestroyProgram(void) { return 0; }
`

var _ = Describe("the compiler of a ROCm release", func() {
	loads := func(vars ...string) seen {
		GinkgoHelper()
		var all []seen
		reexec("loads", &all, vars...)
		return all[0]
	}
	withComgr := func(root, soname string) {
		GinkgoHelper()
		skipUnbuildable(buildStub(filepath.Join(root, "lib", soname), comgrOf))
	}

	It("is HIP itself up to 6, for what comgr knows", func() {
		root := release("libamdhip64.so.6", "librocblas.so.4", unlabelled, version64)
		withComgr(root, "libamd_comgr.so.3")
		Expect(loads("ROCM_PATH="+root, "ROCSTRESS_ABI=arch=gfx90a:sramecc+:xnack-")).To(Equal(seen{}))
		refused := loads("ROCM_PATH="+root, "ROCSTRESS_ABI=arch=gfx1151")
		Expect(refused.Text).To(Equal("the kernel compiler does not know the architecture: gfx1151 is none of the 2 " +
			"that libamd_comgr.so.3 knows; use a ROCm release that supports it"))

		var s surveyed
		reexec("survey", &s, "ROCM_PATH="+root, "ROCSTRESS_ABI=arch=gfx1151")
		Expect(s.HIPRTC.Path).To(Equal(s.HIP.Path))
		Expect(s.Comgr.Version).To(Equal("2 architectures"))
		Expect(s.Targets).To(Equal([]Target{{Arch: "gfx1151", Answer: refused.Text}}))
		reexec("survey", &s, "ROCM_PATH="+root, "ROCSTRESS_ABI=arch=gfx1030")
		Expect(s.Targets).To(Equal([]Target{{Arch: "gfx1030", Answer: "known to libamd_comgr.so.3", Known: true}}))
	})

	It("is a library of its own since 7, missed by the first kernel alone", func() {
		root := release("libamdhip64.so.7", "librocblas.so.5", unlabelled)
		withComgr(root, "libamd_comgr.so.2")
		vars := []string{"ROCM_PATH=" + root, "ROCSTRESS_ABI=arch=gfx90a"}
		missed := loads(vars...)
		Expect(missed.Kind).To(Equal("library"))
		Expect(missed.Text).To(SatisfyAll(
			ContainSubstring("kernel compiler (libhiprtc) cannot be loaded: tried "+root+"/lib/libhiprtc.so.7: "),
			ContainSubstring("STRESS_HIPRTC_LIB: not set")))
		var s surveyed
		reexec("survey", &s, vars...)
		Expect(s.RTCErr.Text).To(Equal(missed.Text))
		Expect(s.Usable).To(BeTrue(), "a device can do without kernels")

		Expect(os.Symlink("libamdhip64.so.7", filepath.Join(root, "lib", "libhiprtc.so.7"))).To(Succeed())
		Expect(loads(vars...)).To(Equal(seen{}))
	})

	It("is the file that STRESS_HIPRTC_LIB names, and no other", func() {
		root := release("libamdhip64.so.6", "librocblas.so.4", unlabelled, version64)
		withComgr(root, "libamd_comgr.so.3")
		stub := filepath.Join(root, "says_error.so")
		skipUnbuildable(buildStub(stub, saysError))
		said := loads("ROCM_PATH="+root, "ROCSTRESS_ABI=arch=gfx90a", EnvHIPRTC+"="+stub)
		Expect(said.Code).To(Equal(hiprtcCompilation), "success with an error in the log is none")
		Expect(said.Text).To(HaveSuffix("the compiler said:\nerror: cannot find ROCm device library"))

		gone := loads("ROCM_PATH="+root, "ROCSTRESS_ABI=arch=gfx90a", EnvHIPRTC+"=/nonexistent/rtc.so")
		Expect(gone.Text).To(ContainSubstring("kernel compiler (libhiprtc) cannot be loaded: tried STRESS_HIPRTC_LIB=/nonexistent/rtc.so: "))
	})

	It("is refused without a symbol, which is named", func() {
		root := release("libamdhip64.so.6", "librocblas.so.4", unlabelled, version64, "-DhiprtcGetCode=unused")
		refused := loads("ROCM_PATH=" + root)
		Expect(refused.Kind).To(Equal("library"))
		Expect(refused.Text).To(ContainSubstring("kernel compiler (libhiprtc) lacks the symbol hiprtcGetCode "))
	})
})

var _ = Describe("the real compiler of this host", func() {
	It("compiles the naive GEMM for what comgr knows, and survives what it does not", func() {
		var all map[string]compiled
		reexec("compiles", &all)
		if err := all[""].Err; err.Kind == "library" {
			Skip(err.Text)
		}
		known := 0
		for arch, c := range all {
			if arch == "wrong" {
				continue
			}
			if c.Unknown {
				Expect(c.Err.Text).To(ContainSubstring(arch + " is none of the "))
				continue
			}
			known++
			Expect(c.Err).To(Equal(seen{}), arch)
			Expect(c.Machine).To(Equal(elf.Machine(224)), "EM_AMDGPU")
			Expect(c.Type).To(Equal(elf.ET_DYN))
			Expect(c.Symbols).To(ContainElement(rocm.NaiveGEMMKernel().Name))
		}
		Expect(known).To(BeNumerically(">=", 3), "gfx90a twice and gfx1030 are in every release")
		Expect(all["gfx9999"].Unknown).To(BeTrue())
		Expect(all["wrong"].Err.Code).To(Equal(hiprtcCompilation))
		Expect(all["wrong"].Err.Text).To(MatchRegexp(`:3:\d+: error: `), "the compiler's log, with the place")
	})
})

var _ = Describe("the compiler's log in an error", func() {
	It("is bounded, from its start", func() {
		Expect(quoted(" \n")).To(Equal("; the compiler said nothing"))
		Expect(quoted("a.hip:1: error: x\n")).To(Equal("; the compiler said:\na.hip:1: error: x"))
		long := quoted("first" + strings.Repeat("x", 10_000))
		Expect(len(long)).To(BeNumerically("<", maxLog+100))
		Expect(long).To(And(HavePrefix("; the compiler said:\nfirstxx"), HaveSuffix("(5909 more bytes)")))
	})
})
