package reports_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/harness"
	"rocstress/reports"
)

// format is one way to write a report.
type format struct {
	name  string
	write func(io.Writer, harness.Report) error
}

var formats = []format{
	{"txt", func(w io.Writer, r harness.Report) error { return reports.WriteText(w, r, reports.TextOptions{}) }},
	{"brief.txt", func(w io.Writer, r harness.Report) error {
		return reports.WriteText(w, r, reports.TextOptions{Detail: reports.Brief})
	}},
	{"full.txt", func(w io.Writer, r harness.Report) error {
		return reports.WriteText(w, r, reports.TextOptions{Detail: reports.Full})
	}},
	{"md", reports.WriteMarkdown},
	{"json", reports.WriteJSON},
	{"junit.xml", func(w io.Writer, r harness.Report) error { return reports.WriteJUnit(w, r, reports.JUnitOptions{}) }},
}

func render(g Gomega, f format, r harness.Report) []byte {
	var b bytes.Buffer
	g.Expect(f.write(&b, r)).To(Succeed())
	return b.Bytes()
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

var _ = Describe("a report", func() {
	for _, f := range formats {
		It("is rendered as "+f.name, func() {
			expectGolden("reproduction."+f.name, render(Default, f, sample()))
			expectGolden("guard."+f.name, render(Default, f, guardOnSim()))
		})
		It("passes on the error of a writer as "+f.name, func() {
			Expect(f.write(brokenWriter{}, sample())).To(MatchError(errBroken))
		})
		It("can be empty as "+f.name, func() {
			Expect(render(Default, f, harness.Report{})).NotTo(BeEmpty())
		})
		It("says that the device is simulated as "+f.name, func() {
			if f.name == "brief.txt" {
				Skip("one line a scenario")
			}
			Expect(string(render(Default, f, guardOnSim()))).To(ContainSubstring("simulated"))
		})
	}

	It("decodes from JSON to what was written", func() {
		for _, r := range []harness.Report{sample(), guardOnSim()} {
			var back harness.Report
			Expect(json.Unmarshal(render(Default, formats[4], r), &back)).To(Succeed())
			Expect(back.Scenarios).To(Equal(r.Scenarios))
			Expect(back.Device).To(Equal(r.Device))
			Expect(back.Dur).To(Equal(r.Dur))
		}
	})

	It("warns where the numbers may not mean what they seem to, and says that it was resumed", func() {
		r := sample()
		r.Warnings, r.Earlier = []string{"libraries differ"}, 57
		text := string(render(Default, formats[0], r))
		Expect(text).To(And(ContainSubstring("\nwarning:   libraries differ\n"), ContainSubstring("\nresumed:   57 children had been run before\n")))
		Expect(string(render(Default, formats[3], r))).To(And(ContainSubstring("Warning: libraries differ\n"),
			ContainSubstring("- resumed: 57 children had been run before\n")))
	})

	It("does not bury a report under groups", func() {
		r := sample()
		for range 50 {
			r.Scenarios[0].Signatures = append(r.Scenarios[0].Signatures, r.Scenarios[0].Signatures[0])
		}
		Expect(string(render(Default, formats[0], r))).To(ContainSubstring("and 42 more groups"))
		Expect(string(render(Default, formats[2], r))).NotTo(ContainSubstring("more groups"))
	})
})

var _ = Describe("JUnit", func() {
	counts := func(r harness.Report, opts reports.JUnitOptions) (failures, errs int) {
		var b bytes.Buffer
		Expect(reports.WriteJUnit(&b, r, opts)).To(Succeed())
		var doc struct {
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		}
		Expect(xml.Unmarshal(b.Bytes(), &doc)).To(Succeed())
		return doc.Failures, doc.Errors
	}
	DescribeTable("blames nobody for children that are there to fail",
		func(kind harness.VerdictKind, failures, errs int) {
			r := sample()
			r.Scenarios[0].Verdict.Kind = kind
			f, e := counts(r, reports.JUnitOptions{})
			Expect(f).To(Equal(failures))
			Expect(e).To(Equal(errs))
		},
		Entry("reproduction", harness.Reproduction, 0, 0),
		Entry("detection", harness.Detection, 0, 0),
		Entry("guard", harness.Guard, 0, 0),
		Entry("regression", harness.Regression, 1, 0),
		Entry("findings", harness.Findings, 1, 0),
		Entry("inconclusive", harness.Inconclusive, 0, 1),
		Entry("no contention", harness.NoContention, 0, 1),
	)
	It("lets the caller say what a verdict means", func() {
		f, e := counts(sample(), reports.JUnitOptions{Exit: func(harness.ScenarioReport) int { return 1 }})
		Expect([]int{f, e}).To(Equal([]int{1, 0}))
	})
})

// command matches what a CI system would obey in one line of a log.
var command = regexp.MustCompile(`(?m)^\s*::|##\[|##vso\[|##teamcity\[`)

func TestHostileText(t *testing.T) {
	g := NewWithT(t)
	texts := hostileTexts(g)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t.Run(name, func(t *testing.T) { checkHostile(NewWithT(t), texts[name]) })
	}
}

