package harness

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestEveryOutcomeHasAMeaning(t *testing.T) {
	g := NewWithT(t)
	for _, o := range Outcomes() {
		g.Expect(o.Meaning()).NotTo(BeEmpty(), string(o))
	}
	g.Expect(Outcome("fine").Meaning()).To(BeEmpty())
}
