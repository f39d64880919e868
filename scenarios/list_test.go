package scenarios_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/childproc/wire"
	"rocstress/rocm"
	"rocstress/scenarios"
)

var _ = Describe("The list of scenarios", func() {
	It("has complete entries with names of their own", func() {
		names := map[string]bool{}
		for _, sc := range scenarios.List() {
			Expect(names).NotTo(HaveKey(sc.Name))
			names[sc.Name] = true
			Expect(sc.Name).To(MatchRegexp(`^[a-z][a-z0-9-]*[a-z]$`))
			Expect(sc.Doc).NotTo(BeEmpty(), sc.Name)
			Expect(sc.Seed).NotTo(BeEmpty(), sc.Name)
			Expect(sc.Body).NotTo(BeNil(), sc.Name)
			Expect(sc.SimDeadline.Seconds()).To(BeNumerically(">=", 3), sc.Name)
			d := sc.Defaults
			Expect(min(d.Threads, d.Rounds, d.Shape.M, d.Shape.K, d.Shape.N)).To(BeNumerically(">=", 1), sc.Name)
			_, err := scenarios.ParseLoad(d.Load)
			Expect(err).NotTo(HaveOccurred(), sc.Name)
			found, ok := scenarios.Find(sc.Name)
			Expect(ok).To(BeTrue())
			Expect(found.Doc).To(Equal(sc.Doc))
		}
		_, ok := scenarios.Find("first-gem")
		Expect(ok).To(BeFalse())
	})
	It("guards and removes protections that exist", func() {
		for _, sc := range scenarios.List() {
			_, err := rocm.ParseSet(sc.Remove)
			Expect(err).NotTo(HaveOccurred(), sc.Name)
			for _, p := range sc.Guards {
				_, err := rocm.ParseSet([]string{string(p)})
				Expect(err).NotTo(HaveOccurred(), sc.Name)
			}
		}
	})
})

var _ = DescribeTable("ParseLoad",
	func(text string, want scenarios.Load, ok bool) {
		got, err := scenarios.ParseLoad(text)
		if !ok {
			Expect(err).To(MatchError(And(ContainSubstring(text), ContainSubstring("accepted"))))
			return
		}
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal(want))
	},
	Entry(nil, "", scenarios.Load{}, true),
	Entry(nil, "off", scenarios.Load{}, true),
	Entry(nil, "auto", scenarios.Load{Auto: true}, true),
	Entry(nil, "65536", scenarios.Load{Bytes: 65536}, true),
	Entry(nil, "256MiB", scenarios.Load{Bytes: 256 << 20}, true),
	Entry(nil, "64GiB", scenarios.Load{Bytes: 64 << 30}, true),
	Entry(nil, "65GiB", scenarios.Load{}, false),
	Entry(nil, "0", scenarios.Load{}, false),
	Entry(nil, "-1MiB", scenarios.Load{}, false),
	Entry(nil, "256MB", scenarios.Load{}, false),
	Entry(nil, "MiB", scenarios.Load{}, false),
	Entry(nil, "18446744073709551615GiB", scenarios.Load{}, false),
)

func FuzzParseLoad(f *testing.F) {
	for _, s := range []string{"auto", "off", "1", "256MiB", "64GiB", "9999999999999999999KiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		load, err := scenarios.ParseLoad(text)
		if err == nil && load.Bytes > 64<<30 {
			t.Fatalf("%q: %d bytes", text, load.Bytes)
		}
	})
}

// runEntry runs the child entry in this process and returns its events.
func runEntry(open scenarios.Opener, orders wire.Spec) (code int, events []wire.Event) {
	GinkgoHelper()
	var out bytes.Buffer
	code = scenarios.Entry(open)(orders, wire.NewWriter(&out))
	for line := range bytes.Lines(out.Bytes()) {
		Expect(json.Valid(line)).To(BeTrue())
		e, err := wire.DecodeEvent(line)
		Expect(err).NotTo(HaveOccurred())
		events = append(events, e)
	}
	return code, events
}

var _ = Describe("The child entry", func() {
	refuse := func(err error) scenarios.Opener {
		return func(string) (rocm.Driver, error) { return nil, err }
	}
	DescribeTable("sends what the driver classifies when it cannot start",
		func(err error, kind string) {
			code, events := runEntry(refuse(err), wire.Spec{Scenario: "first-gemm", Device: "hip"})
			Expect(code).To(Equal(1))
			last := events[len(events)-1]
			Expect(last.Kind).To(Equal(wire.KindFirstError))
			Expect(last.FirstError.Kind).To(Equal(kind))
			Expect(last.FirstError.Text).To(Equal(err.Error()))
		},
		Entry("library", &rocm.LibraryError{Library: "HIP runtime", Tried: []string{"libamdhip64.so.7"}}, wire.ErrorLibraryMissing),
		Entry("device", &rocm.NoDeviceError{Runtime: "HIP", Err: rocm.HipError("hipGetDeviceCount", 100)}, wire.ErrorNoDevice),
		Entry("status", rocm.HipError("hipSetDevice", 101), wire.ErrorStatus),
		Entry("other", errors.New("unknown device"), wire.ErrorOther),
	)
	It("refuses an unknown scenario and an unknown protection", func() {
		for _, orders := range []wire.Spec{{Scenario: "second-gemm"}, {Scenario: "first-gemm", Removed: []string{"lock"}}} {
			code, events := runEntry(refuse(errors.New("not reached")), orders)
			Expect(code).To(Equal(1))
			Expect(events[len(events)-1].FirstError.Text).To(ContainSubstring("unknown"))
		}
	})
})
