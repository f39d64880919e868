package oracle

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// The seed scenario: 8 threads, 33 rounds, [64,128] x [128,64].
const (
	threads = 8
	rounds  = 33
	sizeM   = 64
	sizeK   = 128
	sizeN   = 64
)

func problem(kind Inputs, id ProblemID) (a, b []float32) {
	a, b = make([]float32, sizeM*sizeK), make([]float32, sizeK*sizeN)
	Fill(kind, a, id, MatrixA)
	Fill(kind, b, id, MatrixB)
	return a, b
}

func drawID(t *rapid.T) ProblemID {
	return ProblemID{
		Seed:   rapid.Uint64().Draw(t, "seed"),
		Thread: rapid.IntRange(0, 63).Draw(t, "thread"),
		Round:  rapid.IntRange(0, 99).Draw(t, "round"),
		Rounds: rapid.IntRange(1, 100).Draw(t, "rounds"),
	}
}

// text is a key for the values of s, all of them integers.
func text[T float32 | int32](s []T) string {
	var key []byte
	for _, v := range s {
		key = binary.LittleEndian.AppendUint32(key, uint32(int32(v)))
	}
	return string(key)
}

// distinct counts the different values of keys.
func distinct(keys []string) int {
	seen := map[string]bool{}
	for _, k := range keys {
		seen[k] = true
	}
	return len(seen)
}

func TestInputsAreSmallIntegers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		kind := rapid.SampledFrom([]Inputs{Mixed, Seed}).Draw(rt, "kind")
		a, b := problem(kind, drawID(rt))
		bad := slices.IndexFunc(append(a, b...), func(x float32) bool {
			return x < -MaxInput || x > MaxInput || x != float32(int(x))
		})
		g.Expect(bad).To(Equal(-1))
	})
}

func TestInputsDependOnTheirIDAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		kind := rapid.SampledFrom([]Inputs{Mixed, Seed}).Draw(rt, "kind")
		id := drawID(rt)
		a, b := problem(kind, id)
		again, bagain := problem(kind, id)
		g.Expect(slices.Equal(a, again) && slices.Equal(b, bagain)).To(BeTrue())
		short := make([]float32, rapid.IntRange(0, len(a)).Draw(rt, "length"))
		Fill(kind, short, id, MatrixA)
		g.Expect(slices.Equal(short, a[:len(short)])).To(BeTrue(), "a prefix does not depend on the length")
	})
}

func TestMixedProblemsOfAChildAllDiffer(t *testing.T) {
	g := NewWithT(t)
	for _, seed := range []uint64{0, 1, 2198, math.MaxUint64} {
		var operands, references []string
		for thread := range threads {
			for round := range rounds {
				a, b := problem(Mixed, ProblemID{Seed: seed, Thread: thread, Round: round, Rounds: rounds})
				operands = append(operands, text(a), text(b))
				references = append(references, text(Reference(a, b, sizeM, sizeK, sizeN)))
			}
		}
		g.Expect(distinct(operands)).To(Equal(2 * threads * rounds))
		g.Expect(distinct(references)).To(Equal(threads * rounds))
	}
}

func TestMixedRowsAndColumnsDiffer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		a, b := problem(Mixed, drawID(rt))
		c := Reference(a, b, sizeM, sizeK, sizeN)
		g.Expect(distinct(rows(a, sizeK))).To(Equal(sizeM))
		g.Expect(distinct(columns(a, sizeK))).To(Equal(sizeK))
		g.Expect(distinct(rows(b, sizeN))).To(Equal(sizeK))
		g.Expect(distinct(columns(b, sizeN))).To(Equal(sizeN))
		g.Expect(distinct(rows(c, sizeN))).To(Equal(sizeM))
		g.Expect(distinct(columns(c, sizeN))).To(Equal(sizeN))
	})
}

func rows[T float32 | int32](m []T, cols int) (keys []string) {
	for row := range slices.Chunk(m, cols) {
		keys = append(keys, text(row))
	}
	return keys
}

func columns[T float32 | int32](m []T, cols int) (keys []string) {
	for j := range cols {
		var col []T
		for i := j; i < len(m); i += cols {
			col = append(col, m[i])
		}
		keys = append(keys, text(col))
	}
	return keys
}

// Known bad beside known good: what Mixed is there to avoid.
func TestSeedHasNineProblemsOnly(t *testing.T) {
	g := NewWithT(t)
	var problems []string
	for thread := range threads {
		for round := range rounds {
			a, b := problem(Seed, ProblemID{Thread: thread, Round: round, Rounds: rounds})
			problems = append(problems, text(a)+text(b))
		}
	}
	g.Expect(distinct(problems)).To(Equal(9))
}

func TestSeedFollowsTheFormula(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		id := drawID(rt)
		a, b := problem(Seed, id)
		i := rapid.IntRange(0, len(a)-1).Draw(rt, "index")
		s := id.Thread*id.Rounds + id.Round
		g.Expect(a[i]).To(Equal(float32((31*i+17*s+7)%9 - 4)))
		g.Expect(b[i]).To(Equal(float32((31*i+17*(s+1000003)+7)%9 - 4)))
	})
}

// A sum of 2^20 draws would show a bias of some 0.01 in a mean.
func TestMixedIsUniform(t *testing.T) {
	g := NewWithT(t)
	const n = 1 << 20
	counts := map[float32]int{}
	dst := make([]float32, n)
	Fill(Mixed, dst, ProblemID{Seed: 7}, MatrixA)
	for _, x := range dst {
		counts[x]++
	}
	chi := 0.0
	for level := -MaxInput; level <= MaxInput; level++ {
		d := float64(counts[float32(level)]) - n/9.0
		chi += d * d / (n / 9.0)
	}
	g.Expect(chi).To(BeNumerically("<", 26.12), "chi-squared, 8 degrees of freedom, p = 0.001")
}

func TestParseInputs(t *testing.T) {
	g := NewWithT(t)
	for name, want := range map[string]Inputs{"": Mixed, "mixed": Mixed, "seed": Seed} {
		g.Expect(ParseInputs(name)).To(Equal(want))
	}
	_, err := ParseInputs("Mixed")
	g.Expect(err).To(MatchError(`unknown inputs "Mixed"; accepted: mixed, seed`))
	g.Expect(func() { Fill("", make([]float32, 1), ProblemID{}, MatrixA) }).To(Panic())
}
