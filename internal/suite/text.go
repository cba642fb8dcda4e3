package suite

import "strings"

// limited cuts a text at a bound in bytes.
func limited(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes-len("…")], "") + "…"
}

// plural is a word for so many: test, tests.
func plural(n int32, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
