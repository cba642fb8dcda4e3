package queue

import (
	"hash/fnv"
	"strconv"
	"time"
)

// The delay of a test that gave its pods back is longer each time, and not the same for any two tests.
const (
	firstDelay = 15 * time.Second
	maxDelay   = 4 * time.Minute
)

// Delay is for how long a test lets others go first after it gave its pods back for the times-th time. It depends on
// the test's UID, so that two tests that took each other's devices don't try again at the same time, and a restart
// changes nothing.
func Delay(uid string, times int) time.Duration {
	base := firstDelay
	for range min(times, 10) - 1 {
		base = min(2*base, maxDelay)
	}
	h := fnv.New64a()
	h.Write([]byte(uid))
	h.Write([]byte(strconv.Itoa(times)))
	return base + time.Duration(h.Sum64()%uint64(base/time.Second))*time.Second
}
