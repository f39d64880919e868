package scenarios_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/rocm"
)

// settings is what STRESS_* variables say about a run of this suite.
type settings struct {
	device         string // what rocm/open.Open takes
	runs, children int
	seed           uint64
	without        []string // expanded ids
	parallel       int
	given          []string // the variables that were set, as NAME=value
}

// settingsFrom reads the variables through lookup. A malformed one is an
// error that names it, its value and what is accepted.
func settingsFrom(lookup func(string) (string, bool)) (settings, error) {
	s := settings{device: "sim", runs: 1, children: 10, seed: 1, parallel: runtime.NumCPU()}
	get := func(name string) (string, bool) {
		v, ok := lookup(name)
		if ok {
			s.given = append(s.given, name+"="+v)
		}
		return v, ok
	}
	if v, ok := get("STRESS_DEVICE"); ok {
		kind, _, _ := strings.Cut(v, ":")
		if kind != "sim" && kind != "hip" {
			return s, fmt.Errorf("STRESS_DEVICE=%s: accepted: sim, sim:key=value,..., hip, hip:N", v)
		}
		s.device = v
		if kind == "hip" {
			s.parallel = 1
		}
	}
	for name, dst := range map[string]*int{"STRESS_RUNS": &s.runs, "STRESS_CHILDREN": &s.children} {
		v, ok := get(name)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return s, fmt.Errorf("%s=%s: accepted: a whole number of at least 1", name, v)
		}
		*dst = n
	}
	if v, ok := get("STRESS_SEED"); ok {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			return s, fmt.Errorf("STRESS_SEED=%s: accepted: a whole number from 0 to 18446744073709551615", v)
		}
		s.seed = n
	}
	if v, ok := get("STRESS_WITHOUT"); ok && v != "" {
		set, err := rocm.ParseSet(strings.Split(v, ","))
		if err != nil {
			return s, fmt.Errorf("STRESS_WITHOUT=%s: %w", v, err)
		}
		s.without = set.IDs()
	}
	return s, nil
}

func lookupIn(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

var _ = Describe("STRESS_* settings", func() {
	It("default to ten children on the simulated device", func() {
		s, err := settingsFrom(lookupIn(nil))
		Expect(err).NotTo(HaveOccurred())
		Expect(s).To(Equal(settings{device: "sim", runs: 1, children: 10, seed: 1, parallel: runtime.NumCPU()}))
	})
	It("are read", func() {
		s, err := settingsFrom(lookupIn(map[string]string{
			"STRESS_DEVICE": "hip:1", "STRESS_RUNS": "2", "STRESS_CHILDREN": "3", "STRESS_SEED": "4", "STRESS_WITHOUT": "locks",
		}))
		Expect(err).NotTo(HaveOccurred())
		Expect(s.device).To(Equal("hip:1"))
		Expect([]int{s.runs, s.children, int(s.seed), s.parallel}).To(Equal([]int{2, 3, 4, 1}))
		Expect(s.without).To(Equal([]string{"rocblas-bind-lock", "rocblas-init-lock"}))
	})
	DescribeTable("are refused when malformed", func(name, value string) {
		_, err := settingsFrom(lookupIn(map[string]string{name: value}))
		Expect(err).To(MatchError(And(ContainSubstring(name+"="+value), ContainSubstring("accepted"))))
	},
		Entry(nil, "STRESS_DEVICE", "cuda"), Entry(nil, "STRESS_RUNS", "0"), Entry(nil, "STRESS_CHILDREN", "ten"),
		Entry(nil, "STRESS_SEED", "-1"), Entry(nil, "STRESS_WITHOUT", "lock"),
	)
})
