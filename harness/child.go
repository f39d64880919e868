package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

// ChildEntry is the entry of childproc.Main that runs a scenario.
const ChildEntry = "scenario"

// File is one file of evidence about a failed child.
type File struct {
	Name string
	Data []byte
}

// Observation is what came of one child.
type Observation struct {
	Record Record
	Device *wire.Device // as the child described it; nil where it did not get so far
	Files  []File       // of a child that failed: its outputs, events, environment and evidence
	// Unkillable: the child survived SIGKILL and was left behind.
	Unkillable bool
	PID        int // 0: it never ran
}

// ChildSpec returns how to start the child k of the plan. environ is the
// environment of the driver as os.Environ gives it.
func (p Plan) ChildSpec(k Key, environ []string) (childproc.Spec, error) {
	s, arm, err := p.find(k)
	if err != nil {
		return childproc.Spec{}, err
	}
	return childproc.Spec{
		Entry: ChildEntry,
		Orders: wire.Spec{
			Scenario: k.Scenario, Device: p.Device, Settings: s.Settings, Removed: arm.Without,
			Seed: ChildSeed(p.Seed, k.Scenario, k.Run, k.Child), Run: k.Run, Child: k.Child, Arm: k.Arm,
			Deadline: s.Deadline,
		},
		Env:      withVariables(environ, s.Env),
		Deadline: s.Deadline,
	}, nil
}

func (p Plan) find(k Key) (ScenarioPlan, Arm, error) {
	for _, s := range p.Scenarios {
		if s.Name != k.Scenario {
			continue
		}
		for _, a := range s.Arms {
			if a.Name == k.Arm {
				if k.Run < 1 || k.Run > p.Runs || k.Child < 1 || k.Child > p.Children {
					return s, a, fmt.Errorf("run %d, child %d is not in the plan of %d runs of %d children", k.Run, k.Child, p.Runs, p.Children)
				}
				return s, a, nil
			}
		}
		return s, Arm{}, fmt.Errorf("scenario %s has no arm %q", k.Scenario, k.Arm)
	}
	return ScenarioPlan{}, Arm{}, fmt.Errorf("the plan has no scenario %q", k.Scenario)
}

// withVariables returns environ with the variables of set, an empty value
// removing one. Never nil, which would mean the environment of this process.
func withVariables(environ []string, set map[string]string) []string {
	out := make([]string, 0, len(environ)+len(set))
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if _, replaced := set[name]; !replaced {
			out = append(out, kv)
		}
	}
	added := len(out)
	for name, value := range set {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out[added:])
	return out
}

// RunChild runs the child k of the plan once and says what it came to. The
// error means that there is no observation: the plan has no such child, or
// Run failed otherwise than by a *childproc.StartError. A child that could not
// be started is an observation, not_measured.
func (c Campaign) RunChild(ctx context.Context, k Key) (Observation, error) {
	environ := c.Environ
	if environ == nil {
		environ = os.Environ()
	}
	spec, err := c.Plan.ChildSpec(k, environ)
	if err != nil {
		return Observation{}, err
	}
	plan, _, err := c.Plan.find(k)
	if err != nil {
		return Observation{}, err
	}
	scan, events := NewScan(), &EventLog{}
	spec.Path, spec.Observe, spec.OnEvent = c.Path, scan.Observe, events.Add
	exit, err := c.Run(ctx, spec)
	rec := Record{
		V: RecordVersion, Scenario: k.Scenario, Arm: k.Arm, Run: k.Run, Child: k.Child, Seed: spec.Orders.Seed,
	}
	if err != nil {
		var start *childproc.StartError
		if !errors.As(err, &start) {
			return Observation{}, fmt.Errorf("run child %d of run %d, %s, of %s: %w", k.Child, k.Run, k.Arm, k.Scenario, err)
		}
		rec.Outcome, rec.Evidence, rec.Exit.Code = NotMeasured, bounded(err.Error()), -1
		return Observation{Record: rec}, nil
	}
	f := Classify(Sighting{Exit: exit, Events: events, Hits: scan.Hits(), Expects: plan.Expects})
	rec.Outcome, rec.Flags, rec.Signature, rec.Evidence = f.Outcome, f.Flags, f.Signature, f.Evidence
	rec.Exit = exitRecord(exit)
	rec.SkewNS, rec.Overlap = events.SkewNS, events.Overlap
	obs := Observation{Unkillable: exit.Unkillable, PID: exit.PID}
	if events.Hello != nil {
		obs.Device = &events.Hello.Device
		rec.Device, rec.Libraries = deviceLabel(*obs.Device), Fingerprint(obs.Device.Libraries)
	}
	if f.Outcome != Pass && f.Outcome != NotMeasured {
		if obs.Files, err = evidenceFiles(exit, rec); err != nil {
			return Observation{}, err
		}
	}
	obs.Record = rec
	return obs, nil
}

func exitRecord(x childproc.Exit) ExitRec {
	r := ExitRec{Code: x.Code, Killed: x.Killed, Dur: x.Dur}
	if x.Signal != 0 {
		r.Signal = unix.SignalName(x.Signal)
	}
	return r
}

// deviceLabel is short enough for a line of a table: "sim gfx1151".
func deviceLabel(d wire.Device) string {
	label := strings.TrimSpace(d.Driver + " " + d.Arch)
	if d.TestABI != "" {
		label += " (" + d.TestABI + ")"
	}
	return cut(label, maxSignature)
}

// exitEvidence is the content of evidence.json: the record, and what was seen
// of the end of the child that a record has no room for.
type exitEvidence struct {
	Record      Record             `json:"record"`
	PID         int                `json:"pid"`
	Core        bool               `json:"core,omitempty"`
	User        time.Duration      `json:"user_ns"`
	System      time.Duration      `json:"system_ns"`
	MaxRSS      int64              `json:"max_rss_bytes"`
	KillReason  string             `json:"kill_reason,omitempty"`
	KilledAt    time.Duration      `json:"killed_at_ns,omitempty"`
	KillSignals []string           `json:"kill_signals,omitempty"`
	Unkillable  bool               `json:"unkillable,omitempty"`
	BadEvents   int                `json:"bad_events,omitempty"`
	BadEvent    string             `json:"bad_event,omitempty"`
	Threads     childproc.Evidence `json:"threads"`
}

func evidenceFiles(x childproc.Exit, rec Record) ([]File, error) {
	doc, err := json.MarshalIndent(exitEvidence{
		Record: rec, PID: x.PID, Core: x.Core, User: x.User, System: x.System, MaxRSS: x.MaxRSS,
		KillReason: x.KillReason, KilledAt: x.KilledAt, KillSignals: x.KillSignals, Unkillable: x.Unkillable,
		BadEvents: x.BadEvents, BadEvent: x.BadEventSample, Threads: x.Evidence,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode evidence.json: %w", err)
	}
	return []File{
		{"stdout", x.Stdout.Bytes()},
		{"stderr", x.Stderr.Bytes()},
		{"events.jsonl", x.Events.Bytes()},
		{"env", []byte(strings.Join(hideSecrets(x.Env), "\n") + "\n")},
		{"evidence.json", append(doc, '\n')},
	}, nil
}
