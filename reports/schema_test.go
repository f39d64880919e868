package reports_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"rocstress/harness"
)

// fieldPaths returns the path of every JSON field that a value of type t can
// have: "a.b" for objects, "a[]" for lists, "a{}" for maps.
func fieldPaths(t reflect.Type, at string) []string {
	switch {
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[json.RawMessage]():
		return []string{at}
	case t.Kind() == reflect.Pointer:
		return fieldPaths(t.Elem(), at)
	case t.Kind() == reflect.Slice:
		return fieldPaths(t.Elem(), at+"[]")
	case t.Kind() == reflect.Map:
		return fieldPaths(t.Elem(), at+"{}")
	case t.Kind() != reflect.Struct:
		return []string{at}
	}
	var paths []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			paths = append(paths, fieldPaths(f.Type, at)...)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if at != "" {
			name = at + "." + name
		}
		paths = append(paths, fieldPaths(f.Type, name)...)
	}
	return paths
}

var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [a-z][^|]* \\| [^|]+ \\|$")

// documented returns the fields that a section of schema.md lists.
func documented(g Gomega, heading string) []string {
	doc, err := os.ReadFile("schema.md")
	g.Expect(err).NotTo(HaveOccurred())
	_, section, ok := strings.Cut(string(doc), "\n## "+heading+"\n")
	g.Expect(ok).To(BeTrue(), "schema.md has a section %s", heading)
	section, _, _ = strings.Cut(section, "\n## ")
	var paths []string
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		paths = append(paths, m[1])
	}
	g.Expect(len(paths)).To(Equal(strings.Count(section, "\n| `")), "every row has the form: path, type, meaning")
	return paths
}

func TestSchemaListsEveryFieldOnce(t *testing.T) {
	g := NewWithT(t)
	g.Expect(documented(g, "report.json")).To(ConsistOf(fieldPaths(reflect.TypeFor[harness.Report](), "")))
	g.Expect(documented(g, "results.jsonl")).To(ConsistOf(fieldPaths(reflect.TypeFor[harness.Record](), "")))
}

// TestSchemaNotices plants a field: a walk that finds nothing would pass above.
func TestSchemaNotices(t *testing.T) {
	g := NewWithT(t)
	type inner struct {
		Deep *float64 `json:"deep,omitempty"`
		skip int
	}
	type planted struct {
		inner
		New   map[string][]inner `json:"new"`
		Plain time.Duration
		When  time.Time `json:"when"`
		Gone  int       `json:"-"`
	}
	g.Expect(planted{}.skip).To(BeZero())
	g.Expect(fieldPaths(reflect.TypeFor[planted](), "")).To(ConsistOf("deep", "new{}[].deep", "Plain", "when"))
}

// TestDurationsSayNanoseconds holds every duration to its suffix.
func TestDurationsSayNanoseconds(t *testing.T) {
	g := NewWithT(t)
	var walk func(reflect.Type)
	seen := map[reflect.Type]bool{}
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || seen[t] {
			return
		}
		seen[t] = true
		for f := range t.Fields() {
			if f.Type == reflect.TypeFor[time.Duration]() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				g.Expect(name).To(HaveSuffix("_ns"), "%s.%s", t, f.Name)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[harness.Report]())
	walk(reflect.TypeFor[harness.Record]())
	g.Expect(len(seen)).To(BeNumerically(">", 8))
}
