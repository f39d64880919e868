package harness

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"rocstress/childproc"
)

const (
	// maxContext bounds the text kept after the start of a marker. The longest
	// line of the corpus has some 300 bytes.
	maxContext = 768
	// maxBefore bounds the text kept before a marker on its line.
	maxBefore = 256
	// maxOpen bounds the markers of one stream whose lines are still coming.
	maxOpen = 64
)

// Hit is a piece of a child's output that a marker of the table accepted.
// Its texts are untrusted.
type Hit struct {
	Marker  string        // its id in the table, such as "D013"
	Outcome Outcome       // the outcome it speaks for
	Stable  string        // the part that is the same in every child with this fault
	Text    string        // the line as printed, bounded
	At      time.Duration // when it was read, since the scan began

	weight      weight
	beforeHello bool
	order       int64 // in its stream
}

// Scan looks for markers in both outputs of one child while they arrive, in
// bounded memory. Observe may be called for both streams at once.
type Scan struct {
	start   time.Time
	streams [2]streamScan
}

// NewScan returns a Scan over the built-in table whose clock starts now.
func NewScan() *Scan { return newScan(builtinDetector()) }

// builtinDetector is built at the first use and shared: it never changes.
var builtinDetector = sync.OnceValue(func() *detector { return newDetector(builtinMarkers()) })

func newScan(d *detector) *Scan {
	s := &Scan{start: time.Now()}
	for i := range s.streams {
		s.streams[i] = streamScan{d: d, done: make([]bool, len(d.markers))}
	}
	return s
}

// Observe takes the next bytes of a stream. It keeps nothing of b.
func (s *Scan) Observe(stream childproc.Stream, b []byte) {
	s.streams[stream].feed(b, time.Since(s.start))
}

// Hits ends the scan and returns what was found, the earliest first: of each
// marker the first occurrence in each stream. Observe must not be called any
// more.
func (s *Scan) Hits() []Hit {
	var hits []Hit
	for i := range s.streams {
		hits = append(hits, s.streams[i].finish()...)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.order, b.order))
	})
	return hits
}

// streamScan scans one stream.
type streamScan struct {
	d      *detector
	state  uint16
	pos    int64
	before []byte // the line so far, its last maxBefore bytes
	open   []openHit
	done   []bool // by marker: found, need not be looked for again
	hits   []Hit
}

// openHit is a marker whose line and the one after it are not complete yet:
// the cause often stands there.
type openHit struct {
	marker uint8
	at     time.Duration
	order  int64
	before string
	text   []byte // from the start of the literal
	lines  int
}

func (s *streamScan) feed(b []byte, at time.Duration) {
	still := s.open[:0]
	for _, o := range s.open {
		if !s.extend(&o, b) {
			still = append(still, o)
		}
	}
	s.open = still
	d := s.d
	for i, c := range b {
		s.state = d.next[int(s.state)*d.columns+int(d.class[c])]
		for _, id := range d.ends[s.state] {
			s.match(id, b, i+1, at)
		}
	}
	s.pos += int64(len(b))
	s.remember(b)
}

// match notes that the literal of marker id ends before b[end].
func (s *streamScan) match(id uint8, b []byte, end int, at time.Duration) {
	if s.done[id] || len(s.open) == maxOpen {
		return
	}
	literal := s.d.markers[id].literal
	o := openHit{marker: id, at: at, order: s.pos + int64(end), text: []byte(literal)}
	o.before = s.lineBefore(b[:end], len(literal))
	if !s.extend(&o, b[end:]) {
		s.open = append(s.open, o)
	}
}

// lineBefore returns what stands on the line before a literal that ends at
// the end of b, and may have begun in an earlier chunk.
func (s *streamScan) lineBefore(b []byte, literal int) string {
	i := bytes.LastIndexByte(b, '\n')
	line := b[i+1:]
	if i < 0 {
		line = slices.Concat(s.before, b)
	}
	line = line[:max(0, len(line)-literal)]
	return string(line[max(0, len(line)-maxBefore):])
}

func (s *streamScan) remember(b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		s.before, b = s.before[:0], b[i+1:]
	}
	const keep = maxBefore + 64 // room for the longest literal
	b = b[max(0, len(b)-keep):]
	s.before = append(s.before, b...)
	if over := len(s.before) - keep; over > 0 {
		s.before = append(s.before[:0], s.before[over:]...)
	}
}

// extend adds text to o and reports whether o is complete and dealt with.
func (s *streamScan) extend(o *openHit, b []byte) bool {
	for o.lines < 2 && len(o.text) < maxContext {
		if len(b) == 0 {
			return false
		}
		room := b[:min(len(b), maxContext-len(o.text))]
		if i := bytes.IndexByte(room, '\n'); i >= 0 {
			room = room[:i+1]
			o.lines++
		}
		o.text = append(o.text, room...)
		b = b[len(room):]
	}
	s.resolve(*o)
	return true
}

func (s *streamScan) resolve(o openHit) {
	m := s.d.markers[o.marker]
	if s.done[o.marker] {
		return
	}
	stable, ok := m.read(o.before, string(o.text))
	if !ok {
		return
	}
	s.done[o.marker] = true
	line, _, _ := strings.Cut(string(o.text), "\n")
	s.hits = append(s.hits, Hit{
		Marker: m.id, Outcome: m.outcome, Stable: stable, Text: bounded(o.before + line),
		At: o.at, weight: m.weight, beforeHello: m.beforeHello, order: o.order,
	})
}

func (s *streamScan) finish() []Hit {
	for _, o := range s.open {
		s.resolve(o)
	}
	s.open = nil
	return s.hits
}
