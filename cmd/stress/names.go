package main

import (
	"fmt"
	"strings"
)

// unknownName returns a usage error that names what was given, the nearest
// accepted name if one is near, and every accepted one.
func unknownName(what, given string, accepted []string) error {
	hint := ""
	if near := nearest(given, accepted); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return usagef("%s %q: unknown%s; accepted: %s", what, given, hint, strings.Join(accepted, ", "))
}

// nearest returns the accepted name that given was probably meant to be, or
// "": at most a third of its letters differ, or it is the beginning of one.
func nearest(given string, accepted []string) string {
	best, bestDist := "", len(given)/3+1
	for _, name := range accepted {
		if len(given) >= 3 && strings.HasPrefix(name, given) {
			return name
		}
		if d := distance(given, name); d < bestDist || d == bestDist && best == "" {
			best, bestDist = name, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove, replace or swap with
// their neighbour that turn a into b (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			d := min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
