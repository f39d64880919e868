package sim

import (
	"fmt"
	"strings"
	"time"
)

// Config are the settings of a simulated device. DefaultConfig fills it; the
// zero value is not valid. A zero latency or rate means that the step costs
// nothing beyond the host's own time for it.
type Config struct {
	// Arch is the gcnArchName, such as "gfx1151" or "gfx90a:sramecc+:xnack-".
	Arch string
	// Devices is the number of devices, 0 to 16. With 0 every call that
	// needs a device answers as a real runtime without one.
	Devices int
	// Memory is the size of each device's memory, in bytes.
	Memory uint64

	// MaxThreads is the most threads a block may have (1024 on AMD).
	MaxThreads int
	// Warp is the number of threads in a wavefront.
	Warp int
	// Processors is the number of compute units the properties name.
	Processors int

	// Create is the time of one rocBLAS handle creation, spent in four steps
	// under a lock of the library. On real hosts creation is serialised and
	// slow: 8 threads took 2220 ms with ROCm 5.4.3 and 838 ms with 6.1.1. The
	// default is far below that, so that a campaign stays short.
	Create time.Duration
	// SetStream is the host time of rocblas_set_stream before it takes hold.
	SetStream time.Duration
	// Select is the host time rocblas_sgemm spends on choosing a kernel
	// before it reads the handle's stream. It is this window in which another
	// thread can bind the handle elsewhere.
	Select time.Duration
	// Compile is the time of one kernel compilation.
	Compile time.Duration
	// Launch is the device time that any operation takes before its work.
	Launch time.Duration
	// MemsetRate is what memsets fill, in bytes per second of device time.
	// It is far below real hardware (filler of 256 MiB took an H200 some
	// 100 us), so that as long a filler costs the host little.
	MemsetRate uint64
	// CopyRate is what host-device copies move, in bytes per second.
	CopyRate uint64
	// GEMMRate is the arithmetic rate of a GEMM, in operations per second.
	GEMMRate uint64

	// CreateFails is how many handle creations fail, counted from the first,
	// with the rocBLAS status CreateStatus.
	CreateFails  int
	CreateStatus int
	// SetStreamFails is how many rocblas_set_stream calls fail, counted from
	// the first, with SetStreamStatus. A failed call binds nothing.
	SetStreamFails  int
	SetStreamStatus int
	// GemmExFails is how many rocblas_gemm_ex calls with a valid handle and
	// something to do fail, counted from the first, with GemmExStatus. A
	// failed call enqueues nothing.
	GemmExFails  int
	GemmExStatus int
}

// DefaultConfig returns one gfx1151 with 1 GiB of memory.
func DefaultConfig() Config {
	return Config{
		Arch: "gfx1151", Devices: 1, Memory: 1 << 30,
		MaxThreads: 1024, Warp: 32, Processors: 20,
		Create: 4 * time.Millisecond, SetStream: 200 * time.Nanosecond, Select: 15 * time.Microsecond,
		Compile: 2 * time.Millisecond, Launch: 5 * time.Microsecond,
		MemsetRate: 512 << 20, CopyRate: 4 << 30, GEMMRate: 1e12,
		CreateStatus: 6, SetStreamStatus: 6, GemmExStatus: 6,
	}
}

// WithoutLatency returns c with every latency and rate at zero: the device a
// controlled run explores, where the order of steps matters and their time
// does not.
func (c Config) WithoutLatency() Config {
	c.Create, c.SetStream, c.Select, c.Compile, c.Launch = 0, 0, 0, 0, 0
	c.MemsetRate, c.CopyRate, c.GEMMRate = 0, 0, 0
	return c
}

// Bounds of what a Config may ask for. They keep a typing error from turning
// into a host without memory or a child that never ends.
const (
	maxDevices = 16
	maxMemory  = 1 << 40
	maxLatency = time.Hour
	maxFails   = 1 << 30
	maxStatus  = 15 // rocblas_status_arch_mismatch, rocblas-types.h of 5.2
)

// Validate names the first setting that is out of range.
func (c Config) Validate() error {
	if c.Arch == "" || strings.ContainsAny(c.Arch, ",= \t\n") {
		return c.refuse("arch", "an architecture such as gfx1151")
	}
	for _, r := range []struct {
		key       string
		v, lo, hi uint64
	}{
		{"devices", uint64(c.Devices), 0, maxDevices},
		{"memory", c.Memory, pageBytes, maxMemory},
		{"max-threads", uint64(c.MaxThreads), 1, 1 << 20},
		{"warp", uint64(c.Warp), 1, 1024},
		{"processors", uint64(c.Processors), 1, 1 << 16},
		{"create", uint64(c.Create), 0, uint64(maxLatency)},
		{"set-stream", uint64(c.SetStream), 0, uint64(maxLatency)},
		{"select", uint64(c.Select), 0, uint64(maxLatency)},
		{"compile", uint64(c.Compile), 0, uint64(maxLatency)},
		{"launch", uint64(c.Launch), 0, uint64(maxLatency)},
		{"memset-rate", c.MemsetRate, 0, 1 << 50},
		{"copy-rate", c.CopyRate, 0, 1 << 50},
		{"gemm-rate", c.GEMMRate, 0, 1 << 60},
		{"create-fails", uint64(c.CreateFails), 0, maxFails},
		{"create-status", uint64(c.CreateStatus), 1, maxStatus},
		{"set-stream-fails", uint64(c.SetStreamFails), 0, maxFails},
		{"set-stream-status", uint64(c.SetStreamStatus), 1, maxStatus},
		{"gemm-ex-fails", uint64(c.GemmExFails), 0, maxFails},
		{"gemm-ex-status", uint64(c.GemmExStatus), 1, maxStatus},
	} {
		// A negative value wrapped around and is above every bound.
		if r.v < r.lo || r.v > r.hi {
			return c.refuse(r.key, fmt.Sprintf("%s to %s", formatAs(r.key, r.lo), formatAs(r.key, r.hi)))
		}
	}
	return nil
}

func (c Config) refuse(key, want string) error {
	return fmt.Errorf("sim setting %s=%s: want %s", key, settingOf(key).format(&c), want)
}
