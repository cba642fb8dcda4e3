package operator

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// requests counts what a client asks the API server.
type requests struct {
	mu    sync.Mutex
	count map[string]int
}

// Wrap makes it count; for rest.Config.Wrap.
func (r *requests) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		r.note(request)
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// note counts a request by verb and resource: "POST pods", "POST pods (dry run)".
func (r *requests) note(request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = map[string]int{}
	}
	what := request.Method + " " + resourceOf(request.URL.Path)
	query := request.URL.Query()
	switch {
	case query.Get("dryRun") != "":
		what += dryRun
	case query.Get("watch") != "":
		what = "WATCH " + resourceOf(request.URL.Path)
	case request.Method == http.MethodGet && query.Has("labelSelector"):
		what = "LIST " + resourceOf(request.URL.Path)
	}
	r.count[what]++
}

const dryRun = " (dry run)"

// resourceOf is the resource in a path, with its subresource.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return "discovery"
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	if len(parts) > 2 {
		return parts[0] + "/" + parts[2]
	}
	return parts[0]
}

// of is how many of a kind were asked since the counts were taken.
func (r *requests) of(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count[what]
}

// take returns the counts, and begins anew.
func (r *requests) take() counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.count
	r.count = nil
	return taken
}

// counts are requests by what they ask.
type counts map[string]int

func (c counts) writes() counts {
	out := counts{}
	for what, n := range c {
		verb, _, _ := strings.Cut(what, " ")
		if verb != "GET" && verb != "LIST" && verb != "WATCH" && !strings.HasSuffix(what, dryRun) {
			out[what] = n
		}
	}
	return out
}

func (c counts) total() (sum int) {
	for _, n := range c {
		sum += n
	}
	return sum
}

func (c counts) String() string {
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(c)) {
		lines = append(lines, fmt.Sprintf("%3d %s", c[what], what))
	}
	return strings.Join(lines, "\n")
}
