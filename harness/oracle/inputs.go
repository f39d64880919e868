// Package oracle knows the right answer: it makes integer inputs whose GEMM is
// exact in float32, computes the i32 reference, chooses the words that poison
// buffers, and compares a result word for word.
//
// Everything here is pure and safe for concurrent use on separate slices. It
// imports nothing of rocstress.
package oracle

import (
	"fmt"
	"math/bits"
)

// Inputs names a way to make input matrices.
type Inputs string

const (
	// Mixed makes every problem of a child, and all rows and columns of a
	// matrix, different, so that a swapped result cannot look right.
	Mixed Inputs = "mixed"
	// Seed is the formula of issue #2198's test. It has 9 distinct problems
	// only: use it to compare with results recorded there.
	Seed Inputs = "seed"
)

// ParseInputs reads the name of a kind of inputs; the empty name means Mixed.
func ParseInputs(name string) (Inputs, error) {
	switch kind := Inputs(name); kind {
	case Mixed, Seed:
		return kind, nil
	case "":
		return Mixed, nil
	default:
		return "", fmt.Errorf("unknown inputs %q; accepted: %s, %s", name, Mixed, Seed)
	}
}

// Matrix tells the two operands of a GEMM apart.
type Matrix int

// The operands of C = A B.
const (
	MatrixA Matrix = iota
	MatrixB
)

// ProblemID names one GEMM of one child.
type ProblemID struct {
	Seed   uint64 // the child's own; Seed inputs ignore it
	Thread int    // from 0
	Round  int    // from 0
	Rounds int    // a thread; Mixed inputs ignore it
}

// MaxInput bounds the absolute value of every element that Fill writes.
const MaxInput = 4

// levels is the number of values of an element, -MaxInput..MaxInput.
const levels = 2*MaxInput + 1

// MaxExact is the largest absolute value up to which every integer has its own
// float32: 24 bits of significand.
const MaxExact = 1 << 24

// MaxK is the largest K for which a GEMM of Fill's inputs is exact in float32,
// whatever the order of its sums.
const MaxK = MaxExact / (MaxInput * MaxInput)

// seedB is what issue #2198's test adds to the seed of A to get that of B.
const seedB = 1000003

// Fill writes the elements of one operand, row-major integers in
// -MaxInput..MaxInput, to dst. It panics on a kind that ParseInputs refuses.
func Fill(kind Inputs, dst []float32, id ProblemID, matrix Matrix) {
	switch kind {
	case Mixed:
		fillMixed(dst, id, matrix)
	case Seed:
		fillSeed(dst, id, matrix)
	default:
		panic(fmt.Sprintf("oracle: Fill with inputs %q", kind))
	}
}

// golden is 2^64 divided by the golden ratio, the increment of splitmix64: its
// multiples are spread evenly, so neighbouring indices start far apart.
const golden = 0x9e3779b97f4a7c15

// mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014, constants of
// Stafford's variant 13): a bijection in which every input bit moves about half
// of the output bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func fillMixed(dst []float32, id ProblemID, matrix Matrix) {
	key := id.Seed
	for _, part := range [...]uint64{uint64(id.Thread), uint64(id.Round), uint64(matrix)} {
		key = mix(key + (part+1)*golden)
	}
	for i := range dst {
		key += golden
		// The high half of a 128-bit product maps 2^64 values onto the levels
		// with a bias below 2^-60.
		level, _ := bits.Mul64(mix(key), levels)
		dst[i] = float32(int(level) - MaxInput)
	}
}

// fillSeed writes ((31 i + 17 s + 7) mod 9) - 4, where s = thread * rounds +
// round, and 1000003 more for B.
func fillSeed(dst []float32, id ProblemID, matrix Matrix) {
	s := uint64(id.Thread)*uint64(id.Rounds) + uint64(id.Round)
	if matrix == MatrixB {
		s += seedB
	}
	level := (17*s + 7) % levels
	for i := range dst {
		dst[i] = float32(int(level) - MaxInput)
		level = (level + 31) % levels
	}
}
