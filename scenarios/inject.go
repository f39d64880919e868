package scenarios

import (
	"fmt"
	"strings"

	"rocstress/childproc/wire"
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// injecting returns sc with failures that a simulated device and a test ABI
// library bring about: settings of rocm/sim, key=value,....
func injecting(sc Scenario, settings string) Scenario {
	env := map[string]string{wire.EnvABI: settings}
	for k, v := range sc.Env {
		env[k] = v
	}
	sc.Inject, sc.Env = settings, env
	return sc
}

// openInjected opens a device that fails as settings say. A library reads its
// settings from the environment, which the child was started with.
func openInjected(th *sched.Thread, open Opener, spec, settings string) (rocm.Driver, error) {
	if settings == "" {
		return open(spec)
	}
	if kind, given, _ := strings.Cut(spec, ":"); kind == "sim" {
		spec = "sim:" + settings
		if given != "" {
			spec = "sim:" + given + "," + settings
		}
		return open(spec)
	}
	drv, err := open(spec)
	if err != nil {
		return nil, err
	}
	if d := drv.Describe(th); d.TestABI == "" && !d.Simulated {
		return nil, &rocm.NoDeviceError{
			Runtime: "HIP " + d.Runtime,
			Err:     fmt.Errorf("the scenario needs a device that fails on demand (%s), which ROCm does not; use --device sim", settings),
		}
	}
	return drv, nil
}
