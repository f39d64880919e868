package conformance

import (
	"testing"

	. "github.com/onsi/gomega"

	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// opener returns what Run wants, for a simulated host with two devices.
func opener(t testing.TB, change func(*sim.Config)) func() rocm.Driver {
	return func() rocm.Driver {
		cfg := sim.DefaultConfig()
		cfg.Devices = 2
		if change != nil {
			change(&cfg)
		}
		d, err := sim.Open(cfg)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return d
	}
}

func TestSimConforms(t *testing.T) {
	Run(t, opener(t, nil))
}
