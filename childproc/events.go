package childproc

import (
	"bytes"
	"fmt"
	"strings"

	"rocstress/childproc/wire"
)

// maxSample bounds Exit.BadEventSample, which quotes untrusted text.
const maxSample = 300

// eventLines cuts a stream into events. It holds one line at most, and never
// more than wire.MaxEventBytes of it. Not safe for concurrent use.
type eventLines struct {
	on     func(wire.Event) // may be nil
	line   []byte
	skip   bool // inside a line that is too long
	bad    int
	sample string
}

func (l *eventLines) feed(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.extend(b)
			return
		}
		l.extend(b[:i])
		l.end()
		b = b[i+1:]
	}
}

// finish ends a last line without a newline: whole if the child died just
// then, torn otherwise.
func (l *eventLines) finish() {
	if l.skip || len(l.line) > 0 {
		l.end()
	}
}

func (l *eventLines) extend(b []byte) {
	if l.skip {
		return
	}
	if len(l.line)+len(b) >= wire.MaxEventBytes {
		l.skip = true
		start := append(l.line, b[:min(len(b), maxSample)]...)
		l.refuse(start, fmt.Sprintf("more than %d bytes", wire.MaxEventBytes-1))
		l.line = l.line[:0]
		return
	}
	l.line = append(l.line, b...)
}

func (l *eventLines) end() {
	if l.skip {
		l.skip = false
		return
	}
	e, err := wire.DecodeEvent(l.line)
	switch {
	case err != nil:
		l.refuse(l.line, err.Error())
	case l.on != nil:
		l.on(e)
	}
	l.line = l.line[:0]
}

func (l *eventLines) refuse(line []byte, why string) {
	l.bad++
	if l.bad > 1 {
		return
	}
	s := fmt.Sprintf("%.80q: %s", line, why)
	l.sample = strings.ToValidUTF8(s[:min(len(s), maxSample)], "")
}
