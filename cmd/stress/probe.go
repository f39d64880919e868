package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/open"
)

// entryProbe is the child that looks at devices: libraries of a GPU may abort
// or exit on a bad day, so the driver process never loads one.
const entryProbe = "probe"

// surveyOrdinal marks the hello of libraries rather than of a device.
const surveyOrdinal = -1

// probe is that child. In phase init it surveys the real runtime: a hello of
// the libraries, one for each device, a first_error for everything missing. In
// phase run it opens the device its orders name and says hello for it.
func probe(orders wire.Spec, events *wire.Writer) int {
	// A device is current per OS thread, and the probe's is this one.
	runtime.LockOSThread()
	send := func(e wire.Event) bool { return events.Send(e) == nil }
	send(wire.Event{Kind: wire.KindPhase, Phase: wire.PhaseInit})
	if !simulated(orders.Device) {
		for _, e := range surveyed(open.Survey()) {
			send(e)
		}
	}
	send(wire.Event{Kind: wire.KindPhase, Phase: wire.PhaseRun})
	d, err := opened(orders.Device)
	if err != nil {
		send(firstError(err))
		return 1
	}
	if !send(hello(d)) || !send(wire.Event{Kind: wire.KindDone}) {
		return 1
	}
	return 0
}

// opened opens a device as a scenario does and describes it.
func opened(spec string) (wire.Device, error) {
	drv, err := open.Open(spec)
	if err != nil {
		return wire.Device{}, err
	}
	th := sched.Free(nil).NewThread("probe")
	d := drv.Describe(th)
	props, err := drv.DeviceProps(th, d.Ordinal)
	if err != nil {
		return wire.Device{}, err
	}
	dev := wire.Device{
		Driver: d.Driver, Simulated: d.Simulated, Name: props.Name, Arch: rocm.FactsOf(props.Arch).Arch,
		Ordinal: d.Ordinal, Runtime: d.Runtime, BLAS: d.BLAS, TestABI: d.TestABI,
	}
	for _, l := range d.Libraries {
		dev.Libraries = append(dev.Libraries, wire.Library(l))
	}
	return dev, drv.Close(th)
}

// surveyed turns findings into events. What the kernel compiler knows of an
// architecture is a check of that name.
func surveyed(f open.Findings) []wire.Event {
	libs := wire.Device{Driver: deviceHip, Ordinal: surveyOrdinal, Runtime: f.HIP.Version, BLAS: f.RocBLAS.Version, TestABI: f.TestABI}
	for _, l := range []rocm.Library{f.HIP.Library, f.RocBLAS.Library, f.HIPRTC.Library, f.Comgr.Library} {
		known := slices.ContainsFunc(libs.Libraries, func(have wire.Library) bool { return have.Path == l.Path })
		if l.Path != "" && !known {
			libs.Libraries = append(libs.Libraries, wire.Library(l))
		}
	}
	events := []wire.Event{hello(libs)}
	for i, p := range f.Devices {
		events = append(events, hello(wire.Device{Driver: deviceHip, Ordinal: i, Name: p.Name, Arch: rocm.FactsOf(p.Arch).Arch}))
	}
	for _, t := range f.Targets {
		events = append(events, wire.Event{Kind: wire.KindCheck, Check: &wire.Check{Name: t.Arch, OK: t.Known, Detail: t.Answer}})
	}
	for _, err := range []error{f.HIP.Err, f.NoDevice, f.RocBLAS.Err, f.HIPRTC.Err, f.Comgr.Err} {
		if err != nil {
			events = append(events, firstError(err))
		}
	}
	return events
}

func hello(d wire.Device) wire.Event {
	return wire.Event{Kind: wire.KindHello, Hello: &wire.Hello{V: wire.SpecVersion, PID: os.Getpid(), Device: d}}
}

// maxProbeText bounds the text of an error on its way to the driver.
const maxProbeText = 8 << 10

func firstError(err error) wire.Event {
	fe := &wire.FirstError{Kind: wire.ErrorOther, Text: err.Error()}
	if len(fe.Text) > maxProbeText {
		fe.Text = fe.Text[:maxProbeText]
	}
	var (
		status *rocm.StatusError
		lib    *rocm.LibraryError
		none   *rocm.NoDeviceError
	)
	if errors.As(err, &status) {
		fe.Kind, fe.Call, fe.Code, fe.Name = wire.ErrorStatus, status.Call, status.Code, status.Name
	}
	switch {
	case errors.As(err, &lib):
		fe.Kind = wire.ErrorLibraryMissing
	case errors.As(err, &none):
		fe.Kind = wire.ErrorNoDevice
	}
	return wire.Event{Kind: wire.KindFirstError, FirstError: fe}
}

