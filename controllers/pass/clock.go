package pass

import (
	"net/http"
	"sync"
	"time"
)

// Clock is the API server's clock. Decisions depend on the server's timestamps. A manager whose node is ahead
// would end tests before their time, or take over runs that the manager before it had just begun. Clock follows
// the Date of the server's answers, which has whole seconds. As long as the node's clock agrees with the
// answers, it is used unchanged.
//
//	node's time  asked ─────── answered      the server's was date … date + 1 s in between, so that
//	                                         date − answered ≤ ahead < date + 1 s − asked
//
// The zero value is the node's clock. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	// ahead is by how much the server's clock is ahead of this node's.
	ahead time.Duration
	// node is this node's clock. nil means time.Now.
	node func() time.Time
}

// maxAsking is how long a request may take and still say something about the clock.
const maxAsking = 5 * time.Second

// Now is the API server's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodeTime().Add(c.ahead)
}

// Wrap reads the Date of each answer (rest.Config.Wrap).
func (c *Clock) Wrap(next http.RoundTripper) http.RoundTripper {
	return asking(func(request *http.Request) (*http.Response, error) {
		asked := c.lockedNodeTime()
		response, err := next.RoundTrip(request)
		if err == nil {
			if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
				c.correct(date, asked, c.lockedNodeTime())
			}
		}
		return response, err
	})
}

// correct changes the clock by the least amount that agrees with an answer.
func (c *Clock) correct(date, asked, answered time.Time) {
	if took := answered.Sub(asked); took < 0 || took > maxAsking {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = min(max(c.ahead, date.Sub(answered)), date.Add(time.Second).Sub(asked))
}

func (c *Clock) lockedNodeTime() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodeTime()
}

// nodeTime is this node's time of day, without its monotonic part, so that a clock that is set during a request
// shows.
func (c *Clock) nodeTime() time.Time {
	if c.node == nil {
		return time.Now().Round(0)
	}
	return c.node()
}

type asking func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (a asking) RoundTrip(request *http.Request) (*http.Response, error) { return a(request) }
