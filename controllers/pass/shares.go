package pass

import (
	"context"
	"net/http"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// mostAsked is how many requests the passes of a namespace's objects have under way at most: an API server that answers in 10 ms then answers 400 of them a second.
	mostAsked = 4
	// mostBeside is how many while another namespace asks, too, or did in the last asksFor, once it has no credit left. Credit is for most requests of one test's beginning, and a request's comes back in creditEvery: so who asks
	// seldom waits for nobody, and who asks all the time has none.
	mostBeside  = 1
	asksFor     = time.Second
	mostCredit  = 8
	creditEvery = 2 * time.Second
	// mostTried is how many of these are dry runs: whoever writes the objects decides what they cost, and one that has two thousand faults takes a quarter of a second of a processor.
	mostTried = 1
)

// Shares bounds what the passes of one namespace's objects ask of the API server at a time, so that the requests of another namespace's passes find it idle enough:
//
//	alone:   passes of a ──▶ 4 requests ──▶ API server
//	beside:  passes of a ──▶ 1 request ───────────────────────────┬▶ API server
//	         passes of b ──▶ 4 requests, until 8 were asked, then 1 ┘
//
// Only requests of passes are bounded that Sharing wraps. It is safe for concurrent use.
type Shares struct {
	mu sync.Mutex
	of map[string]*share
	// released is closed, and made anew, whenever a request ends.
	released chan struct{}
}

// share is what a namespace has under way, of these dry runs, and waits to ask; last is when a request of its began or ended. Used is how much of its credit it had used at a time.
type share struct {
	asked, tried, waiting int
	last                  time.Time
	used                  float64
	usedAt                time.Time
}

// usedNow is how much of the credit is used now, as some came back meanwhile.
func (s *share) usedNow() float64 {
	return max(0, s.used-time.Since(s.usedAt).Seconds()/creditEvery.Seconds())
}

// NewShares makes shares that nobody uses.
func NewShares() *Shares {
	return &Shares{of: map[string]*share{}, released: make(chan struct{})}
}

// Wrap has a client's requests wait for their namespace's share; for rest.Config.Wrap.
func (s *Shares) Wrap(next http.RoundTripper) http.RoundTripper {
	return asking(func(request *http.Request) (*http.Response, error) {
		namespace, is := request.Context().Value(shared{}).(string)
		if !is {
			return next.RoundTrip(request)
		}
		dryRun := request.URL.Query().Has("dryRun")
		if err := s.take(request.Context(), namespace, dryRun); err != nil {
			return nil, err
		}
		defer s.release(namespace, dryRun)
		return next.RoundTrip(request)
	})
}

// take waits until a request may be made.
func (s *Shares) take(ctx context.Context, namespace string, dryRun bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.of[namespace]
	if mine == nil {
		mine = &share{}
		s.of[namespace] = mine
	}
	mine.waiting++
	defer func() { mine.waiting-- }()
	for !s.may(namespace, mine, dryRun) { // then a request of its own is under way, whose end is waited for
		released := s.released
		s.mu.Unlock()
		select {
		case <-released:
			s.mu.Lock()
		case <-ctx.Done():
			s.mu.Lock()
			return context.Cause(ctx)
		}
	}
	mine.used, mine.usedAt = min(mostCredit, mine.usedNow()+1), time.Now()
	mine.count(1, dryRun)
	return nil
}

func (s *Shares) release(namespace string, dryRun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[namespace].count(-1, dryRun)
	close(s.released)
	s.released = make(chan struct{})
}

// may says whether a namespace may ask one request more. It forgets the shares that nobody uses.
func (s *Shares) may(namespace string, mine *share, dryRun bool) bool {
	most := mostAsked
	for name, other := range s.of {
		switch {
		case name == namespace:
		case other.asked+other.waiting > 0 || time.Since(other.last) < asksFor:
			if mine.usedNow() > mostCredit-1 {
				most = mostBeside
			}
		case other.usedNow() == 0:
			delete(s.of, name)
		}
	}
	return mine.asked < most && (!dryRun || mine.tried < mostTried)
}

func (s *share) count(requests int, dryRun bool) {
	s.asked, s.last = s.asked+requests, time.Now()
	if dryRun {
		s.tried += requests
	}
}

// shared is the key of the namespace whose share a pass's requests are of.
type shared struct{}

// Sharing wraps a reconciler so that the requests of its passes are of the share of the object's namespace.
func Sharing(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		return r.Reconcile(context.WithValue(ctx, shared{}, request.Namespace), request)
	})
}
