package rocm

import (
	"slices"
	"strings"
)

// Architecture lists of the fork that the seed issues describe, as its
// Device::Device reads them.
var (
	rocBLASArchs = [...]string{
		"gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1101", "gfx1102",
		"gfx1150", "gfx1151", "gfx1152", "gfx1200", "gfx1201",
	}
	rocWMMAArchs = [...]string{
		"gfx908", "gfx90a", "gfx942", "gfx1100", "gfx1101", "gfx1102", "gfx1103",
		"gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201",
	}
	cdnaMFMAArchs = [...]string{"gfx90a", "gfx942"}
)

// ArchFacts are what the protocol derives from a device's architecture.
type ArchFacts struct {
	Arch       string // without the feature suffix
	RocBLAS    bool   // rocBLAS ships kernels for it
	NativeWMMA bool
	CDNAMFMA   bool
}

// FactsOf derives the facts from a gcnArchName, whose feature suffix
// ("gfx90a:sramecc+:xnack-") is cut at the first colon.
func FactsOf(gcnArchName string) ArchFacts {
	arch, _, _ := strings.Cut(gcnArchName, ":")
	return ArchFacts{
		Arch:       arch,
		RocBLAS:    slices.Contains(rocBLASArchs[:], arch),
		NativeWMMA: slices.Contains(rocWMMAArchs[:], arch),
		CDNAMFMA:   slices.Contains(cdnaMFMAArchs[:], arch),
	}
}
