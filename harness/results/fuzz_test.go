package results

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"rocstress/harness"
)

// Whatever stands in the file, reading ends without a panic, and every record
// it returns can be counted and written again.
func FuzzRecords(f *testing.F) {
	good := `{"v":1,"scenario":"s","arm":"run","run":1,"child":1,"seed":1,"outcome":"pass","exit":{"code":0,"dur_ns":1}}`
	for _, seed := range []string{"", good, good + "\n", good + "\n{", good + "\n" + good + "\n", "\n\n{}\n", "null\n", "[]", "\xff\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g := NewWithT(t)
		seen := map[harness.Key]bool{}
		err := readRecords(bytes.NewReader(data), func(r harness.Record) error {
			g.Expect(seen).NotTo(HaveKey(r.Key()))
			seen[r.Key()] = true
			text, err := json.Marshal(r)
			g.Expect(err).NotTo(HaveOccurred())
			again, err := decodeRecord(text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again.Key()).To(Equal(r.Key()))
			return nil
		})
		if err != nil {
			return
		}
		// What can be read can be continued: after mending, the same records
		// and one more.
		dir := t.TempDir()
		path := filepath.Join(dir, recordsName)
		g.Expect(os.WriteFile(path, data, 0o644)).To(Succeed())
		w, err := openWriter(dir, Manifest{}, 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(w.mend()).To(Succeed())
		extra := harness.Record{V: 1, Scenario: "an extra one", Arm: "run", Run: 1, Child: 1, Outcome: harness.Pass}
		g.Expect(w.Append(extra)).To(Succeed())
		g.Expect(w.Close()).To(Succeed())
		after := 0
		whole, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(readRecords(bytes.NewReader(whole), func(r harness.Record) error {
			if !seen[r.Key()] {
				g.Expect(r.Scenario).To(Equal(extra.Scenario))
			}
			after++
			return nil
		})).To(Succeed())
		if !seen[extra.Key()] {
			g.Expect(after).To(Equal(len(seen) + 1))
		}
	})
}
