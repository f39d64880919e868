package sim

import (
	"fmt"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"rocstress/rocm"
)

// TestStoresShareWords lets two threads store to the two halves of the same
// words at once: each finds what it wrote. It is inside the package because
// the overlap of two whole GEMMs is too rare to rely on.
func TestStoresShareWords(t *testing.T) {
	const words, rounds = 64, 30_000
	m := bf16Memory{newMemory()}
	p := m.alloc(0, words*wordBytes, pageBytes)
	errs := make([]error, 2)
	var writers sync.WaitGroup
	for side := range errs {
		writers.Go(func() { errs[side] = storeHalves(m, p+rocm.Ptr(side*halfBytes), words, rounds) })
	}
	writers.Wait()
	NewWithT(t).Expect(errs).To(HaveEach(BeNil()))
}

// storeHalves writes one value after another to every second element from p
// on, and looks each time whether it is there.
func storeHalves(m bf16Memory, p rocm.Ptr, words, rounds int) error {
	src, dst := make([]float32, words), make([]float32, words)
	for round := range rounds {
		for i := range src {
			src[i] = float32((round + i) % 256)
		}
		if err := storeMatrix(m, p, src, 1, words, 2); err != nil {
			return err
		}
		if err := loadMatrix(m, dst, p, 1, words, 2); err != nil {
			return err
		}
		for i := range src {
			if src[i] != dst[i] {
				return fmt.Errorf("round %d, word %d: wrote %v and found %v", round, i, src[i], dst[i])
			}
		}
	}
	return nil
}
