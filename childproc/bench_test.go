package childproc_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"rocstress/childproc"
)

// BenchmarkNoopChild compares a no-op entry run by a Launcher with a plain
// start-and-wait of the same binary, in turns, so that a slow moment of the
// machine hits both. Budget: ratio <= 1.25.
func BenchmarkNoopChild(b *testing.B) {
	plain := append(os.Environ(), envPlain+"=1")
	benchAgainst(b, childproc.Spec{Entry: "noop"}, func() *exec.Cmd {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = plain
		return cmd
	})
}

// BenchmarkForeignChild does the same with a program that takes no time.
func BenchmarkForeignChild(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip(err)
	}
	benchAgainst(b, childproc.Spec{Path: path}, func() *exec.Cmd { return exec.Command(path) })
}

func benchAgainst(b *testing.B, s childproc.Spec, plain func() *exec.Cmd) {
	l, err := childproc.NewLauncher()
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	}()
	var ours, theirs time.Duration
	for b.Loop() {
		began := time.Now()
		if e, err := l.Run(b.Context(), s); err != nil || e.Code != 0 {
			b.Fatal(e.Code, err)
		}
		middle := time.Now()
		if err := plain().Run(); err != nil {
			b.Fatal(err)
		}
		ours += middle.Sub(began)
		theirs += time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	b.ReportMetric(float64(ours)/float64(b.N), "ours-ns")
	b.ReportMetric(float64(theirs)/float64(b.N), "plain-ns")
}
