package tier

// Times is how often something is repeated in each gate, and in the full tier.
func Times(gate, full int) int {
	if Full {
		return full
	}
	return gate
}

// Sample are the first n of what is tried, in the full tier all.
func Sample[T any](n int, cases []T) []T { return cases[:min(len(cases), Times(n, len(cases)))] }
