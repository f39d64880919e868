package sim

import (
	"maps"
	"slices"
	"sync/atomic"
)

// table maps native handles to objects. It is a copy-on-write map: readers
// never wait, so that looking a handle up is no scheduling point. Handles are
// numbered like the addresses a C library would return: far from zero, and
// never used twice.
type table[T any] struct {
	base uintptr
	next atomic.Uintptr
	m    atomic.Pointer[map[uintptr]*T]
}

// handleStride keeps handles as far apart as heap objects would be.
const handleStride = 0x100

func newTable[T any](base uintptr) *table[T] {
	t := &table[T]{base: base}
	t.m.Store(&map[uintptr]*T{})
	return t
}

// reserve returns a handle that is not in the table yet.
func (t *table[T]) reserve() uintptr {
	return t.base + t.next.Add(1)*handleStride
}

func (t *table[T]) put(h uintptr, v *T) {
	for {
		old := t.m.Load()
		grown := maps.Clone(*old)
		grown[h] = v
		if t.m.CompareAndSwap(old, &grown) {
			return
		}
	}
}

// get returns the object of h, or nil.
func (t *table[T]) get(h uintptr) *T { return (*t.m.Load())[h] }

// take removes h and returns its object, or nil. Of several callers one gets
// it.
func (t *table[T]) take(h uintptr) *T {
	for {
		old := t.m.Load()
		v, ok := (*old)[h]
		if !ok {
			return nil
		}
		rest := maps.Clone(*old)
		delete(rest, h)
		if t.m.CompareAndSwap(old, &rest) {
			return v
		}
	}
}

// drop removes the objects that match.
func (t *table[T]) drop(match func(v *T) bool) {
	for {
		old := t.m.Load()
		rest := maps.Clone(*old)
		maps.DeleteFunc(rest, func(_ uintptr, v *T) bool { return match(v) })
		if t.m.CompareAndSwap(old, &rest) {
			return
		}
	}
}

// all returns the objects in the table in the order of their handles, so that
// a controlled run that walks them is the same each time.
func (t *table[T]) all() []*T {
	m := *t.m.Load()
	objects := make([]*T, 0, len(m))
	for _, h := range slices.Sorted(maps.Keys(m)) {
		objects = append(objects, m[h])
	}
	return objects
}
