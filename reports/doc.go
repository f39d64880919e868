// Package reports renders a harness.Report for people and machines. Every
// function is a pure writer: it judges nothing, opens nothing and looks at no
// terminal. The JSON document is the one source, the other formats are views
// of it; schema.md beside this file lists its fields.
//
// Whatever a child printed is hostile until escaped, and it is escaped for the
// medium at hand: Terminal for consoles and CI logs, and the like for JSON,
// Markdown and XML.
package reports
