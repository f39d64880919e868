package oracle

import (
	"testing"
	"time"
)

// floatGEMM is the straightforward float32 product that a simulated device
// runs.
func floatGEMM(c, a, b []float32, m, k, n int) {
	clear(c)
	for i := range m {
		row := c[i*n : (i+1)*n]
		for p := range k {
			x := a[i*k+p]
			for j, y := range b[p*n : (p+1)*n] {
				row[j] += x * y
			}
		}
	}
}

// BenchmarkProblem is the whole CPU of the oracle for one GEMM: both inputs,
// the reference, the comparison. The metric x-gemm is its cost against the
// float32 product of the same shape, measured in turns.
func BenchmarkProblem(b *testing.B) {
	x, y := problem(Mixed, ProblemID{})
	c := make([]float32, sizeM*sizeN)
	var gemm, oracle time.Duration
	round := 0
	for b.Loop() {
		start := time.Now()
		id := ProblemID{Seed: 1, Thread: round % threads, Round: round, Rounds: rounds}
		Fill(Mixed, x, id, MatrixA)
		Fill(Mixed, y, id, MatrixB)
		want := Reference(x, y, sizeM, sizeK, sizeN)
		middle := time.Now()
		floatGEMM(c, x, y, sizeM, sizeK, sizeN)
		end := time.Now()
		v := compareFloats(c, want)
		oracle += middle.Sub(start) + time.Since(end)
		gemm += end.Sub(middle)
		if !v.OK {
			b.Fatal(v)
		}
		round++
	}
	b.ReportMetric(float64(oracle)/float64(gemm), "x-gemm")
}

func compareFloats(c []float32, want []int32) Verdict {
	return Compare(words(c), want, sizeN, Poison(0))
}

func BenchmarkReference(b *testing.B) {
	x, y := problem(Mixed, ProblemID{})
	for b.Loop() {
		Reference(x, y, sizeM, sizeK, sizeN)
	}
}

func BenchmarkFill(b *testing.B) {
	x := make([]float32, sizeM*sizeK)
	for b.Loop() {
		Fill(Mixed, x, ProblemID{Seed: 1}, MatrixA)
	}
}

func BenchmarkCompare(b *testing.B) {
	x, y := problem(Mixed, ProblemID{})
	want := Reference(x, y, sizeM, sizeK, sizeN)
	got := exact(want)
	for b.Loop() {
		Compare(got, want, sizeN, Poison(0))
	}
}
