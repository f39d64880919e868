package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rocstress/childproc"
	"rocstress/reports"
)

// app is what every command works with.
type app struct {
	env            []string // of this process and, with changes, of children
	args           []string // the invocation, without the program's name
	stdout, stderr io.Writer
	now            func() time.Time
	ticks          func() (<-chan time.Time, func()) // of progress off a terminal
}

// run is stress: it returns the exit code. Results go to stdout; progress,
// warnings and errors to stderr. Nothing reads stdin: it belongs to the
// caller, and children have none. When ctx ends it stops starting children,
// ends those that run, and reports what was counted.
func run(ctx context.Context, args, env []string, _ io.Reader, stdout, stderr io.Writer) int {
	a := &app{env: env, args: args, stdout: stdout, stderr: stderr, now: time.Now, ticks: everyFiveSeconds}
	return a.execute(ctx)
}

func everyFiveSeconds() (<-chan time.Time, func()) {
	t := time.NewTicker(progressEvery)
	return t.C, t.Stop
}

func (a *app) execute(ctx context.Context) int {
	root := a.command()
	err := a.checkCommand(root)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	code, line := codeOf(err)
	if line != "" {
		a.warn(line)
	}
	return code
}

// warn prints one line on stderr.
func (a *app) warn(text string) {
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "; ")
	// Nobody can be told that stderr is gone.
	_, _ = fmt.Fprintf(a.stderr, "stress: %s\n", reports.Terminal(text))
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "stress",
		Short: "Make the concurrency bugs of a ROCm backend countable",
		Long: `stress runs scenarios of concurrent GPU work in fresh child processes, checks every
result exactly, and says what the counts mean: how many of 20 runs fail with a
lock removed, and none with it.

Results go to stdout; progress, warnings and the command that reruns each failed
child go to stderr. Without a GPU it runs on a simulated device, and says so.

` + exitHelp,
		Example: `  stress compare first-gemm             protected against removed, 20 runs of 10 children each
  stress run first-gemm --without locks --runs 5
  stress doctor                         usable devices and libraries, and why not`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("no command was given; accepted: %s; see stress --help", strings.Join(commandNames(cmd), ", "))
		},
	}
	root.SetArgs(a.args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(a.runCommand(), a.compareCommand(), a.replayCommand(), a.listCommand(), a.doctorCommand())
	root.SetHelpCommand(helpCommand(root))
	return root
}

// helpCommand is cobra's, but for an unknown topic, which is an error here.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			for _, c := range root.Commands() {
				if c.Name() == args[0] {
					return c.Help()
				}
			}
			return unknownName("help", args[0], commandNames(root))
		},
	}
}

// checkCommand refuses an unknown command before its flags are looked at.
func (a *app) checkCommand(root *cobra.Command) error {
	root.InitDefaultHelpCmd()
	if _, _, err := root.Find(a.args); err == nil {
		return nil
	}
	for _, arg := range a.args {
		if !strings.HasPrefix(arg, "-") {
			return unknownName("command", arg, commandNames(root))
		}
	}
	return nil
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Root().Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// flagError turns an error of the parser into one line that names the flag,
// the value and what is accepted.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		value   *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
	)
	switch {
	case errors.As(err, &value):
		return usagef("%s %q: %v", flagName(value.GetFlag()), value.GetValue(), errors.Unwrap(value))
	case errors.As(err, &missing):
		f := missing.GetFlag()
		// What its parser says of nothing names what is accepted.
		return usagef("%s: no value was given: %v", flagName(f), f.Value.Set(""))
	case errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1:
		var accepted []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { accepted = append(accepted, "--"+f.Name) })
		return unknownName("flag", "--"+unknown.GetSpecifiedName(), accepted)
	}
	return usagef("%v; see %s --help", err, cmd.CommandPath())
}

func flagName(f *pflag.Flag) string { return "--" + f.Name }

// launcher starts children; the caller calls stop once all have ended.
func (a *app) launcher() (l *childproc.Launcher, stop func(), err error) {
	l, err = childproc.NewLauncher()
	if err != nil {
		return nil, nil, harnessError(fmt.Errorf("start children: %w", err))
	}
	return l, func() {
		if err := l.Close(); err != nil {
			a.warn(err.Error())
		}
	}, nil
}

// print writes results to stdout.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return harnessError(fmt.Errorf("write to stdout: %w", err))
	}
	return nil
}

// invocation is the command line for reports.
func (a *app) invocation() []string { return append([]string{"stress"}, a.args...) }

// finish runs what must be done at the end of a command, whose error is err. A
// second error is not lost.
func (a *app) finish(err *error, f func() error) {
	switch e := f(); {
	case e == nil:
	case *err == nil:
		*err = harnessError(e)
	default:
		a.warn(e.Error())
	}
}
