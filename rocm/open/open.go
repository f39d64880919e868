// Package open turns the name of a device into a Driver. It is the only place
// that knows both the simulated runtime and the real one.
package open

import (
	"fmt"
	"strings"

	"rocstress/rocm"
	"rocstress/rocm/hip"
	"rocstress/rocm/sim"
)

// accepted lists the forms of a spec, for errors.
const accepted = "sim, sim:key=value,..., hip, hip:N"

// Open returns the Driver that spec names: "sim" or "sim:key=value,..." for a
// simulated device, "hip" or "hip:N" for device 0 or N of the real runtime.
// The caller closes it. An unknown spec and a bad setting are errors of one
// line that name the value and what is accepted; opening a real device fails
// with the errors of hip.Open, *rocm.LibraryError and *rocm.NoDeviceError
// among them.
//
// A real Driver must be used by goroutines locked to their OS threads, the
// caller of Open included.
func Open(spec string) (rocm.Driver, error) {
	kind, rest, has := strings.Cut(spec, ":")
	switch {
	case has && rest == "":
	case kind == "sim":
		cfg, err := sim.ParseConfig(rest)
		if err != nil {
			return nil, err
		}
		d, err := sim.Open(cfg)
		if err != nil {
			return nil, err // not d, which would be a Driver that is not nil
		}
		return d, nil
	case kind == "hip":
		ordinal, err := parseOrdinal(rest)
		if err != nil {
			return nil, err
		}
		d, err := hip.Open(ordinal)
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	return nil, unknown(spec)
}

func unknown(spec string) error {
	return fmt.Errorf("unknown device %q; accepted: %s", spec, accepted)
}
