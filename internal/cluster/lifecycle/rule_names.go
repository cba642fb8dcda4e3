package lifecycle

// RuleNames are the names that a Decision's Rule may have, in the order in which rules are tried: for who counts them from 0.
func RuleNames() (names []string) {
	for _, r := range rules() {
		names = append(names, r.name)
	}
	return append(names, "undecided")
}
