package childproc

import (
	"bytes"
	"fmt"
)

// Output is the two ends of a stream of bytes.
type Output struct {
	Head    []byte
	Tail    []byte // what follows Head, or the end of the stream if Dropped > 0
	Dropped int64  // bytes between Head and Tail that were not kept
}

// Total returns how many bytes the stream had.
func (o Output) Total() int64 { return int64(len(o.Head)) + o.Dropped + int64(len(o.Tail)) }

// Bytes returns the stream with a line in place of dropped bytes. The caller
// owns the result.
func (o Output) Bytes() []byte {
	if o.Dropped == 0 {
		return bytes.Join([][]byte{o.Head, o.Tail}, nil)
	}
	marker := fmt.Appendf(nil, "\n[... %d bytes dropped ...]\n", o.Dropped)
	return bytes.Join([][]byte{o.Head, marker, o.Tail}, nil)
}

// String returns Bytes as a string.
func (o Output) String() string { return string(o.Bytes()) }

// keeper keeps the first and the last max bytes written to it. Not safe for
// concurrent use.
type keeper struct {
	max   int
	total int64
	head  []byte // grows up to max
	ring  []byte // grows up to max, then wraps
	next  int    // in ring: the oldest byte, once it is full
}

func (k *keeper) write(b []byte) {
	k.total += int64(len(b))
	n := min(k.max-len(k.head), len(b))
	k.head = append(k.head, b[:n]...)
	b = b[n:]
	if len(b) >= k.max {
		k.ring = append(k.ring[:0], b[len(b)-k.max:]...)
		k.next = 0
		return
	}
	n = min(k.max-len(k.ring), len(b))
	k.ring = append(k.ring, b[:n]...)
	for b = b[n:]; len(b) > 0; b = b[n:] {
		n = copy(k.ring[k.next:], b)
		k.next = (k.next + n) % len(k.ring)
	}
}

// output returns what was kept. The keeper must not be used afterwards.
func (k *keeper) output() Output {
	tail := k.ring
	if k.next != 0 {
		tail = bytes.Join([][]byte{k.ring[k.next:], k.ring[:k.next]}, nil)
	}
	return Output{
		Head:    k.head,
		Tail:    tail,
		Dropped: k.total - int64(len(k.head)) - int64(len(tail)),
	}
}
