package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"golang.org/x/sys/unix"

	"rocstress/harness"
	"rocstress/harness/results"
)

// envTorture is how often the driver is killed.
const (
	envTorture     = "STRESS_TORTURE"
	defaultTorture = 5
)

// Size of a tortured campaign: it takes as long as several kills are apart.
const (
	tortureRuns     = 6
	tortureChildren = 10
	torturePlanned  = 2 * tortureRuns * tortureChildren
)

// latestKill is long enough for a driver to start, find what is done, and run
// a dozen children.
const latestKill = 800 * time.Millisecond

// victim is a campaign that is killed and resumed until it is complete.
type victim struct {
	dir    string
	marker string // in the environment of its driver and of its children
	begun  bool   // a manifest was written, so that it can be resumed
	kills  int
}

// tiny are settings with which a child takes some 50 ms.
const tiny = "compare first-gemm --device sim --threads 2 --rounds 2 --shape 4x4x4 --load off -p 2 --seed 11 --no-progress --format json"

// start starts or resumes the campaign.
func (v *victim) start(more ...string) *gexec.Session {
	GinkgoHelper()
	args := append(strings.Fields(tiny), more...)
	args = append(args, "--runs", strconv.Itoa(tortureRuns), "--children", strconv.Itoa(tortureChildren))
	if v.begun {
		args = append(args, "--resume", v.dir)
	} else {
		args = append(args, "--out", v.dir)
	}
	cmd := exec.Command(stressPath, args...)
	cmd.Env = append(os.Environ(), v.marker)
	s, err := gexec.Start(cmd, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		s.Kill().Wait("10s")
		for _, pid := range v.alive() { // of a spec that failed
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	return s
}

// alive returns the processes of the campaign, driver and children. A zombie
// has no environment any more.
func (v *victim) alive() []int {
	GinkgoHelper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	Expect(err).NotTo(HaveOccurred())
	var found []int
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+v.marker+"\x00")) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			Expect(err).NotTo(HaveOccurred())
			found = append(found, pid)
		}
	}
	return found
}

// complete checks the exit of a driver that was not killed.
func (v *victim) complete(s *gexec.Session) bool {
	GinkgoHelper()
	v.begun = true
	Expect(s.ExitCode()).To(BeElementOf(harness.ExitClean, harness.ExitInconclusive), "two threads may not overlap: "+string(s.Err.Contents()))
	return true
}

// kill ends the driver at a random moment and checks what it left. It reports
// whether the campaign had been complete before that.
func (v *victim) kill(rng *rand.Rand) (complete bool) {
	GinkgoHelper()
	s := v.start()
	select {
	case <-s.Exited:
		return v.complete(s)
	case <-time.After(time.Duration(rng.Int64N(int64(latestKill)))):
	}
	s.Signal(unix.SIGKILL)
	<-s.Exited
	if s.ExitCode() != -1 && s.ExitCode() != 128+int(unix.SIGKILL) {
		return v.complete(s) // it was faster
	}
	v.kills++
	Eventually(v.alive, "2s", "10ms").Should(BeEmpty(), "children outlive their driver")
	if _, err := os.Stat(filepath.Join(v.dir, "manifest.json")); err != nil {
		Expect(recorded(v.dir)).To(BeZero(), "no child ran before there was a manifest")
		v.dir, v.begun = v.dir+"x", false
		return false
	}
	v.begun = true
	d, err := results.Open(v.dir)
	Expect(err).NotTo(HaveOccurred())
	Expect(d.Records(func(harness.Record) error { return nil })).To(Succeed())
	return false
}

// finish lets the campaign come to its end and checks that every planned child
// is there, once.
func (v *victim) finish(want map[harness.Key]uint64) {
	GinkgoHelper()
	s := v.start()
	Eventually(s, "120s").Should(gexec.Exit())
	v.complete(s)
	Expect(v.alive()).To(BeEmpty())

	text, err := os.ReadFile(filepath.Join(v.dir, "results.jsonl"))
	Expect(err).NotTo(HaveOccurred())
	Expect(strings.Count(string(text), "\n")).To(Equal(torturePlanned), "a line for each child: none lost, none twice")
	got := map[harness.Key]uint64{}
	for _, r := range recordsOf(v.dir) {
		Expect(r.Outcome).NotTo(Equal(harness.NotMeasured))
		got[r.Key()] = r.Seed
	}
	Expect(got).To(Equal(want))
	r := decode(string(s.Out.Contents()))
	Expect(r.Stopped).To(BeEmpty())
	for _, a := range r.Scenarios[0].Arms {
		Expect(a).To(And(HaveField("Children", torturePlanned/2), HaveField("NotMeasured", 0), HaveField("Runs", tortureRuns)))
	}
}

// tortureKills returns how often to kill.
func tortureKills() int {
	GinkgoHelper()
	text, given := os.LookupEnv(envTorture)
	if !given {
		return defaultTorture
	}
	n, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred(), "%s is how often to kill", envTorture)
	return n
}

var _ = Describe("a campaign whose driver is killed at random", Label("slow"), func() {
	It("leaves no child, and loses none and repeats none when it is resumed", func() {
		kills := tortureKills()
		want := map[harness.Key]uint64{}
		for _, arm := range []string{harness.ArmProtected, harness.ArmRemoved} {
			for run := 1; run <= tortureRuns; run++ {
				for child := 1; child <= tortureChildren; child++ {
					want[harness.Key{Scenario: "first-gemm", Arm: arm, Run: run, Child: child}] = harness.ChildSeed(11, "first-gemm", run, child)
				}
			}
		}
		seed := uint64(GinkgoRandomSeed())
		rng := rand.New(rand.NewPCG(seed, 1))
		done, campaigns, early := 0, 0, 0
		for done < kills {
			v := &victim{
				dir:    filepath.Join(GinkgoT().TempDir(), fmt.Sprint("c", campaigns)),
				marker: fmt.Sprintf("TORTURED=%d-%d-%d", os.Getpid(), seed, campaigns),
			}
			for done+v.kills < kills && !v.kill(rng) {
				if !v.begun {
					early++
				}
			}
			v.finish(want)
			done += v.kills
			campaigns++
		}
		AddReportEntry("torture", fmt.Sprintf("%d kills over %d campaigns of %d children, %d of them before there was a manifest: no child left, none lost, none twice",
			done, campaigns, torturePlanned, early))
	})

	// Children that end by themselves would be gone without any help.
	It("leaves no child that hangs", func() {
		kills, seed := tortureKills(), uint64(GinkgoRandomSeed())
		rng := rand.New(rand.NewPCG(seed, 2))
		hung := 0
		for i := range kills {
			v := &victim{dir: filepath.Join(GinkgoT().TempDir(), "out"), marker: fmt.Sprintf("TORTURED=%d-%d-hung-%d", os.Getpid(), seed, i)}
			s := v.start("--sim", "create=1h", "--timeout", "1h")
			time.Sleep(time.Duration(rng.Int64N(int64(latestKill / 2))))
			before := len(v.alive())
			s.Signal(unix.SIGKILL)
			<-s.Exited
			Eventually(v.alive, "2s", "10ms").Should(BeEmpty(), "children outlive their driver")
			hung += max(0, before-1)
		}
		Expect(hung).To(BeNumerically(">", 0), "there were children to leave behind")
		AddReportEntry("torture", fmt.Sprintf("%d kills with %d children that hang: no child left", kills, hung))
	})
})
