package hip

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/rocm"
)

// fakeSearch finds the names in found, under an environment.
func fakeSearch(env map[string]string, found ...string) (search, *[]string) {
	var tried []string
	return search{
		getenv: func(name string) string { return env[name] },
		dlopen: func(name string) (uintptr, error) {
			tried = append(tried, name)
			for i, f := range found {
				if f == name {
					return uintptr(i + 1), nil
				}
			}
			return 0, errors.New(name + ": no such file")
		},
	}, &tried
}

var _ = Describe("the search", func() {
	It("tries ROCM_PATH, /opt/rocm and the loader's path, newest first", func() {
		s, _ := fakeSearch(map[string]string{envROCm: "/r"})
		Expect(s.candidates(hipSonames())).To(Equal([]string{
			"/r/lib/libamdhip64.so.7", "/r/lib/libamdhip64.so.6", "/r/lib/libamdhip64.so.5", "/r/lib/libamdhip64.so",
			"/opt/rocm/lib/libamdhip64.so.7", "/opt/rocm/lib/libamdhip64.so.6",
			"/opt/rocm/lib/libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so",
			"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so",
		}))
	})

	It("tries each file once", func() {
		s, _ := fakeSearch(map[string]string{envROCm: "/opt/rocm"})
		Expect(s.candidates([]string{"a.so"}, "/opt/rocm/lib")).To(Equal([]string{"/opt/rocm/lib/a.so", "a.so"}))
	})

	It("takes the first that loads", func() {
		s, tried := fakeSearch(nil, "libamdhip64.so.6", "libamdhip64.so.5")
		lib, err := s.load(wantHIP, EnvHIP, s.candidates(hipSonames()))
		Expect(err).NotTo(HaveOccurred())
		Expect(lib).To(Equal(library{name: "libamdhip64.so.6", handle: 1}))
		Expect((*tried)[len(*tried)-1]).To(Equal("libamdhip64.so.6"))
	})

	It("names everything tried and why it failed", func() {
		s, _ := fakeSearch(nil)
		_, err := s.load(wantHIP, EnvHIP, s.candidates(hipSonames()))
		var lib *rocm.LibraryError
		Expect(errors.As(err, &lib)).To(BeTrue())
		Expect(lib.Symbol).To(BeEmpty())
		Expect(lib.Tried).To(HaveLen(9))
		Expect(lib.Tried[0]).To(Equal("/opt/rocm/lib/libamdhip64.so.7: no such file"))
		Expect(lib.Tried[8]).To(ContainSubstring("STRESS_HIP_LIB: not set"))
	})

	It("tries nothing but the override", func() {
		s, tried := fakeSearch(map[string]string{EnvHIP: "/x/lib.so"}, "libamdhip64.so.7")
		_, err := s.load(wantHIP, EnvHIP, s.candidates(hipSonames()))
		Expect(err).To(MatchError(ContainSubstring("tried STRESS_HIP_LIB=/x/lib.so: no such file")))
		Expect(*tried).To(Equal([]string{"/x/lib.so"}))
	})

	It("refuses a relative override without loading it", func() {
		s, tried := fakeSearch(map[string]string{EnvHIP: "lib.so"}, "lib.so")
		_, err := s.load(wantHIP, EnvHIP, s.candidates(hipSonames()))
		Expect(err).To(MatchError(ContainSubstring("STRESS_HIP_LIB=lib.so: not an absolute path")))
		Expect(*tried).To(BeEmpty())
	})

	DescribeTable("chooses rocBLAS by HIP's major version",
		func(major int, want ...string) { Expect(rocBLASSonames(major)).To(Equal(want)) },
		Entry(nil, 5, "librocblas.so.3", "librocblas.so.0"),
		Entry(nil, 6, "librocblas.so.4"),
		Entry(nil, 7, "librocblas.so.5"),
		Entry(nil, 8, "librocblas.so"),
	)
})

func TestVersionText(t *testing.T) {
	g := NewWithT(t)
	g.Expect(versionText(50221153)).To(Equal("5.2.21153"))
	g.Expect(versionText(70253211)).To(Equal("7.2.53211"))
	rapid.Check(t, func(t *rapid.T) {
		major, minor := rapid.IntRange(1, 99).Draw(t, "major"), rapid.IntRange(0, 99).Draw(t, "minor")
		patch := rapid.IntRange(0, 99_999).Draw(t, "patch")
		v := major*10_000_000 + minor*100_000 + patch
		NewWithT(t).Expect(versionText(v)).To(Equal(fmt.Sprintf("%d.%d.%d", major, minor, patch)))
		NewWithT(t).Expect((&hipLib{version: v}).major()).To(Equal(major))
	})
}
