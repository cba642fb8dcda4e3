//go:build !full

package operator

// hostileTests is how many tests a hostile tenant makes; that two thousand have no more effect is counted in controllers/turns, controllers/pass and internal/cluster/queue.
const hostileTests = 100
