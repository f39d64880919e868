package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"rocstress/childproc/wire"
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// EntryName is the name under which composition roots hand Entry to
// childproc.Main.
const EntryName = "scenario"

// Opener opens a driver from a device spec, such as "sim" or "hip:0".
type Opener = func(spec string) (rocm.Driver, error)

// Entry returns the child runner: it opens the device its orders name, says
// hello, runs the body and sends done. Its exit code is 0 where the body
// finished, whatever the checks said, and 1 where an error ended it, which
// then was sent as first_error.
func Entry(open Opener) func(wire.Spec, *wire.Writer) int {
	return func(orders wire.Spec, events *wire.Writer) int {
		// A device is current per OS thread, and the body's is this one.
		runtime.LockOSThread()
		if err := runScenario(open, orders, events); err != nil {
			// The driver reads the event; the line is for a person.
			fmt.Fprintf(os.Stderr, "%s: %v\n", orders.Scenario, err)
			if events.Send(wire.Event{Kind: wire.KindFirstError, FirstError: describeError(err)}) != nil {
				return 1
			}
			return 1
		}
		return 0
	}
}

func runScenario(open Opener, orders wire.Spec, events *wire.Writer) error {
	sc, ok := Find(orders.Scenario)
	if !ok {
		return fmt.Errorf("unknown scenario %q", orders.Scenario)
	}
	removed, err := rocm.ParseSet(orders.Removed)
	if err != nil {
		return err
	}
	rt := sched.Free(nil)
	env := &Env{Spec: orders, Runtime: rt, Thread: rt.NewThread("main"), Removed: removed, Events: events}
	if err := events.Send(wire.Event{Kind: wire.KindPhase, Phase: wire.PhaseInit}); err != nil {
		return err
	}
	if env.Driver, err = openInjected(env.Thread, open, orders.Device, sc.Inject); err != nil {
		return err
	}
	if _, err := env.Driver.DeviceCount(env.Thread); err != nil {
		return err
	}
	if env.device, err = hello(env); err != nil {
		return err
	}
	if err := sc.Body(context.Background(), env); err != nil {
		return err
	}
	if err := env.phase(wire.PhaseTeardown); err != nil {
		return err
	}
	if err := env.Driver.Close(env.Thread); err != nil {
		return err
	}
	rt.Wait()
	return events.Send(wire.Event{Kind: wire.KindDone})
}

// hello tells the driver process who this child is and what it opened.
func hello(env *Env) (rocm.DeviceProps, error) {
	d := env.Driver.Describe(env.Thread)
	props, err := env.Driver.DeviceProps(env.Thread, d.Ordinal)
	if err != nil {
		return props, err
	}
	dev := wire.Device{
		Driver: d.Driver, Simulated: d.Simulated, Name: props.Name, Arch: rocm.FactsOf(props.Arch).Arch,
		Ordinal: d.Ordinal, Runtime: d.Runtime, BLAS: d.BLAS, TestABI: d.TestABI,
	}
	for _, l := range d.Libraries {
		dev.Libraries = append(dev.Libraries, wire.Library(l))
	}
	return props, env.Events.Send(wire.Event{
		Kind:  wire.KindHello,
		Hello: &wire.Hello{V: wire.SpecVersion, PID: os.Getpid(), Device: dev},
	})
}

// maxErrorText bounds the text of an error on its way to the driver.
const maxErrorText = 4 << 10

// describeError turns an error of the body into what the driver classifies.
func describeError(err error) *wire.FirstError {
	text := err.Error()
	if len(text) > maxErrorText {
		text = text[:maxErrorText]
	}
	fe := &wire.FirstError{Kind: wire.ErrorOther, Text: text}
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
	return fe
}
