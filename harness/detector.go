package harness

// detector finds all literals of a table in a stream, byte by byte, whatever
// chunks the stream comes in: an automaton after Aho and Corasick, CACM 18
// (1975). It is built once and never changes after that, so any number of
// scans may share it.
type detector struct {
	markers []marker
	class   [256]uint8 // byte -> column; 0: in no literal
	columns int
	next    []uint16  // state*columns + class -> state
	ends    [][]uint8 // state -> markers whose literal ends here
}

// newDetector returns the automaton of at most 256 markers.
func newDetector(markers []marker) *detector {
	d := &detector{markers: markers, columns: 1}
	for _, m := range markers {
		for _, b := range []byte(m.literal) {
			if d.class[b] == 0 {
				d.class[b] = uint8(d.columns)
				d.columns++
			}
		}
	}
	d.addState()
	for i, m := range markers {
		d.addLiteral(m.literal, uint8(i))
	}
	d.link()
	return d
}

func (d *detector) addState() uint16 {
	d.next = append(d.next, make([]uint16, d.columns)...)
	d.ends = append(d.ends, nil)
	return uint16(len(d.ends) - 1)
}

func (d *detector) addLiteral(literal string, id uint8) {
	state := uint16(0)
	for _, b := range []byte(literal) {
		at := int(state)*d.columns + int(d.class[b])
		if d.next[at] == 0 {
			to := d.addState()
			d.next[at] = to
		}
		state = d.next[at]
	}
	d.ends[state] = append(d.ends[state], id)
}

// link turns the tree of literals into an automaton: where a state has no
// branch for a byte, it takes the branch of the longest suffix that has one.
func (d *detector) link() {
	fail := make([]uint16, len(d.ends))
	var queue []uint16
	for c := 1; c < d.columns; c++ {
		if to := d.next[c]; to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		suffix := fail[state]
		d.ends[state] = append(d.ends[state], d.ends[suffix]...)
		for c := 1; c < d.columns; c++ {
			at := int(state)*d.columns + c
			viaSuffix := d.next[int(suffix)*d.columns+c]
			if to := d.next[at]; to != 0 {
				fail[to] = viaSuffix
				queue = append(queue, to)
			} else {
				d.next[at] = viaSuffix
			}
		}
	}
}
