package wire_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/childproc/wire"
)

func drawSpec(rt *rapid.T) wire.Spec {
	text := rapid.StringN(0, 30, -1)
	small := rapid.IntRange(0, 1<<20)
	return wire.Spec{
		V:        wire.SpecVersion,
		Scenario: text.Draw(rt, "scenario"),
		Device:   text.Draw(rt, "device"),
		Settings: wire.Settings{
			Threads: small.Draw(rt, "threads"),
			Rounds:  small.Draw(rt, "rounds"),
			Shape:   wire.Shape{M: small.Draw(rt, "m"), K: small.Draw(rt, "k"), N: small.Draw(rt, "n")},
			Inputs:  text.Draw(rt, "inputs"),
			Load:    text.Draw(rt, "load"),
		},
		Removed:  rapid.SliceOfN(text, 1, 5).Draw(rt, "removed"),
		Seed:     rapid.Uint64().Draw(rt, "seed"),
		Run:      small.Draw(rt, "run"),
		Child:    small.Draw(rt, "child"),
		Arm:      text.Draw(rt, "arm"),
		Deadline: time.Duration(rapid.Int64().Draw(rt, "deadline")),
	}
}

func TestPropSpecRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		want := drawSpec(rt)
		doc, err := want.Encode()
		g.Expect(err).NotTo(HaveOccurred())
		got, err := wire.DecodeSpec(doc)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
	})
}

func TestSpecKeepsAllBitsOfTheSeed(t *testing.T) {
	g := NewWithT(t)
	doc, err := wire.Spec{Seed: 1<<64 - 1}.Encode()
	g.Expect(err).NotTo(HaveOccurred())
	got, err := wire.DecodeSpec(doc)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Seed).To(BeEquivalentTo(uint64(1<<64 - 1)))
}

func TestEncodeStampsTheVersion(t *testing.T) {
	g := NewWithT(t)
	doc, err := wire.Spec{V: 7}.Encode()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(doc).To(HavePrefix(`{"v":1,`))
	_, err = wire.Spec{Scenario: strings.Repeat("x", 64<<10)}.Encode()
	g.Expect(err).To(MatchError(ContainSubstring("at most 65536")))
}

func TestDecodeSpecIsStrict(t *testing.T) {
	for doc, says := range map[string]string{
		``:                                      "EOF",
		`{`:                                     "unexpected EOF",
		`[]`:                                    "cannot unmarshal array",
		`null`:                                  "version 0",
		`{}`:                                    "version 0",
		`{"v":2}`:                               "version 2, this build speaks version 1",
		`{"v":1,"colour":"r"}`:                  `unknown field "colour"`,
		`{"v":1,"settings":{"shape":{"x":1}}}`:  `unknown field "x"`,
		`{"v":1} {"v":1}`:                       "text after the document",
		`{"v":1}]`:                              "text after the document",
		`{"v":1,"seed":-1}`:                     "cannot unmarshal number -1",
		`{"v":1,"seed":1e3}`:                    "cannot unmarshal number 1e3",
		`{"v":1,"seed":18446744073709551616}`:   "cannot unmarshal number",
		`{"v":1}` + strings.Repeat(" ", 64<<10): "at most 65536",
	} {
		_, err := wire.DecodeSpec(doc)
		NewWithT(t).Expect(err).To(MatchError(And(HavePrefix(wire.EnvSpec+": "), ContainSubstring(says))), "%.40s", doc)
	}
	_, err := wire.DecodeSpec(` {"v":1} ` + "\n")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func TestWithout(t *testing.T) {
	g := NewWithT(t)
	s := wire.Spec{Removed: []string{"rocblas-init-lock"}}
	g.Expect(s.Without("rocblas-init-lock")).To(BeTrue())
	g.Expect(s.Without("rocblas-init")).To(BeFalse())
	g.Expect(wire.Shape{M: 1, K: 2, N: 3}.String()).To(Equal("1x2x3"))
}

// whole is one valid event of each kind.
func whole() []wire.Event {
	return []wire.Event{
		{Kind: wire.KindHello, Hello: &wire.Hello{V: 1, PID: 2, Device: wire.Device{Driver: "sim", Arch: "gfx1151",
			Libraries: []wire.Library{{Name: "a.so", Path: "/a.so", BuildID: "00ff"}}}}},
		{Kind: wire.KindPhase, Phase: wire.PhaseRun},
		{Kind: wire.KindRelease, Release: &wire.Release{Barrier: "b", SkewNS: []int64{0, 5}, Overlap: 2}},
		{Kind: wire.KindOp, Op: &wire.Op{Thread: 1, Round: 2, Route: "rocblas", Status: "ok", StartNS: 3, EndNS: 4}},
		{Kind: wire.KindCheck, Check: &wire.Check{Name: "n", Kind: wire.FailNaN, Detail: "d\n\u2028\x00", Count: 3}},
		{Kind: wire.KindFirstError, FirstError: &wire.FirstError{Kind: wire.ErrorStatus, Text: "t", Call: "c", Code: 700, Name: "n"}},
		{Kind: wire.KindProvoked, Provoked: "device_fault"},
		{Kind: wire.KindPointCounts, PointCounts: map[string]int{"p": 1}},
		{Kind: wire.KindDone},
	}
}

func TestEventsRoundTripAsOneLineEach(t *testing.T) {
	for _, want := range whole() {
		g := NewWithT(t)
		want.At = 42
		var b bytes.Buffer
		g.Expect(wire.NewWriter(&b).Send(want)).To(Succeed())
		g.Expect(bytes.Count(b.Bytes(), []byte("\n"))).To(Equal(1))
		got, err := wire.DecodeEvent(b.Bytes())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
	}
}

func TestDecodeEventIsStrict(t *testing.T) {
	for _, e := range whole() {
		_, err := wire.DecodeEvent([]byte(`{"ev":"` + string(e.Kind) + `"}`))
		bare := e.Kind == wire.KindDone || e.Kind == wire.KindPointCounts
		NewWithT(t).Expect(err == nil).To(Equal(bare), "%s: %v", e.Kind, err)
	}
	for line, says := range map[string]string{
		``:                               "unexpected end",
		`{}`:                             `unknown kind ""`,
		`{"ev":"unheard-of"}`:            `unknown kind "unheard-of"`,
		`{"ev":"phase","phase":"lunch"}`: "without its content",
		`{"ev":"done"}{"ev":"done"}`:     "after top-level value",
		`{"ev":"done","t_ns":"x"}`:       "cannot unmarshal string",
	} {
		_, err := wire.DecodeEvent([]byte(line))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(says)), line)
	}
	_, err := wire.DecodeEvent([]byte(`{"ev":"done","later":1}`))
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "a newer child may say more")
}

