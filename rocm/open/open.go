// Package open turns the name of a device into a Driver. It is the only place
// that knows both the simulated runtime and the real one.
package open

import (
	"fmt"
	"strings"

	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// accepted lists the forms of a spec, for errors.
const accepted = "sim, sim:key=value,..."

// Open returns the Driver that spec names: "sim" or "sim:key=value,..." for a
// simulated device. The caller closes it. An unknown spec and a bad setting
// are errors of one line that name the value and what is accepted.
func Open(spec string) (rocm.Driver, error) {
	kind, rest, has := strings.Cut(spec, ":")
	switch kind {
	case "sim":
		if has && rest == "" {
			break
		}
		return openSim(rest)
	}
	return nil, fmt.Errorf("unknown device %q; accepted: %s", spec, accepted)
}

func openSim(settings string) (rocm.Driver, error) {
	cfg, err := sim.ParseConfig(settings)
	if err != nil {
		return nil, err
	}
	return sim.Open(cfg)
}
