package suite

// plural is a word for so many: test, tests.
func plural(n int32, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