func TestBoundOfALineIsTheSameOnBothSides(t *testing.T) {
	g := NewWithT(t)
	event := func(n int) wire.Event {
		return wire.Event{Kind: wire.KindCheck, At: 1, Check: &wire.Check{Name: strings.Repeat("x", n)}}
	}
	var b bytes.Buffer
	g.Expect(wire.NewWriter(&b).Send(event(0))).To(Succeed())
	room := wire.MaxEventBytes - b.Len() // MaxEventBytes includes the newline
	b.Reset()
	w := wire.NewWriter(&b)
	g.Expect(w.Send(event(room))).To(Succeed())
	_, err := wire.DecodeEvent(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Send(event(room + 1))).To(MatchError(ContainSubstring("at most 65535")))
	g.Expect(w.Send(wire.Event{Kind: wire.KindDone})).To(Succeed(), "an event that is too long is not the end")
	_, err = wire.DecodeEvent(bytes.Repeat([]byte{' '}, wire.MaxEventBytes))
	g.Expect(err).To(MatchError(ContainSubstring("at most 65535")))
}

// oneWrite notes each Write; it fails from the limit-th on.
type oneWrite struct {
	lines [][]byte
	limit int
}

var errGone = errors.New("the driver is gone")

func (o *oneWrite) Write(b []byte) (int, error) {
	if len(o.lines) == o.limit {
		return 0, errGone
	}
	o.lines = append(o.lines, bytes.Clone(b))
	return len(b), nil
}

func TestWriterIsSafeForManyThreads(t *testing.T) {
	const threads, each = 8, 200
	g := NewWithT(t)
	out := &oneWrite{limit: -1}
	w := wire.NewWriter(out)
	errs := make(chan error, threads*each)
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			for r := range each {
				errs <- w.Send(wire.Event{Kind: wire.KindOp, Op: &wire.Op{Thread: i, Round: r, Status: "ok"}})
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(out.lines).To(HaveLen(threads*each), "one write an event")
	next := make([]int, threads)
	for _, line := range out.lines {
		e, err := wire.DecodeEvent(line)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(e.Op.Round).To(Equal(next[e.Op.Thread]), "order within a thread")
		g.Expect(e.At).To(And(BeNumerically(">", 0), BeNumerically("<=", w.Since())))
		next[e.Op.Thread]++
	}
}

func TestWriterKeepsItsFirstError(t *testing.T) {
	g := NewWithT(t)
	out := &oneWrite{limit: 1}
	w := wire.NewWriter(out)
	g.Expect(w.Send(wire.Event{Kind: wire.KindDone})).To(Succeed())
	g.Expect(w.Send(wire.Event{Kind: wire.KindDone})).To(MatchError(errGone))
	out.limit = 10
	g.Expect(w.Send(wire.Event{Kind: wire.KindDone})).To(MatchError(errGone))
	g.Expect(out.lines).To(HaveLen(1))
}
