package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/reports"
	"rocstress/rocm"
	"rocstress/rocm/open"
	"rocstress/scenarios"
)

// row is one listed thing: its name, and what there is to say about it.
type row struct {
	name  string
	about []string
}

// lists are what can be listed, in the order of --help.
var lists = [...]string{"scenarios", "protections", "devices", "outcomes", "points"}

func (a *app) listCommand() *cobra.Command {
	var bare bool
	cmd := &cobra.Command{
		Use:   "list [" + strings.Join(lists[:], "|") + "]",
		Short: "List scenarios, protections, devices, outcomes or points",
		Long: `list prints scenarios (the default), the protections that can be removed and their
groups, the devices that can be used, the outcomes of a child in order of
precedence, or the points between the steps of the protocol.

` + exitHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			what := lists[0]
			switch {
			case len(args) > 1:
				return usagef("stress list: %d lists were asked for; accepted: one of %s", len(args), strings.Join(lists[:], ", "))
			case len(args) == 1 && !slices.Contains(lists[:], args[0]):
				return unknownName("list", args[0], lists[:])
			case len(args) == 1:
				what = args[0]
			}
			rows, err := a.rows(cmd.Context(), what)
			if err != nil {
				return err
			}
			if what == "protections" && !bare {
				rows = append(rows, groupRows()...)
			}
			return a.print(table(rows, bare))
		},
	}
	cmd.Flags().BoolVar(&bare, "names", false, "names alone, one a line; of protections without groups")
	return cmd
}

func (a *app) rows(ctx context.Context, what string) ([]row, error) {
	switch what {
	case "protections":
		return protectionRows(), nil
	case "devices":
		return a.deviceRows(ctx)
	case "outcomes":
		return outcomeRows(), nil
	case "points":
		return pointRows(), nil
	}
	return scenarioRows(), nil
}

// table aligns rows.
func table(rows []row, bare bool) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		if bare {
			b.WriteString(r.name + "\n")
			continue
		}
		line := []string{r.name}
		for _, s := range r.about {
			line = append(line, reports.Terminal(s))
		}
		_, _ = fmt.Fprintln(t, strings.Join(line, "\t")) // into memory
	}
	_ = t.Flush()
	return b.String()
}

func scenarioRows() []row {
	var rows []row
	for _, s := range scenarios.List() {
		removes := "removes nothing by default"
		if len(s.Remove) > 0 {
			removes = "removes " + strings.Join(s.Remove, ",")
		}
		rows = append(rows, row{s.Name, []string{s.Doc, removes, s.Seed}})
	}
	return rows
}

func protectionRows() []row {
	var rows []row
	for _, p := range rocm.Protections() {
		rows = append(rows, row{string(p.ID), []string{p.Guards, "removed: " + p.Removed, p.Seed}})
	}
	return rows
}

// groupRows are listed below the protections for people only.
func groupRows() []row {
	groups := rocm.Groups()
	var rows []row
	for _, name := range protectionNames() {
		if members, ok := groups[name]; ok {
			var ids []string
			for _, p := range members {
				ids = append(ids, string(p))
			}
			rows = append(rows, row{name, []string{"group of " + strings.Join(ids, ", ")}})
		}
	}
	return rows
}

func outcomeRows() []row {
	var rows []row
	for _, o := range harness.Outcomes() {
		rows = append(rows, row{string(o), []string{o.Meaning()}})
	}
	return rows
}

func pointRows() []row {
	var rows []row
	for _, p := range rocm.Points() {
		rows = append(rows, row{string(p.Point), []string{p.Where}})
	}
	for _, p := range open.Points() {
		rows = append(rows, row{string(p), []string{"inside a driver's call"}})
	}
	return rows
}

// deviceRows lists what --device takes: sim, and every real device found.
func (a *app) deviceRows(ctx context.Context) ([]row, error) {
	l, stop, err := a.launcher()
	if err != nil {
		return nil, err
	}
	defer stop()
	rows := []row{}
	for _, spec := range []string{deviceSim, deviceHip + ":0"} {
		f, err := probeDevice(ctx, l.Run, a.env, spec)
		if err != nil {
			return nil, err
		}
		switch {
		case spec == deviceSim && f.usable():
			rows = append(rows, row{deviceSim, []string{describe(*f.device)}})
		case len(f.devices) > 0:
			for _, d := range f.devices {
				rows = append(rows, row{fmt.Sprintf("%s:%d", deviceHip, d.Ordinal), []string{describe(d)}})
			}
		}
		if !f.usable() {
			a.warn(spec + " is not usable: " + f.why())
		}
	}
	return rows, nil
}

// describe returns a device in a few words.
func describe(d wire.Device) string {
	parts := []string{d.Name}
	if !strings.Contains(d.Name, d.Arch) {
		parts = append(parts, d.Arch)
	}
	if d.Simulated {
		parts = append(parts, "a simulated device")
	}
	if d.TestABI != "" && d.TestABI != d.Name {
		parts = append(parts, "test ABI "+d.TestABI)
	}
	return strings.Join(parts, ", ")
}
