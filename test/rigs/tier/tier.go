package tier

// Times is how often something is repeated: so often in each gate, and so often in the full tier.
func Times(gate, full int) int {
	if Full {
		return full
	}
	return gate
}

// Some are the first n of what is tried, in the full tier all.
func Some[T any](n int, all []T) []T { return all[:min(len(all), Times(n, len(all)))] }
