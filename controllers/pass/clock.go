package pass

import (
	"net/http"
	"sync"
	"time"
)

// Clock is the API server's: what is decided upon has its times, and a manager whose node is ahead would end tests before their time, or take over runs that the one before it had just begun.
// It goes by the dates of the server's answers, which are whole seconds: where the node agrees with them, the node's clock is as good, and nothing is changed.
//
//	node's time  asked ─────── answered      the server's was date … date + 1 s in between, so that
//	                                         date − answered ≤ ahead < date + 1 s − asked
//
// The zero value is the node's clock. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	// ahead is by how much the server is ahead of this node.
	ahead time.Duration
	// node is this node's clock; nil: time.Now.
	node func() time.Time
}

// mostAsking is how long a question may take to say something of the clock.
const mostAsking = 5 * time.Second

// Now is what time the API server has.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.here().Add(c.ahead)
}

// Wrap looks at the date of each answer (rest.Config.Wrap).
func (c *Clock) Wrap(next http.RoundTripper) http.RoundTripper {
	return asking(func(request *http.Request) (*http.Response, error) {
		asked := c.hereNow()
		response, err := next.RoundTrip(request)
		if err == nil {
			if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
				c.seen(date, asked, c.hereNow())
			}
		}
		return response, err
	})
}

// seen corrects the clock by as little as an answer asks for.
func (c *Clock) seen(date, asked, answered time.Time) {
	if took := answered.Sub(asked); took < 0 || took > mostAsking {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = min(max(c.ahead, date.Sub(answered)), date.Add(time.Second).Sub(asked))
}

func (c *Clock) hereNow() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.here()
}

// here is this node's time of day: a clock that is set while something is asked is one that was set.
func (c *Clock) here() time.Time {
	if c.node == nil {
		return time.Now().Round(0)
	}
	return c.node()
}

type asking func(*http.Request) (*http.Response, error)

// RoundTrip asks.
func (a asking) RoundTrip(request *http.Request) (*http.Response, error) { return a(request) }
