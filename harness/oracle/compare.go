package oracle

import (
	"fmt"
	"math"
	"strconv"
)

// Kind tells in which way a result is bad.
type Kind string

// The kinds of bad results, in order of precedence.
const (
	Unwritten Kind = "unwritten" // poison is still there
	NaN       Kind = "nan"
	Wrong     Kind = "wrong" // any other value but the right one
)

// Verdict is what a comparison came to. Index, Row, Col, Got and Want speak of
// the first element of kind Kind.
type Verdict struct {
	OK    bool
	Kind  Kind // of the whole result: the first kind, in their order, that any element has
	Index int
	Row   int
	Col   int
	Got   string // the float32 and its bits
	Want  string

	Elements  int // compared
	Bad       int // the sum of the three below
	Unwritten int
	NaN       int
	Wrong     int
}

// Compare judges the words of a row-major float32 result with cols columns. An
// element is unwritten if it is the poison word, else NaN, else wrong unless it
// equals want exactly (-0 equals 0). want must be within MaxExact of zero. It
// panics where lengths differ or cols does not divide them.
func Compare(got []uint32, want []int32, cols int, poison uint32) Verdict {
	if len(got) != len(want) || len(want) > 0 && (cols <= 0 || len(want)%cols != 0) {
		panic(fmt.Sprintf("oracle: Compare of %d words with %d values in %d columns", len(got), len(want), cols))
	}
	var f findings
	for i, w := range got {
		if math.Float32frombits(w) == float32(want[i]) {
			continue // no poison and no NaN equals anything
		}
		switch {
		case w == poison:
			f.add(Unwritten, i)
		case isNaN(w):
			f.add(NaN, i)
		default:
			f.add(Wrong, i)
		}
	}
	v := f.verdict(len(want), cols)
	if !v.OK {
		v.Got, v.Want = describe(got[v.Index], poison), strconv.Itoa(int(want[v.Index]))
	}
	return v
}

// findings counts bad elements by kind and keeps the first of each.
type findings struct {
	unwritten, nan, wrong finding
}

type finding struct{ count, first int }

func (f *findings) add(kind Kind, i int) {
	k := &f.wrong
	switch kind {
	case Unwritten:
		k = &f.unwritten
	case NaN:
		k = &f.nan
	}
	if k.count == 0 {
		k.first = i
	}
	k.count++
}

// verdict leaves Got and Want to the caller.
func (f *findings) verdict(elements, cols int) Verdict {
	v := Verdict{
		OK: true, Elements: elements,
		Unwritten: f.unwritten.count, NaN: f.nan.count, Wrong: f.wrong.count,
	}
	v.Bad = v.Unwritten + v.NaN + v.Wrong
	switch {
	case v.Unwritten > 0:
		v.Kind, v.Index = Unwritten, f.unwritten.first
	case v.NaN > 0:
		v.Kind, v.Index = NaN, f.nan.first
	case v.Wrong > 0:
		v.Kind, v.Index = Wrong, f.wrong.first
	default:
		return v
	}
	v.OK = false
	v.Row, v.Col = v.Index/cols, v.Index%cols
	return v
}

// describe prints a word as a float32 with its bits.
func describe(word, poison uint32) string {
	switch {
	case word == poison:
		return fmt.Sprintf("poison 0x%08x", word)
	case isNaN(word) && fromInput(word):
		return fmt.Sprintf("NaN 0x%08x (of an unwritten input)", word)
	case isNaN(word):
		return fmt.Sprintf("NaN 0x%08x", word)
	default:
		value := strconv.FormatFloat(float64(math.Float32frombits(word)), 'g', -1, 32)
		return fmt.Sprintf("%s (0x%08x)", value, word)
	}
}

// String says in one line of at most some 200 bytes what is wrong.
func (v Verdict) String() string {
	if v.OK {
		return fmt.Sprintf("all %d elements exact", v.Elements)
	}
	return fmt.Sprintf("%s at index %d (row %d, column %d): got %s, want %s; %d of %d elements bad: %d unwritten, %d NaN, %d wrong",
		v.Kind, v.Index, v.Row, v.Col, v.Got, v.Want, v.Bad, v.Elements, v.Unwritten, v.NaN, v.Wrong)
}
