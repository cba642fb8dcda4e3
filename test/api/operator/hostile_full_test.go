//go:build full

package operator

// hostileTests is how many tests a hostile tenant makes.
const hostileTests = 2000
