package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"rocstress/rocm/open"
)

// deviceSettings say what to run on.
type deviceSettings struct {
	asked string // auto, sim, hip or hip:N
	sim   string // settings of a simulated device
}

const (
	deviceAuto = "auto"
	deviceSim  = "sim"
	deviceHip  = "hip"
)

// register adds the flags to f.
func (d *deviceSettings) register(f *pflag.FlagSet) {
	d.asked = deviceAuto
	f.Var(&value[string]{to: &d.asked, kind: "auto|sim|hip[:N]", show: func(s string) string { return s }, parse: parseDevice},
		"device", "what to run on; auto: hip if it is usable, else sim, and the report says which")
	f.Var(&value[string]{to: &d.sim, kind: "KEY=VALUE,...", parse: func(s string) (string, error) {
		if s == "" {
			return "", fmt.Errorf("want key=value,... such as arch=gfx942")
		}
		return s, open.Check(deviceSim + ":" + s)
	}}, "sim", "settings of the simulated device; with --device auto they choose it")
}

func parseDevice(s string) (string, error) {
	kind, _, has := strings.Cut(s, ":")
	switch {
	case s == deviceAuto, s == deviceSim, s == deviceHip:
		return s, nil
	case kind == deviceHip && has && open.Check(s) == nil:
		return s, nil
	case kind == deviceHip && has:
		return "", fmt.Errorf("accepted: hip:N with N the number of a device, from 0")
	case kind == deviceSim && has:
		return "", fmt.Errorf("accepted: sim, with its settings in --sim")
	}
	hint := ""
	if near := nearest(s, []string{deviceAuto, deviceSim, deviceHip}); near != "" {
		hint = "did you mean " + near + "? "
	}
	return "", fmt.Errorf("%saccepted: auto, sim, hip, hip:N", hint)
}

// validate refuses flags that contradict each other.
func (d *deviceSettings) validate() error {
	if d.sim != "" && strings.HasPrefix(d.asked, deviceHip) {
		return usagef("--sim %q: %s is no simulated device; accepted: with --device sim or auto", d.sim, d.asked)
	}
	return nil
}

// spec returns what open.Open takes, and whether it is still to be found out
// if the real device is usable.
func (d *deviceSettings) spec() (spec string, auto bool) {
	switch {
	case d.sim != "":
		return deviceSim + ":" + d.sim, false
	case d.asked == deviceAuto:
		return "", true
	case d.asked == deviceHip:
		return deviceHip + ":0", false
	}
	return d.asked, false
}

// simulated reports whether a resolved spec names a model.
func simulated(spec string) bool {
	kind, _, _ := strings.Cut(spec, ":")
	return kind == deviceSim
}
