package suite

// plural is the word with an s, unless there is one.
func plural(n int32, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
