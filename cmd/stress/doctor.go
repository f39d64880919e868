package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rocstress/harness"
	"rocstress/reports"
)

func (a *app) doctorCommand() *cobra.Command {
	var d deviceSettings
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say which devices and libraries can be used, and why not",
		Long: `doctor looks for the real ROCm runtime and its devices in a probe child and names
what it found: library, version, path, build id, and what is missing. A probe child
that dies is reported. Exit code 0 if the asked device (default: any) can be used,
else 125; a simulated device always can.

Libraries are looked for in STRESS_HIP_LIB, STRESS_ROCBLAS_LIB and the like,
$ROCM_PATH/lib, /opt/rocm/lib and the loader's path.

` + exitHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("stress doctor %q: takes no arguments; accepted: --device, --sim", args[0])
			}
			if err := d.validate(); err != nil {
				return err
			}
			return a.doctor(cmd.Context(), d)
		},
	}
	d.register(cmd.Flags())
	return cmd
}

func (a *app) doctor(ctx context.Context, d deviceSettings) error {
	spec, auto := d.spec()
	specs := []string{spec}
	if auto {
		specs = []string{deviceHip + ":0", deviceSim}
	}
	l, stop, err := a.launcher()
	if err != nil {
		return err
	}
	defer stop()
	usable := false
	for _, spec := range specs {
		f, err := probeDevice(ctx, l.Run, a.env, spec)
		if err != nil {
			return err
		}
		usable = usable || f.usable()
		if err := a.print(f.text()); err != nil {
			return err
		}
	}
	if !usable {
		return exitWith(harness.ExitUnavailable)
	}
	return nil
}

// text is the finding for a person. What it quotes comes from a child.
func (f finding) text() string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(reports.Terminal(fmt.Sprintf(format, args...)) + "\n")
	}
	verdict := "NOT usable"
	if f.usable() {
		verdict = "usable"
	}
	line("%s: %s", f.spec, verdict)
	if f.usable() {
		line("  opened: %s", describe(*f.device))
	}
	libs := f.libs
	if f.device != nil && len(f.device.Libraries) > 0 {
		libs = f.device // what was really mapped
	}
	if libs != nil {
		for _, v := range []struct{ name, version string }{{"HIP", libs.Runtime}, {"rocBLAS", libs.BLAS}, {"test ABI", libs.TestABI}} {
			if v.version != "" {
				line("  %s %s", v.name, v.version)
			}
		}
		for _, l := range libs.Libraries {
			id := "none"
			if l.BuildID != "" {
				id = l.BuildID
			}
			line("  library %s: %s, build id %s", l.Name, l.Path, id)
		}
	}
	for _, d := range f.devices {
		line("  device %s:%d: %s", deviceHip, d.Ordinal, describe(d))
	}
	for _, t := range f.targets {
		line("  kernels for %s: %s", t.Name, t.Detail)
	}
	for _, p := range f.problems {
		line("  problem: %s", p)
	}
	if f.died != "" {
		line("  problem: %s", f.died)
	}
	return b.String()
}
