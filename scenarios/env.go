package scenarios

import (
	"fmt"
	"os"

	"rocstress/childproc/wire"
	"rocstress/harness/team"
	"rocstress/rocm"
)

// Check reports one named check of the scenario.
func (e *Env) Check(name string, ok bool, format string, args ...any) error {
	c := wire.Check{Name: name, OK: ok, Detail: fmt.Sprintf(format, args...)}
	return e.Events.Send(wire.Event{Kind: wire.KindCheck, Check: &c})
}

// NewDevice returns the Device under test: the protocol of a backend with the
// protections of the orders removed, on the device that was opened.
func (e *Env) NewDevice() (*rocm.Device, error) {
	return rocm.NewDevice(e.Thread, e.Driver, rocm.Config{
		Ordinal: e.Driver.Describe(e.Thread).Ordinal,
		Removed: e.Removed,
		Warn: func(line string) {
			e.warnings.Add(1)
			fmt.Fprintln(os.Stderr, line)
		},
	})
}

// sendTeam reports what a team measured.
func (e *Env) sendTeam(r team.Result) error {
	rel := wire.Release{SkewNS: r.SkewNS, Overlap: r.Overlap}
	if err := e.Events.Send(wire.Event{Kind: wire.KindRelease, Release: &rel}); err != nil {
		return err
	}
	for i := range r.Ops {
		if err := e.Events.Send(wire.Event{Kind: wire.KindOp, Op: &r.Ops[i]}); err != nil {
			return err
		}
	}
	return nil
}

func (e *Env) phase(name string) error {
	return e.Events.Send(wire.Event{Kind: wire.KindPhase, Phase: name})
}
