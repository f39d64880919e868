package sim

import (
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

// TestTableLosesNothing puts and drops at once: what does not match stays.
func TestTableLosesNothing(t *testing.T) {
	const threads, each = 4, 300
	table := newTable[int](0x1000)
	var writers, droppers sync.WaitGroup
	done := make(chan struct{})
	for range threads {
		writers.Go(func() {
			for i := range each {
				table.put(table.reserve(), &i)
			}
		})
	}
	droppers.Go(func() {
		for {
			table.drop(func(v *int) bool { return *v%2 == 1 })
			select {
			case <-done:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(done)
	droppers.Wait()
	table.drop(func(v *int) bool { return *v%2 == 1 })
	var sum int
	for _, v := range table.all() {
		sum += *v
	}
	g := NewWithT(t)
	g.Expect(table.all()).To(HaveLen(threads * each / 2))
	g.Expect(sum).To(Equal(threads * (0 + each - 2) * each / 4))
}