// TestHostileProperty draws what the corpus does not think of.
func TestHostileProperty(t *testing.T) {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"]]>", "```", "::error::", "##[group]", "\x1b[31m", "\u202e", "\n", "\r", "|", "\\", "</details>", "`", " "}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		checkHostile(NewWithT(rt), strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(rt, "text"), ""))
	})
}

// checkHostile holds every format to its rules for a report full of text.
func checkHostile(g Gomega, text string) {
	r := poison(text)
	for _, f := range formats {
		out := render(g, f, r)
		g.Expect(utf8.Valid(out)).To(BeTrue(), "%s is UTF-8", f.name)
		for _, c := range string(out) {
			visible := c == '\n' || unicode.IsPrint(c) || c == '\t' && f.name == "junit.xml"
			g.Expect(visible).To(BeTrue(), "%s holds %U", f.name, c)
		}
		g.Expect(command.Match(out)).To(BeFalse(), "%s holds a workflow command: %s", f.name, command.Find(out))
	}
	checkHostileJSON(g, r)
	checkHostileXML(g, r)
	checkHostileMarkdown(g, r)
}

func checkHostileJSON(g Gomega, r harness.Report) {
	var back harness.Report
	g.Expect(json.Unmarshal(render(g, formats[4], r), &back)).To(Succeed())
	g.Expect(back.Scenarios).To(HaveLen(1))
	g.Expect(back.Scenarios[0].Failures[0].Evidence).To(Equal(asJSON(g, r.Scenarios[0].Failures[0].Evidence)))
	g.Expect(back.Scenarios[0].Verdict.Kind).To(Equal(harness.Reproduction))
}

// asJSON is what encoding/json keeps of a string: invalid bytes are lost.
func asJSON(g Gomega, s string) string {
	b, err := json.Marshal(s)
	g.Expect(err).NotTo(HaveOccurred())
	var back string
	g.Expect(json.Unmarshal(b, &back)).To(Succeed())
	return back
}

// checkHostileXML reads the document as a strict parser would, and counts its
// elements: a text that grew one would be a forgery.
func checkHostileXML(g Gomega, r harness.Report) {
	counts := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(render(g, formats[5], r)))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		if e, ok := tok.(xml.StartElement); ok {
			counts[e.Name.Local]++
		}
		g.Expect(tok).NotTo(BeAssignableToTypeOf(xml.Directive{}))
		g.Expect(tok).NotTo(BeAssignableToTypeOf(xml.Comment{}))
	}
	g.Expect(counts).To(HaveKeyWithValue("testsuite", 1))
	g.Expect(counts).To(HaveKeyWithValue("testcase", 2))
	g.Expect(counts).To(HaveKeyWithValue("system-out", 2))
	g.Expect(counts).NotTo(HaveKey("failure"))
}

// checkHostileMarkdown drops what code holds, as a renderer would show it
// literally, and looks for structure in the rest.
func checkHostileMarkdown(g Gomega, r harness.Report) {
	doc := string(render(g, formats[3], r))
	rest := outsideCode(g, doc)
	g.Expect(doc).To(HavePrefix("### "))
	g.Expect("\n"+rest).NotTo(MatchRegexp(`\n {0,3}#+ .*(\n.*)*\n {0,3}#+ `), "one heading")
	rest = entity.ReplaceAllString(rest, "")
	g.Expect(strings.Count(rest, "<details>")).To(Equal(2))
	g.Expect(strings.Count(rest, "</details>")).To(Equal(2))
	for _, bad := range []string{"<script", "<img", "<h1", "](", "@maintainer", "#1", "**"} {
		g.Expect(rest).NotTo(ContainSubstring(bad))
	}
	for _, l := range strings.Split(rest, "\n") {
		if strings.HasPrefix(l, "|") {
			g.Expect(strings.Count(l, "|")).To(Equal(7), "six cells: %s", l)
		}
	}
}

var entity = regexp.MustCompile(`&#[0-9]+;`)

// outsideCode removes fenced blocks and code spans by the rules of CommonMark.
func outsideCode(g Gomega, doc string) string {
	var out strings.Builder
	open := ""
	for _, l := range strings.SplitAfter(doc, "\n") {
		bare := strings.TrimSpace(l)
		switch {
		case open != "":
			if len(bare) >= len(open) && strings.Trim(bare, "`") == "" {
				open = ""
			}
		case strings.HasPrefix(bare, "```") && !strings.Contains(strings.TrimLeft(bare, "`"), "`"):
			open = bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		default:
			out.WriteString(withoutSpans(l))
		}
	}
	g.Expect(open).To(BeEmpty(), "every block is closed")
	return out.String()
}

func withoutSpans(l string) string {
	var out strings.Builder
	for l != "" {
		i := strings.IndexByte(l, '`')
		if i < 0 {
			break
		}
		out.WriteString(l[:i])
		l = l[i:]
		run := len(l) - len(strings.TrimLeft(l, "`"))
		end := closing(l[run:], run)
		if end < 0 {
			out.WriteString(l[:run])
			l = l[run:]
			continue
		}
		l = l[run+end+run:]
	}
	return out.String() + l
}

// closing finds a run of exactly n backticks.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}
