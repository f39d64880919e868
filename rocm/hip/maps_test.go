package hip

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"rocstress/rocm"
)

const someMaps = `55d0c0000000-55d0c0001000 r--p 00000000 08:01 123                        /usr/bin/stress
7f00aa000000-7f00aa021000 rw-p 00000000 00:00 0
7f00ab000000-7f00ab100000 r-xp 00001000 08:01 456                        /opt/rocm 7/lib/libamdhip64.so.7.2.53211
7f00ab100000-7f00ab200000 rw-p 00101000 08:01 456                        /opt/rocm 7/lib/libamdhip64.so.7.2.53211
7f00ac000000-7f00ac100000 r-xp 00001000 08:01 789                        /usr/lib/libamdhip64.so.6 (deleted)
7f00ad000000-7f00ad100000 r-xp 00001000 08:01 790                        /usr/lib/libamdhip64.sorry
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
`

func TestMapsAreRead(t *testing.T) {
	g := NewWithT(t)
	maps := parseMaps([]byte(someMaps))
	g.Expect(maps).To(HaveLen(5))
	const own = "/opt/rocm 7/lib/libamdhip64.so.7.2.53211"
	g.Expect(fileAt(maps, 0x7f00ab000000)).To(Equal(own))
	g.Expect(fileAt(maps, 0x7f00ab1fffff)).To(Equal(own))
	g.Expect(fileAt(maps, 0x7f00ab200000)).To(BeEmpty())
	g.Expect(filesNamed(maps, "libamdhip64.so")).To(Equal([]string{own, "/usr/lib/libamdhip64.so.6"}))
}

func TestOneRuntime(t *testing.T) {
	g := NewWithT(t)
	const own = "/opt/rocm 7/lib/libamdhip64.so.7.2.53211"
	two := parseMaps([]byte(someMaps))
	err := oneRuntime(two, own)
	var lib *rocm.LibraryError
	g.Expect(errors.As(err, &lib)).To(BeTrue())
	g.Expect(err).To(MatchError(SatisfyAll(ContainSubstring(own), ContainSubstring("/usr/lib/libamdhip64.so.6: mapped as well"))))
	g.Expect(oneRuntime(two[:3], own)).To(Succeed())
	g.Expect(oneRuntime(two[:3], "/x/librocstress_abi_cpu.so")).NotTo(Succeed(), "a test ABI beside a real runtime")
}

func TestThisProcessHasMaps(t *testing.T) {
	g := NewWithT(t)
	maps, err := readMaps()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(maps).NotTo(BeEmpty())
}

func FuzzParseMaps(f *testing.F) {
	f.Add([]byte(someMaps))
	f.Add([]byte("-\n/\n1-2 /"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range parseMaps(text) {
			if m.path == "" || m.path[0] != '/' {
				t.Errorf("path %q", m.path)
			}
		}
	})
}
