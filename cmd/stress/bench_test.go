package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const helloSource = `package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
`

// BenchmarkStart compares a plain start of stress with that of a Go program
// that says hello, in turns. Budget: ratio of the medians <= 1.6, which keeps
// heavy imports out of the way of every child.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	source := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(source, []byte(helloSource), 0o600); err != nil {
		b.Fatal(err)
	}
	hello, stress := filepath.Join(dir, "hello"), filepath.Join(dir, "stress")
	for target, pkg := range map[string]string{hello: source, stress: "."} {
		cmd := exec.Command("go", "build", "-o", target, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	var ours, theirs []time.Duration
	b.ResetTimer()
	for b.Loop() {
		ours = append(ours, timeOf(b, exec.Command(stress, "--version")))
		theirs = append(theirs, timeOf(b, exec.Command(hello)))
	}
	mid := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/2]) }
	b.ReportMetric(mid(ours)/mid(theirs), "ratio")
	b.ReportMetric(mid(ours), "ours-ns")
	b.ReportMetric(mid(theirs), "hello-ns")
}

func timeOf(b *testing.B, cmd *exec.Cmd) time.Duration {
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
