package reports

import (
	"fmt"
	"io"

	"rocstress/harness"
)

// WriteJSON writes r as one indented JSON document that ends in a newline. It
// is ASCII where text is not plainly visible, so that it is safe to show, and
// decodes to r; bytes that are no UTF-8 decode to U+FFFD.
func WriteJSON(w io.Writer, r harness.Report) error {
	doc, err := indentJSON(r)
	if err != nil {
		return fmt.Errorf("encode the report as JSON: %w", err)
	}
	if _, err := w.Write(doc); err != nil {
		return fmt.Errorf("write the JSON report: %w", err)
	}
	return nil
}
