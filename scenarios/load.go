package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// Load says how much filler each thread enqueues ahead of its inputs, so that
// its stream runs late: an operation on a wrong stream then meets inputs that
// are not there yet, or is read back before it ran.
type Load struct {
	Auto  bool   // sized at child start, see fillerTime
	Bytes uint64 // of one memset; 0 with Auto unset: no filler
}

// fillerTime is how long the device should need for one filler. On one
// hardware host, 256 MiB (some 80 us there) took the bind race from 0 of 40
// failed children to 30 of 30, while the protected code stayed at 0 of 30.
const fillerTime = 100 * time.Microsecond

// fillerMin is where automatic sizing starts.
const fillerMin = 4 << 10

// ParseLoad reads "auto", "off" or a size such as "65536", "64KiB", "256MiB"
// or "1GiB". The empty string means off.
func ParseLoad(s string) (Load, error) {
	switch s {
	case "auto":
		return Load{Auto: true}, nil
	case "off", "":
		return Load{}, nil
	}
	digits, unit := s, uint64(1)
	for suffix, factor := range map[string]uint64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if d, ok := strings.CutSuffix(s, suffix); ok {
			digits, unit = d, factor
		}
	}
	n, err := strconv.ParseUint(digits, 10, 33)
	if err != nil || n == 0 || n > (64<<30)/unit {
		return Load{}, fmt.Errorf("unknown load %q; accepted: auto, off, or a size from 1 to 64GiB such as 256MiB", s)
	}
	return Load{Bytes: n * unit}, nil
}

// filler is device memory that threads fill to keep their streams busy. What
// it holds does not matter, so all threads share it.
type filler struct {
	mem   rocm.Ptr
	words uint64 // of one memset; 0: no filler
}

// newFiller allocates the filler and, for an automatic load, doubles it until
// the device needs fillerTime for it or a quarter of its memory is used.
func newFiller(th *sched.Thread, drv rocm.Driver, s rocm.Stream, total uint64, load Load) (filler, error) {
	if !load.Auto {
		return allocFiller(th, drv, load.Bytes)
	}
	for bytes := uint64(fillerMin); ; bytes *= 2 {
		f, err := allocFiller(th, drv, bytes)
		if err != nil {
			return filler{}, err
		}
		took, err := f.measure(th, drv, s)
		if err != nil {
			return filler{}, err
		}
		if took >= fillerTime || bytes*2 > total/4 {
			return f, nil
		}
		if err := drv.Free(th, f.mem); err != nil {
			return filler{}, err
		}
	}
}

func allocFiller(th *sched.Thread, drv rocm.Driver, bytes uint64) (filler, error) {
	words := bytes / 4
	if words == 0 {
		return filler{}, nil
	}
	mem, err := drv.Malloc(th, words*4)
	return filler{mem: mem, words: words}, err
}

// measure returns the device time of one memset: that of a batch less that of
// a single one, so that the cost of the synchronisation itself drops out.
func (f filler) measure(th *sched.Thread, drv rocm.Driver, s rocm.Stream) (time.Duration, error) {
	const extra = 4
	var took [2]time.Duration
	for i, n := range [2]int{1, 1 + extra} {
		if err := drv.StreamSynchronize(th, s); err != nil {
			return 0, err
		}
		start := th.Now()
		for range n {
			if err := f.enqueue(th, drv, s); err != nil {
				return 0, err
			}
		}
		if err := drv.StreamSynchronize(th, s); err != nil {
			return 0, err
		}
		took[i] = th.Now() - start
	}
	return (took[1] - took[0]) / extra, nil
}

func (f filler) enqueue(th *sched.Thread, drv rocm.Driver, s rocm.Stream) error {
	if f.words == 0 {
		return nil
	}
	return drv.MemsetD32Async(th, f.mem, 0, f.words, s)
}
