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
	// maxAsked is how many requests the passes of a namespace's objects have under way at most. An API server
	// that answers in 10 ms then answers 400 of them a second.
	maxAsked = 4
	// maxBeside is the same for a namespace without credit, while another namespace makes requests, or did
	// within asksFor. Credit covers most requests of one test's beginning, and one request's credit comes back
	// in creditEvery. So a namespace with few requests waits for nobody, and one with many has no credit.
	maxBeside   = 1
	asksFor     = time.Second
	maxCredit   = 8
	creditEvery = 2 * time.Second
	// maxTried is how many of these requests are dry runs. Users who write the objects decide what they cost,
	// and an object with two thousand faults takes a quarter of a second of a processor.
	maxTried = 1
)

// Shares bounds the simultaneous requests of the passes of one namespace's objects, so that the requests of
// another namespace's passes find the API server idle enough.
//
//	alone:   passes of a ──▶ 4 requests ──▶ API server
//	beside:  passes of a ──▶ 1 request ───────────────────────────┬▶ API server
//	         passes of b ──▶ 4 requests, until 8 were asked, then 1 ┘
//
// Only requests of passes that Sharing wraps are bounded. It is safe for concurrent use.
type Shares struct {
	mu         sync.Mutex
	namespaces map[string]*share
	// released is closed, and made again, whenever a request ends.
	released chan struct{}
}

// share is a namespace's use of the API server. It counts the requests under way, the dry runs among them, and
// those that wait. lastChange is when a request began or ended. used is the credit that was used at usedAt, in
// requests.
type share struct {
	asked, tried, waiting int
	lastChange            time.Time
	used                  float64
	usedAt                time.Time
}

// usedNow is how much of the credit is used now, since some came back meanwhile.
func (s *share) usedNow() float64 {
	return max(0, s.used-time.Since(s.usedAt).Seconds()/creditEvery.Seconds())
}

// NewShares makes unused shares.
func NewShares() *Shares {
	return &Shares{namespaces: map[string]*share{}, released: make(chan struct{})}
}

// Wrap has a client's requests wait for their namespace's share. It is for rest.Config.Wrap.
func (s *Shares) Wrap(next http.RoundTripper) http.RoundTripper {
	return asking(func(request *http.Request) (*http.Response, error) {
		namespace, ok := request.Context().Value(shared{}).(string)
		if !ok {
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
	asker := s.namespaces[namespace]
	if asker == nil {
		asker = &share{}
		s.namespaces[namespace] = asker
	}
	asker.waiting++
	defer func() { asker.waiting-- }()
	// a request of the namespace itself is under way, and its end wakes this loop
	for !s.mayRequest(namespace, asker, dryRun) {
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
	asker.used, asker.usedAt = min(maxCredit, asker.usedNow()+1), time.Now()
	asker.count(1, dryRun)
	return nil
}

func (s *Shares) release(namespace string, dryRun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.namespaces[namespace].count(-1, dryRun)
	close(s.released)
	s.released = make(chan struct{})
}

// mayRequest says that a namespace may make one more request. It drops unused shares.
func (s *Shares) mayRequest(namespace string, asker *share, dryRun bool) bool {
	limit := maxAsked
	for name, other := range s.namespaces {
		switch {
		case name == namespace:
		case other.asked+other.waiting > 0 || time.Since(other.lastChange) < asksFor:
			if asker.usedNow() > maxCredit-1 {
				limit = maxBeside
			}
		case other.usedNow() == 0:
			delete(s.namespaces, name)
		}
	}
	return asker.asked < limit && (!dryRun || asker.tried < maxTried)
}

func (s *share) count(requests int, dryRun bool) {
	s.asked, s.lastChange = s.asked+requests, time.Now()
	if dryRun {
		s.tried += requests
	}
}

// shared is the context key of the namespace whose share a pass's requests use.
type shared struct{}

// Sharing wraps a reconciler so that the requests of its passes use the share of the object's namespace.
func Sharing(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		return r.Reconcile(context.WithValue(ctx, shared{}, request.Namespace), request)
	})
}
