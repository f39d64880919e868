package sim

import (
	"fmt"
	"slices"
	"sync/atomic"

	"rocstress/rocm"
)

const (
	// pageBytes is the granularity of the page table, the smallest page of
	// AMD's GPU virtual memory. An access past the end of an allocation but
	// inside its last page is not noticed, as on the device.
	pageBytes = 4096
	wordBytes = 4
	// firstAddress is where the simulated address space begins.
	firstAddress rocm.Ptr = 0x7f00_0000_0000
)

// FreshWord is what each word of newly allocated device memory holds. Read as
// a float it is a NaN, so it spoils every sum it enters; read as an integer it
// is 2141562277, which no product of small integers reaches.
const FreshWord uint32 = 0x7fa5a5a5

// memory is the address space of all devices. Every word is read and written
// atomically, so whatever the callers do there is no Go data race in it.
type memory struct {
	// blocks is the page table: the allocations by address, copied on write.
	blocks atomic.Pointer[[]*block]
}

// block is one allocation, rounded up to whole pages.
type block struct {
	base   rocm.Ptr
	device int
	words  []uint32 // accessed through sync/atomic once published
}

func (b *block) bytes() uint64 { return uint64(len(b.words)) * wordBytes }

// end is the first address behind the block.
func (b *block) end() rocm.Ptr { return b.base + rocm.Ptr(b.bytes()) }

// addressError is an access to an address that no page is mapped at.
type addressError struct {
	addr  rocm.Ptr
	store bool
}

func (e *addressError) Error() string {
	verb := "load from"
	if e.store {
		verb = "store to"
	}
	return fmt.Sprintf("%s unmapped address %#x", verb, uint64(e.addr))
}

func newMemory() *memory {
	m := &memory{}
	m.blocks.Store(&[]*block{})
	return m
}

// alloc maps size bytes for a device and returns their address, or 0 if the
// device would hold more than limit bytes. Addresses are first fit with an
// unmapped page between allocations, so a freed address comes back soon, as
// with a real allocator.
func (m *memory) alloc(device int, size, limit uint64) rocm.Ptr {
	if size > limit {
		return 0
	}
	size = (size + pageBytes - 1) / pageBytes * pageBytes
	var fresh *block
	for {
		old := m.blocks.Load()
		if size > limit-min(limit, used(*old, device)) {
			return 0
		}
		if fresh == nil {
			fresh = newBlock(device, size)
		}
		at, base := firstFit(*old, size)
		fresh.base = base
		grown := slices.Insert(slices.Clone(*old), at, fresh)
		if m.blocks.CompareAndSwap(old, &grown) {
			return base
		}
	}
}

func newBlock(device int, size uint64) *block {
	b := &block{device: device, words: make([]uint32, size/wordBytes)}
	for i := range b.words {
		b.words[i] = FreshWord
	}
	return b
}

func used(blocks []*block, device int) uint64 {
	var sum uint64
	for _, b := range blocks {
		if b.device == device {
			sum += b.bytes()
		}
	}
	return sum
}

// firstFit returns the index and address at which size bytes fit.
func firstFit(blocks []*block, size uint64) (int, rocm.Ptr) {
	at := firstAddress
	for i, b := range blocks {
		if at+rocm.Ptr(size)+pageBytes <= b.base {
			return i, at
		}
		at = b.end() + pageBytes
	}
	return len(blocks), at
}

// unmap removes the block that begins at p, and reports whether there is one.
func (m *memory) unmap(p rocm.Ptr) bool {
	for {
		old := m.blocks.Load()
		i, ok := slices.BinarySearchFunc(*old, p, byBase)
		if !ok {
			return false
		}
		rest := slices.Delete(slices.Clone(*old), i, i+1)
		if m.blocks.CompareAndSwap(old, &rest) {
			return true
		}
	}
}

// unmapDevice removes every block of a device.
func (m *memory) unmapDevice(device int) {
	for {
		old := m.blocks.Load()
		rest := slices.DeleteFunc(slices.Clone(*old), func(b *block) bool { return b.device == device })
		if m.blocks.CompareAndSwap(old, &rest) {
			return
		}
	}
}

func byBase(b *block, p rocm.Ptr) int {
	switch {
	case b.base < p:
		return -1
	case b.base > p:
		return 1
	}
	return 0
}

// starts reports whether a block begins at p.
func (m *memory) starts(p rocm.Ptr) bool {
	_, ok := slices.BinarySearchFunc(*m.blocks.Load(), p, byBase)
	return ok
}

// at returns the mapped words from p on, at most n of them. None are returned
// for an unmapped or misaligned address.
func (m *memory) at(p rocm.Ptr, n uint64) []uint32 {
	blocks := *m.blocks.Load()
	i, ok := slices.BinarySearchFunc(blocks, p, byBase)
	if !ok {
		i-- // the last block that begins before p
	}
	if i < 0 || p >= blocks[i].end() || p%wordBytes != 0 {
		return nil
	}
	words := blocks[i].words[(p-blocks[i].base)/wordBytes:]
	return words[:min(n, uint64(len(words)))]
}

// Load reads len(dst) words at src. Together with Store it makes memory a
// rocm.KernelMemory.
func (m *memory) Load(dst []uint32, src rocm.Ptr) error {
	words := m.at(src, uint64(len(dst)))
	for i := range words {
		dst[i] = atomic.LoadUint32(&words[i])
	}
	return missing(len(words), uint64(len(dst)), src, false)
}

// Store writes src at dst. Words in front of an unmapped address are written,
// as the device would.
func (m *memory) Store(dst rocm.Ptr, src []uint32) error {
	words := m.at(dst, uint64(len(src)))
	for i := range words {
		atomic.StoreUint32(&words[i], src[i])
	}
	return missing(len(words), uint64(len(src)), dst, true)
}

// fill writes n words of v at dst.
func (m *memory) fill(dst rocm.Ptr, v uint32, n uint64) error {
	words := m.at(dst, n)
	for i := range words {
		atomic.StoreUint32(&words[i], v)
	}
	return missing(len(words), n, dst, true)
}

// missing returns the address error of an access that wanted n words from p
// on and got fewer.
func missing(got int, n uint64, p rocm.Ptr, store bool) error {
	if uint64(got) == n {
		return nil
	}
	return &addressError{addr: p + rocm.Ptr(got)*wordBytes, store: store}
}
