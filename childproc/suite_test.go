package childproc_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/childproc"
)

// envPlain makes the test binary exit at once, outside the child contract: the
// yardstick of the benchmark.
const envPlain = "CHILDPROC_TEST_PLAIN"

func TestMain(m *testing.M) {
	if os.Getenv(envPlain) != "" {
		os.Exit(0)
	}
	childproc.Main(entries())
	os.Exit(m.Run())
}

// The runtime opens descriptors of its own once, for its poller.
var _ = BeforeSuite(func() {
	r, w, err := os.Pipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(r.Close()).To(Succeed())
	Expect(w.Close()).To(Succeed())
})

func TestChildproc(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "childproc")
}
