package oracle

import (
	"math"
	"math/big"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestBF16RoundsToNearestEven(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		f := rapid.Float32Range(-1e30, 1e30).Draw(rt, "f")
		got := FromBF16(BF16(f))
		bits := math.Float32bits(f)
		below, above := math.Float32frombits(bits&^0xffff), math.Float32frombits(bits&^0xffff+0x10000)
		distance := func(x float32) *big.Float {
			d := new(big.Float).Sub(big.NewFloat(float64(x)), big.NewFloat(float64(f)))
			return d.Abs(d)
		}
		switch distance(below).Cmp(distance(above)) {
		case -1:
			g.Expect(got).To(Equal(below))
		case 1:
			g.Expect(got).To(Equal(above))
		default:
			g.Expect(math.Float32bits(got)>>16&1).To(BeZero(), "ties go to even")
		}
	})
	g := NewWithT(t)
	g.Expect(FromBF16(BF16(float32(math.NaN())))).NotTo(Equal(FromBF16(BF16(float32(math.NaN())))))
	g.Expect(BF16(float32(math.Inf(-1)))).To(Equal(uint16(0xff80)))
}

// bf16Result returns a problem with its right, packed result.
func bf16Result(seed uint64) (words []uint32, want, magnitude []int32, k, n int) {
	const m = 5
	k, n = 16, 7
	a, b := make([]float32, m*k), make([]float32, k*n)
	id := ProblemID{Seed: seed, Rounds: 1}
	Fill(Mixed, a, id, MatrixA)
	Fill(Mixed, b, id, MatrixB)
	want, magnitude = Reference(a, b, m, k, n), Magnitude(a, b, m, k, n)
	c := make([]float32, m*n)
	for i, w := range want {
		c[i] = float32(w)
	}
	words = make([]uint32, BF16Words(len(c)))
	PackBF16(words, c)
	return words, want, magnitude, k, n
}

func TestCompareBF16FindsOneBadElement(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		words, want, magnitude, k, n := bf16Result(rapid.Uint64().Draw(rt, "seed"))
		poison := PoisonBF16(rapid.Uint64().Draw(rt, "buffer"))
		g.Expect(CompareBF16(words, want, magnitude, k, n, poison)).To(Equal(Verdict{OK: true, Elements: len(want)}))

		i := rapid.IntRange(0, len(want)-1).Draw(rt, "index")
		kind := rapid.SampledFrom([]Kind{Unwritten, NaN, Wrong}).Draw(rt, "kind")
		bad := map[Kind]uint16{
			Unwritten: uint16(poison), NaN: 0x7fc0, Wrong: BF16(float32(want[i]) + float32(magnitude[i]) + 1),
		}[kind]
		shift := uint(i%2) * 16
		words[i/2] = words[i/2]&^(0xffff<<shift) | uint32(bad)<<shift
		v := CompareBF16(words, want, magnitude, k, n, poison)
		g.Expect(v.OK).To(BeFalse())
		g.Expect(v.Kind).To(Equal(kind))
		g.Expect(v.Index).To(Equal(i))
		g.Expect(v.Bad).To(Equal(1))
	})
}

// The bound takes what gfx11 does and nothing near it.
func TestCompareBF16Bound(t *testing.T) {
	g := NewWithT(t)
	const poison = 0xff81ff81
	right := func(value float32) bool {
		return CompareBF16([]uint32{uint32(BF16(value))}, []int32{0}, []int32{2}, 2, 1, poison).OK
	}
	g.Expect(right(0)).To(BeTrue())
	g.Expect(right(-1.0/(1<<24))).To(BeTrue(), "1 + -1 by one's complement")
	g.Expect(right(1.0 / (1 << 20))).To(BeFalse())
	g.Expect(right(-1.0 / (1 << 20))).To(BeFalse())
}

func TestPoisonBF16IsNoResult(t *testing.T) {
	g := NewWithT(t)
	seen := map[uint32]bool{}
	for buffer := range uint64(63) {
		p := PoisonBF16(buffer)
		seen[p] = true
		h := uint16(p)
		g.Expect(uint16(p >> 16)).To(Equal(h))
		g.Expect(FromBF16(h)).NotTo(Equal(FromBF16(h)), "a NaN")
		g.Expect(h&0x40).To(BeZero(), "a signaling one, which no arithmetic delivers")
		g.Expect(p).NotTo(Equal(InputPoisonBF16))
	}
	g.Expect(seen).To(HaveLen(63))
}
