package scenarios

import (
	"context"
	"errors"
	"time"

	"rocstress/childproc/wire"
	"rocstress/harness/team"
	"rocstress/rocm"
)

// Routes of attention, by what HasNativeWMMA says.
const (
	routeWMMA   = "wmma"
	routeNoWMMA = "no-wmma"
)

// archProbe races the first question for an architecture fact: whoever gets
// the wrong answer takes the slow route of attention once.
func archProbe() Scenario {
	return Scenario{
		Name:        "arch-probe",
		Doc:         "threads race the first HasNativeWMMA of the process: none may be told no",
		Seed:        "#2198",
		Defaults:    wire.Settings{Threads: 8, Rounds: 1, Shape: wire.Shape{M: 1, K: 1, N: 1}, Inputs: "mixed", Load: "off"},
		Guards:      []rocm.Protection{rocm.ArchAtConstruction},
		Remove:      []string{string(rocm.ArchAtConstruction)},
		SimDeadline: 3 * time.Second, // usually under 0.1 s
		Body: func(ctx context.Context, env *Env) error {
			dev, err := env.NewDevice()
			if err != nil {
				return err
			}
			if err := env.phase(wire.PhaseRun); err != nil {
				return err
			}
			result, err := team.Run(ctx, team.Config{
				Threads: env.Spec.Settings.Threads, Runtime: env.Runtime, Name: "probe",
			}, func(_ context.Context, m *team.Member) error { return askWMMA(dev, env, m) })
			return errors.Join(err, env.sendTeam(result), checkWMMARoutes(env, dev, result), dev.Close(env.Thread))
		},
	}
}

// askWMMA asks for the route as often as there are rounds.
func askWMMA(dev *rocm.Device, env *Env, m *team.Member) error {
	if err := m.Barrier(); err != nil {
		return err
	}
	for r := range env.Spec.Settings.Rounds {
		start, route := m.Thread.Now(), routeNoWMMA
		if dev.HasNativeWMMA(m.Thread) {
			route = routeWMMA
		}
		m.Record(team.Op{Round: r, Route: route, Status: "ok", Start: start, End: m.Thread.Now()})
	}
	return nil
}

func checkWMMARoutes(env *Env, dev *rocm.Device, r team.Result) error {
	want := routeNoWMMA
	if rocm.FactsOf(dev.Props().Arch).NativeWMMA {
		want = routeWMMA
	}
	wrong := 0
	for _, op := range r.Ops {
		if op.Route != want {
			wrong++
		}
	}
	return env.Check("wmma-route", wrong == 0, "%d of %d calls took another route than %s", wrong, len(r.Ops), want)
}
