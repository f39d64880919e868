package results_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rocstress/childproc"
	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/harness/results"
)

// envPlain makes this test binary exit at once: the floor that a child is
// compared with.
const envPlain = "RESULTS_TEST_PLAIN"

func TestMain(m *testing.M) {
	childproc.Main(map[string]childproc.Entry{harness.ChildEntry: noop})
	if os.Getenv(envPlain) != "" {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// noop does what every child does, and no work.
func noop(_ wire.Spec, ev *wire.Writer) int {
	for _, e := range []wire.Event{
		{Kind: wire.KindHello, Hello: &wire.Hello{V: wire.SpecVersion, PID: os.Getpid()}},
		{Kind: wire.KindDone},
	} {
		if ev.Send(e) != nil {
			return 1
		}
	}
	return 0
}

// campaignOf returns a campaign of n no-op children that are really started,
// classified, counted and stored, as stress does.
func campaignOf(b *testing.B, n, parallel int, observe func(harness.Progress)) (harness.Campaign, func()) {
	b.Helper()
	launcher, err := childproc.NewLauncher()
	if err != nil {
		b.Fatal(err)
	}
	plan := harness.Plan{
		Runs: max(1, n/10), Children: min(n, 10), Parallel: parallel, Device: "sim",
		Scenarios: []harness.ScenarioPlan{{
			Name: "noop", Arms: []harness.Arm{{Name: harness.ArmRun, Without: []string{}}}, Deadline: time.Minute,
		}},
	}
	store, err := results.Create(filepath.Join(b.TempDir(), "out"), results.Manifest{Plan: plan})
	if err != nil {
		b.Fatal(err)
	}
	c := harness.Campaign{Plan: plan, Run: launcher.Run, Store: store, Observe: observe}
	return c, func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
		if err := launcher.Close(); err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkDriverNoopChild compares a no-op child through the whole driver, one
// at a time, with a plain start-and-wait of the same binary between each two of
// them, so that a slow moment of the machine hits both. Budget: ratio of the
// medians <= 1.25.
func BenchmarkDriverNoopChild(b *testing.B) {
	var ours, plain []time.Duration
	env := append(os.Environ(), envPlain+"=1")
	var since time.Time
	c, stop := campaignOf(b, max(10, b.N), 1, func(harness.Progress) {
		ours = append(ours, time.Since(since))
		began := time.Now()
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = env
		if err := cmd.Run(); err != nil {
			b.Error(err)
		}
		since = time.Now()
		plain = append(plain, since.Sub(began))
	})
	defer stop()
	b.ResetTimer()
	since = time.Now()
	if _, err := c.Execute(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(median(ours))/float64(median(plain)), "ratio")
	b.ReportMetric(float64(median(ours)), "ours-ns")
	b.ReportMetric(float64(median(plain)), "plain-ns")
}

// BenchmarkDriverMemory runs CHILDREN (2,000; the budget speaks of 100,000)
// no-op children and reports the peak resident size of the driver. Budget: it
// stays below 64 MiB, however many they are.
func BenchmarkDriverMemory(b *testing.B) {
	n := 2000
	if v, err := strconv.Atoi(os.Getenv("CHILDREN")); err == nil && v > 0 {
		n = v
	}
	for b.Loop() {
		c, stop := campaignOf(b, n, runtime.GOMAXPROCS(0), nil)
		result, err := c.Execute(context.Background())
		stop()
		if err != nil {
			b.Fatal(err)
		}
		arm := harness.BuildReport(harness.ReportInput{Plan: c.Plan, Result: result}).Scenarios[0].Arms[0]
		if arm.Outcomes[harness.Pass] != n {
			b.Fatalf("outcomes %v, want %d passes", arm.Outcomes, n)
		}
		b.ReportMetric(float64(n)/result.Dur.Seconds(), "children/s")
	}
	b.ReportMetric(peakRSS(b)/(1<<20), "peak-MiB")
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}

// peakRSS returns the peak resident size of this process in bytes.
func peakRSS(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib * 1024
		}
	}
	b.Skip("no VmHWM in /proc/self/status")
	return 0
}
