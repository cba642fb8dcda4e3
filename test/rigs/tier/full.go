//go:build full

package tier

// Full says that this is the full tier.
const Full = true
