package oracle

import (
	"fmt"
	"math"
	"strconv"
)

// Matrices of bf16 are packed two elements a word, the element of even index
// in the low half, as they lie in little-endian memory. A matrix of an odd
// number of elements leaves the high half of its last word unused.

// BF16Words returns how many words hold n elements.
func BF16Words(n int) int { return (n + 1) / 2 }

// BF16 rounds f to bf16, to nearest, ties to even. A NaN stays one.
func BF16(f float32) uint16 {
	b := math.Float32bits(f)
	if isNaN(b) {
		return uint16(b>>16 | quietBit>>16)
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// FromBF16 returns the value of a bf16, exactly.
func FromBF16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// PackBF16 writes the elements of src to dst, which has BF16Words(len(src))
// words. Fill's integers are exact in bf16.
func PackBF16(dst []uint32, src []float32) {
	for i, f := range src {
		shift := uint(i%2) * 16
		dst[i/2] = dst[i/2]&^(0xffff<<shift) | uint32(BF16(f))<<shift
	}
}

// PoisonBF16 returns the word that fills a bf16 output buffer: the same
// signaling NaN in both halves. It has 63 different words for consecutive
// buffers.
func PoisonBF16(buffer uint64) uint32 {
	h := uint32(0xff80 | buffer%63 + 1)
	return h<<16 | h
}

// InputPoisonBF16 backs bf16 inputs before they are written: a quiet NaN in
// both halves.
const InputPoisonBF16 uint32 = 0x7fe57fe5

// CompareBF16 judges the packed words of a row-major bf16 result with cols
// columns. bf16 products are not exact on every device: on gfx11 the matrix
// unit adds opposite signs by one's complement, so that 1 + -1 is -2^-24. An
// element is right if it is the bf16 of some value within 2 K u sum|a b| of
// want, u = 2^-24; magnitude holds sum|a b| for each element.
func CompareBF16(got []uint32, want, magnitude []int32, k, cols int, poison uint32) Verdict {
	if len(got) != BF16Words(len(want)) || len(magnitude) != len(want) || len(want) > 0 && (cols <= 0 || len(want)%cols != 0) {
		panic(fmt.Sprintf("oracle: CompareBF16 of %d words with %d values, %d magnitudes in %d columns",
			len(got), len(want), len(magnitude), cols))
	}
	var f findings
	for i, w := range want {
		h := halfOf(got, i)
		low, high := bf16Bounds(w, magnitude[i], k)
		switch v := FromBF16(h); {
		case low <= v && v <= high:
		case h == uint16(poison):
			f.add(Unwritten, i)
		case v != v:
			f.add(NaN, i)
		default:
			f.add(Wrong, i)
		}
	}
	v := f.verdict(len(want), cols)
	if !v.OK {
		low, high := bf16Bounds(want[v.Index], magnitude[v.Index], k)
		v.Got = describeBF16(halfOf(got, v.Index), uint16(poison))
		v.Want = fmt.Sprintf("%s to %s (%d)", short(low), short(high), want[v.Index])
	}
	return v
}

func halfOf(words []uint32, i int) uint16 { return uint16(words[i/2] >> (uint(i%2) * 16)) }

// bf16Bounds returns the least and the greatest bf16 that are right.
func bf16Bounds(want, magnitude int32, k int) (low, high float32) {
	const u = 1.0 / (1 << 24)
	slack := 2 * float64(k) * u * float64(magnitude)
	return FromBF16(BF16(float32(float64(want) - slack))), FromBF16(BF16(float32(float64(want) + slack)))
}

func describeBF16(h, poison uint16) string {
	switch {
	case h == poison:
		return fmt.Sprintf("poison 0x%04x", h)
	case FromBF16(h) != FromBF16(h):
		return fmt.Sprintf("NaN 0x%04x", h)
	}
	return fmt.Sprintf("%s (0x%04x)", short(FromBF16(h)), h)
}

func short(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }
