package oracle

import (
	"math"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// exact returns the words of a right result.
func exact(want []int32) []uint32 {
	words := make([]uint32, len(want))
	for i, w := range want {
		words[i] = math.Float32bits(float32(w))
	}
	return words
}

func drawResult(rt *rapid.T) (want []int32, cols int) {
	rowsN, cols := rapid.IntRange(1, 12).Draw(rt, "rows"), rapid.IntRange(1, 12).Draw(rt, "cols")
	value := rapid.Int32Range(-MaxExact, MaxExact)
	return rapid.SliceOfN(value, rowsN*cols, rowsN*cols).Draw(rt, "want"), cols
}

// drawBad returns a word that is bad in the given way.
func drawBad(rt *rapid.T, kind Kind, want int32, poison uint32) uint32 {
	switch kind {
	case Unwritten:
		return poison
	case NaN:
		payload := rapid.Uint32Range(1, 1<<23-1).Filter(func(p uint32) bool {
			return infinity|p != poison && infinity|signBit|p != poison
		}).Draw(rt, "payload")
		return infinity | payload | rapid.SampledFrom([]uint32{0, signBit}).Draw(rt, "sign")
	default:
		return rapid.Uint32().Filter(func(w uint32) bool {
			return !isNaN(w) && math.Float32frombits(w) != float32(want)
		}).Draw(rt, "word")
	}
}

func TestRightResultsPass(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		want, cols := drawResult(rt)
		v := Compare(exact(want), want, cols, Poison(rapid.Uint64().Draw(rt, "buffer")))
		g.Expect(v).To(Equal(Verdict{OK: true, Elements: len(want)}))
	})
}

func TestOneBadElementIsFound(t *testing.T) {
	for _, kind := range []Kind{Unwritten, NaN, Wrong} {
		t.Run(string(kind), rapid.MakeCheck(func(rt *rapid.T) {
			g := NewWithT(rt)
			want, cols := drawResult(rt)
			got, poison := exact(want), Poison(rapid.Uint64().Draw(rt, "buffer"))
			i := rapid.IntRange(0, len(want)-1).Draw(rt, "index")
			got[i] = drawBad(rt, kind, want[i], poison)
			v := Compare(got, want, cols, poison)
			g.Expect(v.OK).To(BeFalse())
			g.Expect(v.Kind).To(Equal(kind))
			g.Expect([]int{v.Index, v.Row*cols + v.Col, v.Bad}).To(Equal([]int{i, i, 1}))
			g.Expect(v.Col).To(BeNumerically("<", cols))
		}))
	}
}

// One flipped bit of one word, the smallest damage there is.
func TestOneFlippedBitIsFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		want, cols := drawResult(rt)
		i := rapid.IntRange(0, len(want)-1).Draw(rt, "index")
		bit := rapid.IntRange(0, 31).Draw(rt, "bit")
		got := exact(want)
		got[i] ^= 1 << bit
		v := Compare(got, want, cols, Poison(0))
		if want[i] == 0 && bit == 31 {
			g.Expect(v.OK).To(BeTrue(), "-0 equals 0")
			return
		}
		g.Expect(v.OK).To(BeFalse())
		g.Expect(v.Index).To(Equal(i))
	})
}

func TestKindsHaveAnOrderAndCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		want, cols := drawResult(rt)
		got, poison := exact(want), Poison(1)
		counts, first := map[Kind]int{}, map[Kind]int{}
		for i := range want {
			kind := rapid.SampledFrom([]Kind{"", "", Unwritten, NaN, Wrong}).Draw(rt, "kind")
			if kind == "" {
				continue
			}
			got[i] = drawBad(rt, kind, want[i], poison)
			if counts[kind]++; counts[kind] == 1 {
				first[kind] = i
			}
		}
		v := Compare(got, want, cols, poison)
		g.Expect([]int{v.Unwritten, v.NaN, v.Wrong}).To(Equal([]int{counts[Unwritten], counts[NaN], counts[Wrong]}))
		g.Expect(v.Bad).To(Equal(counts[Unwritten] + counts[NaN] + counts[Wrong]))
		for _, kind := range []Kind{Unwritten, NaN, Wrong} {
			if counts[kind] > 0 {
				g.Expect(v.Kind).To(Equal(kind))
				g.Expect(v.Index).To(Equal(first[kind]))
				return
			}
		}
		g.Expect(v.OK).To(BeTrue())
	})
}

func TestAnotherBuffersPoisonIsNaN(t *testing.T) {
	g := NewWithT(t)
	v := Compare([]uint32{Poison(4)}, []int32{0}, 1, Poison(5))
	g.Expect(v.Kind).To(Equal(NaN))
}

func TestVerdictText(t *testing.T) {
	g := NewWithT(t)
	want := []int32{1, 2, 3, 4, 5, 6}
	got := exact(want)
	g.Expect(Compare(got, want, 3, Poison(0)).String()).To(Equal("all 6 elements exact"))
	got[4] = math.Float32bits(5.5)
	g.Expect(Compare(got, want, 3, Poison(0)).String()).To(Equal(
		"wrong at index 4 (row 1, column 1): got 5.5 (0x40b00000), want 5; 1 of 6 elements bad: 0 unwritten, 0 NaN, 1 wrong"))
	got[2] = InputPoison
	g.Expect(Compare(got, want, 3, Poison(0)).String()).To(HavePrefix(
		"nan at index 2 (row 0, column 2): got NaN 0x7fe17e57 (of an unwritten input), want 3; 2 of 6"))
	got[5] = Poison(0)
	g.Expect(Compare(got, want, 3, Poison(0)).String()).To(HavePrefix(
		"unwritten at index 5 (row 1, column 2): got poison 0xff800001, want 6; 3 of 6 elements bad: 1 unwritten, 1 NaN, 1 wrong"))
}

func TestCompareRefusesWrongLengths(t *testing.T) {
	g := NewWithT(t)
	g.Expect(func() { Compare(make([]uint32, 2), make([]int32, 3), 1, 0) }).To(Panic())
	g.Expect(func() { Compare(make([]uint32, 3), make([]int32, 3), 2, 0) }).To(Panic())
	g.Expect(func() { Compare(make([]uint32, 3), make([]int32, 3), 0, 0) }).To(Panic())
	g.Expect(Compare(nil, nil, 0, 0).OK).To(BeTrue())
}

func words(values []float32) []uint32 {
	w := make([]uint32, len(values))
	for i, v := range values {
		w[i] = math.Float32bits(v)
	}
	return w
}
