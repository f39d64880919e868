package scenarios

import "rocstress/harness/oracle"

// List returns every scenario, in the order of the documentation. A new
// scenario is one file and one line here.
func List() []Scenario {
	return []Scenario{
		firstGEMM(),
		streamRebind(),
		createFailure(),
		unsupportedArch(),
		setStreamFailure(),
		leaseReentry(),
		archProbe(),
		resetProbe(),
		bf16GEMM(),
	}
}

// Find returns the scenario with the given name.
func Find(name string) (Scenario, bool) {
	for _, s := range List() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// MaxK is the largest K of a shape for which results are exact in f32.
const MaxK = oracle.MaxK