// finding is what a probe child told.
type finding struct {
	spec     string
	device   *wire.Device  // opened and usable; nil if it is not
	libs     *wire.Device  // of the survey: libraries and versions; nil for sim
	devices  []wire.Device // of the survey
	targets  []wire.Check  // of the survey: whether kernels can be compiled for an architecture
	problems []string      // what is missing, each once
	died     string        // how the child ended, where it did not end by itself
}

// usable reports whether a scenario can run on the device.
func (f finding) usable() bool { return f.device != nil && f.died == "" }

// why says in one line why the device cannot be used.
func (f finding) why() string {
	parts := f.problems
	if f.died != "" {
		parts = append(parts, f.died)
	}
	if len(parts) == 0 {
		return "the probe child told nothing"
	}
	return strings.Join(parts, "; ")
}

// maxBrief bounds a reason that is only mentioned.
const maxBrief = 120

// brief is the first reason, shortened.
func (f finding) brief() string {
	why := f.died
	if len(f.problems) > 0 {
		why = f.problems[0]
	}
	if len(why) > maxBrief {
		why = strings.ToValidUTF8(why[:maxBrief], "") + "..."
	}
	return why
}

// probeDeadline leaves a cold runtime on a slow disk the time it needs: one
// child of a real device took about half a second.
const probeDeadline = time.Minute

// runChild is childproc.Launcher.Run.
type runChild func(ctx context.Context, s childproc.Spec) (childproc.Exit, error)

// probeDevice runs a probe child for the device that spec names. A child that
// died is a finding; the error says that there was none.
func probeDevice(ctx context.Context, run runChild, env []string, spec string) (finding, error) {
	f := finding{spec: spec}
	survey, done := true, false
	exit, err := run(ctx, childproc.Spec{
		Entry: entryProbe, Orders: wire.Spec{Device: spec}, Env: env, Deadline: probeDeadline,
		OnEvent: func(e wire.Event) {
			switch {
			case e.Kind == wire.KindPhase:
				survey = e.Phase == wire.PhaseInit
			case e.Kind == wire.KindHello && !survey:
				f.device = &e.Hello.Device
			case e.Kind == wire.KindHello && e.Hello.Device.Ordinal == surveyOrdinal:
				f.libs = &e.Hello.Device
			case e.Kind == wire.KindHello:
				f.devices = append(f.devices, e.Hello.Device)
			case e.Kind == wire.KindCheck:
				f.targets = append(f.targets, *e.Check)
			case e.Kind == wire.KindFirstError:
				f.problem(e.FirstError.Text)
			case e.Kind == wire.KindDone:
				done = true
			}
		},
	})
	switch {
	case ctx.Err() != nil:
		return f, exitInterrupted("probing " + spec)
	case err != nil:
		return f, harnessError(fmt.Errorf("probe %s: %w", spec, err))
	}
	if !done && (len(f.problems) == 0 || exit.Code != 1) {
		f.died = death(exit)
	}
	return f, nil
}

func (f *finding) problem(text string) {
	for _, p := range f.problems {
		if p == text {
			return
		}
	}
	f.problems = append(f.problems, text)
}

// death says how a probe child ended that did not end by itself, with the last
// it printed.
func death(x childproc.Exit) string {
	how := fmt.Sprintf("exited with code %d", x.Code)
	switch {
	case x.Unkillable:
		how = "survived SIGKILL"
	case x.KillReason == childproc.ReasonDeadline:
		how = fmt.Sprintf("did not answer within %v", probeDeadline)
	case x.Signal != 0:
		how = "was ended by " + unix.SignalName(x.Signal)
	}
	s := "the probe child " + how
	for _, out := range [][]byte{x.Stderr.Bytes(), x.Stdout.Bytes()} {
		if last := lastLine(out); last != "" {
			return s + ": " + last
		}
	}
	return s
}

// maxLastLine bounds what is quoted of a dead child.
const maxLastLine = 300

func lastLine(out []byte) string {
	text := strings.TrimSpace(string(out))
	text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	if len(text) > maxLastLine {
		text = text[:maxLastLine]
	}
	return text
}
