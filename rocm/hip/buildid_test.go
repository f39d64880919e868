package hip

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// note encodes one ELF note.
func note(kind uint32, name string, desc []byte, align int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
	b = binary.LittleEndian.AppendUint32(b, kind)
	pad := func() {
		for len(b)%align != 0 {
			b = append(b, 0)
		}
	}
	b = append(b, name...)
	pad()
	b = append(b, desc...)
	pad()
	return b
}

func TestBuildIDIsFoundAmongNotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		align := rapid.SampledFrom([]int{4, 8}).Draw(t, "align")
		id := rapid.SliceOfN(rapid.Byte(), 1, 32).Draw(t, "id")
		var notes []byte
		for range rapid.IntRange(0, 3).Draw(t, "before") {
			name := rapid.SampledFrom([]string{"GNU\x00", "Go\x00\x00", "FreeBSD\x00"}).Draw(t, "name")
			kind := rapid.SampledFrom([]uint32{1, 5}).Draw(t, "kind")
			notes = append(notes, note(kind, name, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "desc"), align)...)
		}
		g.Expect(gnuBuildID(notes, binary.LittleEndian, uint64(align))).To(BeNil())
		notes = append(notes, note(3, "GNU\x00", id, align)...)
		g.Expect(gnuBuildID(notes, binary.LittleEndian, uint64(align))).To(Equal(id))
		cut := len(notes) - len(note(3, "GNU\x00", id, align)) + noteHeader
		g.Expect(gnuBuildID(notes[:cut], binary.LittleEndian, uint64(align))).To(BeNil(), "a note that is cut off")
	})
}

func FuzzBuildID(f *testing.F) {
	f.Add(note(3, "GNU\x00", []byte{1, 2, 3}, 4), true)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), false)
	f.Fuzz(func(t *testing.T, notes []byte, eight bool) {
		align := uint64(4)
		if eight {
			align = 8
		}
		if id := gnuBuildID(notes, binary.LittleEndian, align); len(id) > len(notes) {
			t.Errorf("an id of %d bytes in %d", len(id), len(notes))
		}
	})
}

var _ = Describe("a build id", func() {
	It("is what the linker was told", func() {
		path := filepath.Join(GinkgoT().TempDir(), "libx.so")
		skipUnbuildable(buildStub(path, "int x;\n", "-Wl,--build-id=0x0123456789abcdef"))
		Expect(buildID(path)).To(Equal("0123456789abcdef"))
	})

	It("is empty where there is none", func() {
		dir := GinkgoT().TempDir()
		path := filepath.Join(dir, "libx.so")
		skipUnbuildable(buildStub(path, "int x;\n", "-Wl,--build-id=none"))
		Expect(buildID(path)).To(BeEmpty())
		Expect(buildID(filepath.Join(dir, "absent"))).To(BeEmpty())
		text := filepath.Join(dir, "text")
		Expect(os.WriteFile(text, []byte("no ELF"), 0o600)).To(Succeed())
		Expect(buildID(text)).To(BeEmpty())
	})
})
