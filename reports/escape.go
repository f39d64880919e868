package reports

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Terminal returns s as one line that is safe to print on a terminal and in
// the log of a CI system, for text that a child printed. Control characters,
// line ends, escape sequences, marks that reorder or hide text and invalid
// UTF-8 appear as \n, \x1b, \u202e and the like, and nothing in the result is
// a workflow command. The result is for reading: it is not meant to be undone.
func Terminal(s string) string { return breakCommands(printable(s)) }

// printable makes every rune that is not plainly visible readable, so that
// what is shown is all there is.
func printable(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[0])
		} else {
			writeVisible(&b, r)
		}
		s = s[size:]
	}
	return b.String()
}

func writeVisible(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	// IsPrint leaves out controls, format characters (bidirectional marks,
	// zero-width joiners), private use and every space but U+0020.
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r < 0x80:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// commandMarks start a command of a CI system anywhere in a line: GitHub's
// first form, Azure Pipelines and TeamCity.
var commandMarks = [...]string{"##[", "##vso[", "##teamcity["}

// breakCommands puts a backslash into whatever a CI system would take for an
// order, such as "::error::" at the start of a line.
func breakCommands(s string) string {
	for _, m := range commandMarks {
		s = strings.ReplaceAll(s, m, `#\`+m[1:])
	}
	lead := len(s) - len(strings.TrimLeft(s, " "))
	if strings.HasPrefix(s[lead:], "::") {
		s = s[:lead] + `\` + s[lead:]
	}
	return s
}

// lines splits untrusted text at its line ends and makes each line safe for a
// terminal. It returns at most limit lines; more says how many were left out.
func lines(s string, limit int) (shown []string, more int) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil, 0
	}
	all := strings.Split(s, "\n")
	if len(all) > limit {
		more = len(all) - limit
		all = all[:limit]
	}
	for _, l := range all {
		shown = append(shown, clip(Terminal(l)))
	}
	return shown, more
}

// maxLineRunes bounds one line of untrusted text in a report for people. The
// whole text is in the JSON and in the results directory.
const maxLineRunes = 300

// clip shortens s to maxLineRunes, and says by how many.
func clip(s string) string {
	const limit = maxLineRunes
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	cut := 0
	for i := range s {
		if cut == limit {
			return fmt.Sprintf("%s... (%d more)", s[:i], n-limit)
		}
		cut++
	}
	return s
}

// escapeJSON makes a JSON document safe to show: whatever is not visible
// becomes a \u escape, which says the same to a reader of JSON. doc is valid
// JSON in UTF-8, in which such runes stand in strings alone.
func escapeJSON(doc []byte) []byte {
	var b strings.Builder
	b.Grow(len(doc))
	for _, r := range string(doc) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	s := b.String()
	for _, m := range commandMarks {
		s = strings.ReplaceAll(s, m, `#\u0023`+m[2:])
	}
	return []byte(s)
}

// indentJSON returns v as an indented document that is safe to show.
func indentJSON(v any) ([]byte, error) {
	doc, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(escapeJSON(doc), '\n'), nil
}

// codeSpan returns untrusted text as one inline code span of Markdown: code
// makes no mention, link or image of what it holds, and a fence longer than
// any run of backticks in it cannot be closed from inside.
func codeSpan(s string) string {
	s = clip(Terminal(s))
	if s == "" {
		s = " "
	}
	f := fence(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return f + s + f
}

// codeBlock returns lines as a fenced block, indented by indent.
func codeBlock(content []string, indent string) string {
	f := fence(strings.Join(content, "\n"), 3)
	var b strings.Builder
	b.WriteString(indent + f + "text\n")
	for _, l := range content {
		b.WriteString(indent + l + "\n")
	}
	b.WriteString(indent + f + "\n")
	return b.String()
}

// fence returns at least least backticks, more than s has in a row.
func fence(s string, least int) string {
	longest, run := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return strings.Repeat("`", max(least, longest+1))
}

// prose returns text of our own for Markdown, also in a cell of a table. It
// may quote names, so what Markdown or GitHub would act on is made plain.
func prose(s string) string {
	var b strings.Builder
	runes := []rune(Terminal(s))
	for i, r := range runes {
		switch r {
		case '_':
			if i > 0 && i < len(runes)-1 && wordRune(runes[i-1]) && wordRune(runes[i+1]) {
				b.WriteRune(r) // no emphasis inside a word such as wrong_result
				continue
			}
			b.WriteString("&#95;")
		case '\\', '`', '*', '[', ']', '<', '>', '|', '~', '!', '&':
			// An entity is never structure: "\|" would still end a cell.
			fmt.Fprintf(&b, "&#%d;", r)
		case '@', '#':
			// A comment keeps "@name" and "#1" from becoming links; an
			// entity would not, since links are found after decoding.
			b.WriteRune(r)
			b.WriteString("<!-- -->")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
