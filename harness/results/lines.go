package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"rocstress/harness"
)

// maxLine bounds a line of results.jsonl with its newline. The largest record,
// with the skew of 4096 threads, has some 60 kB.
const maxLine = 1 << 20

// line is one line of results.jsonl.
type line struct {
	number int   // from 1
	start  int64 // offset of its first byte
	end    int64 // offset after its newline
	text   []byte
	torn   bool // the last, without a newline
}

// eachLine calls f for every line that is not empty, from the start of r. text
// is valid during the call.
func eachLine(r io.Reader, f func(l line) error) error {
	b := bufio.NewReaderSize(r, maxLine)
	for l := (line{number: 1}); ; l.number++ {
		text, err := b.ReadSlice('\n')
		l.start, l.end, l.text = l.end, l.end+int64(len(text)), text
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%s line %d: more than %d bytes", recordsName, l.number, maxLine-1)
		case errors.Is(err, io.EOF):
			l.torn = true
		case err != nil:
			return fmt.Errorf("%s line %d: %w", recordsName, l.number, err)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			if err := f(l); err != nil {
				return err
			}
		}
		if l.torn {
			return nil
		}
	}
}

// decodeRecord reads one line strictly enough that what it returns can be
// counted.
func decodeRecord(text []byte) (harness.Record, error) {
	var r harness.Record
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	switch {
	case r.V != harness.RecordVersion:
		return r, fmt.Errorf("record version %d, this build reads version %d", r.V, harness.RecordVersion)
	case r.Scenario == "" || r.Arm == "" || r.Run < 1 || r.Child < 1:
		return r, fmt.Errorf("record without a key: scenario %.40q, arm %.40q, run %d, child %d", r.Scenario, r.Arm, r.Run, r.Child)
	case r.Outcome != harness.NotMeasured && !slices.Contains(harness.Outcomes(), r.Outcome):
		return r, fmt.Errorf("unknown outcome %.40q", r.Outcome)
	}
	return r, nil
}

// eachRecord calls f for every record and the offset of its line. A torn last
// line that is no record is left out; any other bad line is an error.
func eachRecord(r io.Reader, f func(rec harness.Record, offset int64) error) error {
	return eachLine(r, func(l line) error {
		rec, err := decodeRecord(l.text)
		switch {
		case err != nil && l.torn:
			return nil
		case err != nil:
			return fmt.Errorf("%s line %d: %w", recordsName, l.number, err)
		}
		return f(rec, l.start)
	})
}
