package hip

import (
	"path/filepath"
	"unsafe"

	"github.com/ebitengine/purego"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("a call", func() {
	It("returns a 32-bit status, passes pointers and reads strings", func() {
		path := filepath.Join(GinkgoT().TempDir(), "libstub.so")
		skipUnbuildable(buildStub(path, `
int negative(void) { return -5; }
int sum(int *out, int a, int b) { *out = a + b; return 0; }
const char *text(int which) { return which ? "some text" : 0; }
`))
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		Expect(err).NotTo(HaveOccurred())
		fn := func(name string) uintptr {
			addr, err := purego.Dlsym(handle, name)
			Expect(err).NotTo(HaveOccurred())
			return addr
		}
		Expect(call(fn("negative"))).To(Equal(-5), "the upper half of the register is not part of it")
		var out int32
		Expect(call(fn("sum"), uintptr(unsafe.Pointer(&out)), cInt(-7), cInt(3))).To(Equal(0))
		Expect(out).To(Equal(int32(-4)))
		Expect(callString(fn("text"), 1)).To(Equal("some text"))
		Expect(callString(fn("text"), 0)).To(BeEmpty())
		Expect(textIn([]byte("ab\x00c"))).To(Equal("ab"))
		Expect(textIn([]byte("abc"))).To(Equal("abc"))
	})
})
