package sim

import (
	"math"
	"strings"
	"sync/atomic"

	"rocstress/rocm"
)

// bf16Memory is memory of bf16, two elements a word, the one of the lower
// address in the low half. An element may begin in either half.
type bf16Memory struct{ *memory }

const halfBytes = 2

func (bf16Memory) size() rocm.Ptr { return halfBytes }

// halves returns the words that hold the mapped elements from p on, at most n
// of them, the half in which the first lies, and how many there are.
func (m bf16Memory) halves(p rocm.Ptr, n uint64) (words []uint32, first, count int) {
	if p%halfBytes != 0 {
		return nil, 0, 0
	}
	half := uint64(p % wordBytes / halfBytes)
	words = m.at(p-p%wordBytes, (half+n+1)/2)
	if len(words) == 0 {
		return nil, 0, 0
	}
	return words, int(half), int(min(n, 2*uint64(len(words))-half))
}

func (m bf16Memory) load(dst []float32, src rocm.Ptr) error {
	words, first, count := m.halves(src, uint64(len(dst)))
	for i := range count {
		word := atomic.LoadUint32(&words[(first+i)/2])
		dst[i] = math.Float32frombits(word >> shiftOf(first+i) << 16)
	}
	return missingHalves(count, uint64(len(dst)), src, false)
}

// store writes whole words where it owns both halves. The half of a word that
// it shares stays as it is, whoever writes there meanwhile: a device writes
// single bytes.
func (m bf16Memory) store(dst rocm.Ptr, src []float32) error {
	words, first, count := m.halves(dst, uint64(len(src)))
	for i := 0; i < count; {
		at := first + i
		if at%2 == 0 && i+1 < count {
			atomic.StoreUint32(&words[at/2], roundBF16(src[i])|roundBF16(src[i+1])<<16)
			i += 2
			continue
		}
		storeHalf(&words[at/2], shiftOf(at), roundBF16(src[i]))
		i++
	}
	return missingHalves(count, uint64(len(src)), dst, true)
}

func (m bf16Memory) mapped(p rocm.Ptr, n uint64, store bool) error {
	_, _, count := m.halves(p, n)
	return missingHalves(count, n, p, store)
}

// shiftOf returns where in its word the half of an index lies.
func shiftOf(half int) int { return half % 2 * 16 }

func storeHalf(word *uint32, shift int, half uint32) {
	for {
		old := atomic.LoadUint32(word)
		if atomic.CompareAndSwapUint32(word, old, old&^(0xffff<<shift)|half<<shift) {
			return
		}
	}
}

func missingHalves(got int, n uint64, p rocm.Ptr, store bool) error {
	if uint64(got) == n {
		return nil
	}
	return &addressError{addr: p + rocm.Ptr(got)*halfBytes, store: store}
}

// roundBF16 returns the bf16 nearest to f in the low half, ties to even. A NaN
// becomes a quiet one.
func roundBF16(f float32) uint32 {
	b := math.Float32bits(f)
	if f != f {
		return b>>16 | 0x40
	}
	return (b + 0x7fff + b>>16&1) >> 16
}

// onesComplement reports whether the matrix unit of an architecture adds
// opposite signs by one's complement, as gfx11's was measured to: bf16 GEMMs
// of small integers are not exact there.
func onesComplement(arch string) bool { return strings.HasPrefix(arch, "gfx11") }

// multiplyAddOnesComplement is multiplyAdd on such a unit, a term at a time.
// The products of bf16 are exact in float32.
func multiplyAddOnesComplement(c, a, b []float32, m, n, k int) {
	for j := range n {
		cj := c[j*m : (j+1)*m]
		for p := range k {
			ap, bp := a[p*m:][:len(cj)], b[j*k+p]
			for i := range cj {
				cj[i] = addOnesComplement(cj[i], ap[i]*bp)
			}
		}
	}
}

// addOnesComplement adds with 24 bits of fraction below the larger magnitude's
// power of two. Where the signs differ the negative addend is inverted and the
// one that would make it the two's complement is left out, so the sum falls
// short by the last of those bits: 1 + -1 is -2^-24. A zero has no sign.
//
// Signs are as good as random and a branch on them costs more than the rest,
// so what falls short is masked.
func addOnesComplement(x, y float32) float32 {
	const exponent, lastBit = 0xff << 23, 1.0 / (1 << 24)
	xb, yb := math.Float32bits(x), math.Float32bits(y)
	xm, ym := xb<<1, yb<<1 // magnitudes
	power := max(xm, ym) >> 1 & exponent
	if power == exponent { // an infinity or a NaN
		return x + y
	}
	opposite := (xb ^ yb) & (xm | -xm) & (ym | -ym) >> 31
	short := math.Float32frombits(power & -opposite)
	return float32(float64(x) + float64(y) - lastBit*float64(short))
}
