package sim

import (
	"math"
	"sync/atomic"

	"rocstress/rocm"
)

// matrixMemory is device memory seen as elements of one type, in the float32
// that a GEMM computes in. An error is the first address that is not mapped;
// elements in front of it are read and written.
type matrixMemory interface {
	// size is the distance from one element to the next, in bytes.
	size() rocm.Ptr
	load(dst []float32, src rocm.Ptr) error
	store(dst rocm.Ptr, src []float32) error
	// mapped returns the error that an access to n elements from p on meets.
	mapped(p rocm.Ptr, n uint64, store bool) error
}

// loadMatrix reads a column-major matrix into dense scratch.
func loadMatrix(mem matrixMemory, dst []float32, src rocm.Ptr, rows, cols, ld int) error {
	if ld == rows {
		return mem.load(dst, src)
	}
	for j := range cols {
		at := src + rocm.Ptr(j)*rocm.Ptr(ld)*mem.size()
		if err := mem.load(dst[j*rows:(j+1)*rows], at); err != nil {
			return err
		}
	}
	return nil
}

// storeMatrix writes dense scratch to a column-major matrix.
func storeMatrix(mem matrixMemory, dst rocm.Ptr, src []float32, rows, cols, ld int) error {
	if ld == rows {
		return mem.store(dst, src)
	}
	for j := range cols {
		at := dst + rocm.Ptr(j)*rocm.Ptr(ld)*mem.size()
		if err := mem.store(at, src[j*rows:(j+1)*rows]); err != nil {
			return err
		}
	}
	return nil
}

// f32Memory is memory of float32, an element a word.
type f32Memory struct{ *memory }

func (f32Memory) size() rocm.Ptr { return wordBytes }

func (m f32Memory) load(dst []float32, src rocm.Ptr) error {
	words := m.at(src, uint64(len(dst)))
	for i := range words {
		dst[i] = math.Float32frombits(atomic.LoadUint32(&words[i]))
	}
	return missing(len(words), uint64(len(dst)), src, false)
}

func (m f32Memory) store(dst rocm.Ptr, src []float32) error {
	words := m.at(dst, uint64(len(src)))
	for i := range words {
		atomic.StoreUint32(&words[i], math.Float32bits(src[i]))
	}
	return missing(len(words), uint64(len(src)), dst, true)
}

func (m f32Memory) mapped(p rocm.Ptr, n uint64, store bool) error {
	return missing(len(m.at(p, n)), n, p, store)
}
