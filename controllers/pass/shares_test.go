package pass

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// server answers each request after a second, and counts simultaneous requests, by namespace and separately for
// dry runs.
type server struct {
	mu               sync.Mutex
	current, highest map[string]int
	answered         map[string]int
}

func (s *server) RoundTrip(request *http.Request) (*http.Response, error) {
	kind := request.URL.Path
	if request.URL.Query().Has("dryRun") {
		kind += " tried"
	}
	s.mu.Lock()
	s.current[kind]++
	s.highest[kind] = max(s.highest[kind], s.current[kind])
	s.mu.Unlock()
	time.Sleep(time.Second)
	s.mu.Lock()
	s.current[kind]--
	s.answered[kind]++
	s.mu.Unlock()
	return &http.Response{}, nil
}

// ask makes requests of one pass of a namespace's object, side by side.
func ask(ctx context.Context, client http.RoundTripper, namespace, query string, requests int) error {
	_, err := Sharing(reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
		failed := make([]error, requests)
		SideBySide(requests, func(i int) {
			_, failed[i] = client.RoundTrip((&http.Request{URL: &url.URL{Path: namespace,
				RawQuery: query}}).WithContext(ctx))
		})
		for _, err := range failed {
			if err != nil {
				return ctrl.Result{}, err
			}
		}
		return ctrl.Result{}, nil
	})).Reconcile(ctx, requestOf(namespace, "test"))
	return err
}

func TestANamespaceWithManyRequestsKeepsFewOfThemUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, shares := &server{current: map[string]int{}, highest: map[string]int{}, answered: map[string]int{}},
			NewShares()
		client := shares.Wrap(api)
		var passes sync.WaitGroup
		for range 10 {
			passes.Go(func() {
				if err := ask(t.Context(), client, "hostile", "", 20); err != nil {
					t.Error(err)
				}
			})
			passes.Go(func() {
				if err := ask(t.Context(), client, "hostile", "dryRun=All", 5); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(10*time.Second + time.Second/2) // it has used its credit
		start := time.Now()
		if err := ask(t.Context(), client, "lab", "", 1); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("another namespace's request is answered after %s", took)
		}
		api.mu.Lock()
		api.highest = map[string]int{}
		api.mu.Unlock()
		start = time.Now()
		if err := ask(t.Context(), client, "lab", "", 4); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("another namespace's four requests, side by side as without the hostile namespace, are "+
				"answered after %s", took)
		}
		api.mu.Lock()
		// one of each kind, one after the other
		if n := api.highest["hostile"] + api.highest["hostile tried"]; n > 2*maxBeside {
			t.Errorf("beside another namespace's requests %d were under way", n)
		}
		api.mu.Unlock()
		passes.Wait()
		if n := api.highest["hostile"] + api.highest["hostile tried"]; n > maxAsked+maxTried ||
			api.highest["hostile tried"] > maxTried {
			t.Errorf("%d requests were under way, %d of them dry runs", n, api.highest["hostile tried"])
		}
		if api.answered["hostile"] != 200 || api.answered["hostile tried"] != 50 {
			t.Errorf("%v were answered, want 200 and 50", api.answered)
		}
		time.Sleep(maxCredit * creditEvery)
		if err := ask(t.Context(), client, "later", "", 1); err != nil || len(shares.namespaces) > 2 {
			t.Errorf("%d shares are kept though nobody uses them: %v", len(shares.namespaces), err)
		}
	})
}

func TestAPassThatEndsWaitsForNoShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := NewShares().Wrap(asking(func(request *http.Request) (*http.Response, error) {
			<-request.Context().Done()
			return nil, request.Context().Err()
		}))
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if err := ask(ctx, client, "lab", "", 8); err == nil {
			t.Error("no error")
		}
		if err := ctx.Err(); err == nil {
			t.Error("it ended before its time")
		}
	})
}
