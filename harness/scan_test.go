package harness

import (
	"bytes"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/childproc"
)

func TestMarkersFitTheScanner(t *testing.T) {
	g := NewWithT(t)
	ids := map[string]bool{}
	for _, m := range builtinMarkers() {
		g.Expect(ids).NotTo(HaveKey(m.id), "id twice")
		ids[m.id] = true
		g.Expect(m.literal).NotTo(ContainSubstring("\n"), m.id)
		g.Expect(len(m.literal)).To(And(BeNumerically(">", 4), BeNumerically("<=", 64)), m.id)
	}
	g.Expect(len(ids)).To(BeNumerically("<", 256))
	g.Expect(len(newDetector(builtinMarkers()).ends)).To(BeNumerically("<", 1<<16))
}

// found returns what a scan of text in one piece, or in the pieces that end at
// cuts, says of each marker.
func found(text []byte, cuts []int) map[string]string {
	s := NewScan()
	from := 0
	for _, to := range append(cuts, len(text)) {
		if to > from {
			s.Observe(childproc.Stderr, bytes.Clone(text[from:to]))
			from = to
		}
	}
	m := map[string]string{}
	for _, h := range s.Hits() {
		m[h.Marker] = h.Stable + "|" + h.Text
	}
	return m
}

// Pipes cut lines anywhere: what is found must not depend on it.
func TestScanDoesNotDependOnChunks(t *testing.T) {
	doc, err := os.ReadFile("testdata/signatures.txt")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var lines []string
	for l := range strings.Lines(string(doc)) {
		if f := strings.SplitN(strings.TrimSuffix(l, "\n"), "\t", 3); len(f) == 3 {
			lines = append(lines, strings.ReplaceAll(f[2], "<NL>", "\n"))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		picked := rapid.SliceOfN(rapid.SampledFrom(lines), 1, 12).Draw(rt, "lines")
		glue := rapid.SampledFrom([]string{"\n", "", "\nnoise\n", strings.Repeat("long ", 300)}).Draw(rt, "glue")
		text := []byte(strings.Join(picked, glue))
		step := rapid.IntRange(1, 700).Draw(rt, "chunk")
		var cuts []int
		for at := step; at < len(text); at += step {
			cuts = append(cuts, at)
		}
		whole := found(text, nil)
		g.Expect(found(text, cuts)).To(Equal(whole))
		g.Expect(found(text, rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 5).Draw(rt, "cuts"))).To(HaveLen(len(whole)))
	})
}

// The automaton finds exactly what a search for each literal finds.
func TestDetectorAgreesWithPlainSearch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		literals := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]{1,4}`), 1, 8, rapid.ID[string]).Draw(rt, "literals")
		text := rapid.StringMatching(`[abc\n]{0,60}`).Draw(rt, "text")
		var markers []marker
		for _, l := range literals {
			markers = append(markers, marker{id: l, literal: l})
		}
		s := newScan(newDetector(markers))
		s.Observe(childproc.Stdout, []byte(text))
		var got []string
		for _, h := range s.Hits() {
			got = append(got, h.Marker)
		}
		var want []string
		for _, l := range literals {
			if strings.Contains(text, l) {
				want = append(want, l)
			}
		}
		g.Expect(got).To(ConsistOf(want))
	})
}

func TestScanMemoryIsBounded(t *testing.T) {
	g := NewWithT(t)
	s := &streamScan{d: builtinDetector(), done: make([]bool, len(builtinMarkers()))}
	endless := []byte(strings.Repeat("rocBLAS error: free(): x borting with error", 200)) // markers, never accepted, no newline
	for range 8 {
		s.feed(endless, 0)
		g.Expect(len(s.open)).To(BeNumerically("<=", maxOpen))
		g.Expect(len(s.before)).To(BeNumerically("<=", maxBefore+64))
	}
	g.Expect(cap(s.open)).To(BeNumerically("<=", 2*maxOpen))
}

func TestScanKeepsTheLineBeforeAMarker(t *testing.T) {
	g := NewWithT(t)
	text := []byte("noise\nlibrocblas.so.5: cannot open shared object file: No such file\n")
	for cut := range len(text) {
		g.Expect(found(text, []int{cut})).To(Equal(map[string]string{
			"D001": "librocblas.so.#|librocblas.so.5: cannot open shared object file: No such file",
		}), "cut at %d", cut)
	}
}

func BenchmarkScan(b *testing.B) {
	line := ":3:hip_module.cpp :295 : 0893897958 us: [pid:110 tid:0x7f5fe9669740] hipModuleLaunchKernel: Returned hipSuccess : \n"
	text := []byte(strings.Repeat(line, 32<<10/len(line)))
	s := NewScan()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Observe(childproc.Stderr, text)
	}
}
