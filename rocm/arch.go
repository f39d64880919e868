package rocm

import (
	"slices"
	"strings"
	"sync/atomic"

	"rocstress/harness/sched"
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

// HasNativeWMMA reports whether the architecture has WMMA kernels. It decides
// the route of attention and of quantized products.
func (d *Device) HasNativeWMMA(th *sched.Thread) bool {
	if d.keeps(ArchAtConstruction) {
		return d.facts.NativeWMMA
	}
	return d.lazy.wmma.get(th, d, func(f ArchFacts) bool { return f.NativeWMMA })
}

// SupportsCDNAMFMAGEMM reports whether the architecture has CDNA MFMA GEMMs.
func (d *Device) SupportsCDNAMFMAGEMM(th *sched.Thread) bool {
	if d.keeps(ArchAtConstruction) {
		return d.facts.CDNAMFMA
	}
	return d.lazy.mfma.get(th, d, func(f ArchFacts) bool { return f.CDNAMFMA })
}

// lazyFacts are the getters as they were before arch-at-construction.
type lazyFacts struct{ wmma, mfma lazyFact }

// lazyFact is computed by its first reader, flag before work: a reader that
// comes while it is computed sees false.
type lazyFact struct{ probed, value atomic.Bool }

func (l *lazyFact) get(th *sched.Thread, d *Device, fact func(ArchFacts) bool) bool {
	th.Point(PointProbeRead)
	if l.probed.Load() {
		return l.value.Load()
	}
	l.probed.Store(true)
	th.Point(PointProbe)
	props, err := d.drv.DeviceProps(th, d.cfg.Ordinal)
	if err != nil {
		return false
	}
	l.value.Store(fact(FactsOf(props.Arch)))
	return l.value.Load()
}
