package vitals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/reset"
)

// serve serves on a socket of this machine, and returns its address.
func serve(t *testing.T, s *Server) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { end(); serving.Wait() })
	return l.Addr().String()
}

// follow follows an address until the test ends.
func follow(t *testing.T, address string) *Follower {
	t.Helper()
	f := Follow(t.Context(), address, credential.Key{}, nil)
	t.Cleanup(f.Close)
	return f
}

// await waits until what is newest is as it is to be.
func await(t *testing.T, f *Follower, state string, reached func(r Reading, age time.Duration,
	missing string) bool) (Reading, string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		r, age, missing := f.Newest()
		if reached(r, age, missing) {
			return r, missing
		}
		if time.Now().After(end) {
			t.Fatalf("it is never %s: %+v, %s old, missing %q", state, r, age, missing)
		}
	}
}

func answers(_ Reading, _ time.Duration, missing string) bool { return missing == "" }

func TestAMachineIsFollowed(t *testing.T) {
	passed := atomic.Int64{}
	server := &Server{Limits: func() ([]Limit, error) {
		return []Limit{{From: "west", To: "east", Passed: passed.Add(1), Dropped: 5}}, nil
	}}
	f := follow(t, serve(t, server))
	first, _ := await(t, f, "answered", answers)
	if len(first.Processors) == 0 || first.Processors[0].Idle == 0 || first.At > first.Clock ||
		len(first.Limits) != 1 || first.Limits[0].Dropped != 5 {
		t.Errorf("%+v", first)
	}
	next, _ := await(t, f, "read again", func(r Reading, _ time.Duration, _ string) bool { return r.At > first.At })
	if next.Clock <= first.Clock || next.Limits[0].Passed <= first.Limits[0].Passed {
		t.Errorf("%+v after %+v", next, first)
	}
}

// What others answered a collector is for who has the attempt's key.
func TestACollectorAnswersWhoHasTheAttemptsKey(t *testing.T) {
	key := credential.New()
	address := serve(t, &Server{Verifier: key.Verifier(), Collect: func() (time.Duration, []observe.Answer) {
		return 5 * time.Second, []observe.Answer{{Observer: "power", At: 4 * time.Second,
			Numbers: []observe.Number{{Name: "value", Value: 240}}}}
	}})
	f := Follow(t.Context(), address, key, nil)
	t.Cleanup(f.Close)
	r, _ := await(t, f, "answered", answers)
	if r.Collected == nil || r.Collected.Clock != 5*time.Second || len(r.Collected.Answers) != 1 ||
		r.Collected.Answers[0].Numbers[0].Value != 240 || len(r.Processors) > 0 {
		t.Errorf("%+v", r)
	}
	stranger := Follow(t.Context(), address, key.Derive("another attempt"), nil)
	t.Cleanup(stranger.Close)
	await(t, stranger, "refused", func(_ Reading, _ time.Duration, missing string) bool {
		return strings.Contains(missing, "the server refused the credential")
	})
	if answer, err := http.Get("http://" + address + path); err == nil {
		t.Errorf("a stranger was answered: %s", answer.Status)
	}
}

// Strangers without the key, more than are served at a time, don't keep the runner out, as they never get to
// where callers are counted.
func TestIdleStrangersBlockNoReset(t *testing.T) {
	key := credential.New()
	address := serve(t, &Server{Mute: true, Verifier: key.Verifier(),
		Reset: &reset.Handler{Reset: func(context.Context) (string, error) { return "ip neigh flush all", nil }}})
	for range 3 * mostCallers {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // a test's
	}
	if result, err := reset.Ask(t.Context(), address, key); err != nil || result.Report != "ip neigh flush all" {
		t.Errorf("%+v, %v", result, err)
	}
}

// However many clients ask, the machine is read at most ten times a second, and each answer says when it was read.
func TestAMachineIsLookedAtTenTimesASecondAtMost(t *testing.T) {
	looked := 0
	s := &Server{Limits: func() ([]Limit, error) { looked++; return nil, nil }}
	begin, asked := time.Now(), 0
	for ; time.Since(begin) < freshFor/2; asked++ {
		r, err := s.reading(nil)
		if err != nil || r.Clock < r.At {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if allowed := int(time.Since(begin)/freshFor) + 1; looked > allowed {
		t.Errorf("asked %d times in %s it looked %d times, at most %d were due", asked, time.Since(begin), looked,
			allowed)
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	r, err := (&Server{Limits: func() ([]Limit,
		error) {
		return []Limit{{Passed: 1}}, errors.New("its rules have 1 counters, not 2")
	}}).reading(nil)
	if err != nil || r.Limits != nil || r.NoLimits != "its rules have 1 counters, not 2" || len(r.Processors) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestThereIsOnePathAndNothingIsTaken(t *testing.T) {
	open, mute := serve(t, &Server{}), serve(t, &Server{Mute: true})
	for _, c := range []struct {
		server, method, path string
		want                 int
	}{
		{open, http.MethodGet, "/vitals", http.StatusOK}, {open, http.MethodPost, "/vitals",
			http.StatusMethodNotAllowed},
		{open, http.MethodGet, "/", http.StatusNotFound}, {open, http.MethodGet, "/vitals/../proc",
			http.StatusNotFound},
		{mute, http.MethodGet, "/vitals", http.StatusNotFound}, // in a device's own pod there is nothing to read
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+c.server+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s %s: %s, want %d", c.method, c.path, answer.Status, c.want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// closed says whether the other side closes a connection before it says anything.
func closed(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err)
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.As(err, &timed) && timed.Timeout()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestTooManyCallersAreTurnedAwayUntilOneLeaves(t *testing.T) {
	address := serve(t, &Server{})
	var inside []net.Conn
	for range mostCallers {
		conn := dial(t, address)
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatalf("caller %d: %v", len(inside), err)
		}
		inside = append(inside, conn)
	}
	if !closed(t, dial(t, address)) {
		t.Errorf("caller %d was let in", mostCallers+1)
	}
	_ = inside[0].Close()
	await(t, follow(t, address), "answered when there is room", answers)
}

func TestRefusedCallersGetNoAnswer(t *testing.T) {
	address := serve(t, &Server{Refuse: func(net.Conn) error { return errors.New("it is on a link") }})
	if !closed(t, dial(t, address)) {
		t.Error("it was let in")
	}
	_, reason := await(t, follow(t, address), "refused", func(_ Reading, _ time.Duration, missing string) bool {
		return missing != "" && !strings.Contains(missing, "not answered yet")
	})
	if !strings.HasPrefix(reason, address+" did not answer: ") {
		t.Error(reason)
	}
}

// nodeStandIn is a stand-in for the device's node, of which a test says how it answers.
type nodeStandIn struct {
	mu     sync.Mutex
	answer func(w http.ResponseWriter)
}

func (m *nodeStandIn) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	answer := m.answer
	m.mu.Unlock()
	answer(w)
}

func (m *nodeStandIn) set(answer func(w http.ResponseWriter)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = answer
}

func encode(r Reading) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) { _ = json.NewEncoder(w).Encode(r) }
}

func TestWhatIsNotToldIsMissingAndWhatWasToldStays(t *testing.T) {
	m := &nodeStandIn{answer: encode(Reading{Version: Version, Clock: 2, At: 1})}
	s := httptest.NewServer(m)
	f := follow(t, s.Listener.Addr().String())
	await(t, f, "answered", answers)
	hold := make(chan struct{})
	for _, c := range []struct {
		name, want string
		answer     func(w http.ResponseWriter)
	}{
		{"an error", `it answered 500 Internal Server Error: "when it is: no clock`,
			func(w http.ResponseWriter) { http.Error(w, "when it is: no clock", http.StatusInternalServerError) }},
		{"another version", `its answer is of version "linerate.dev/vitals.v9", and "linerate.dev/vitals.v1alpha1" ` +
			`is wanted: use one linerate for both`, encode(Reading{Version: "linerate.dev/vitals.v9"})},
		{"no JSON", "its answer can't be read: ", func(w http.ResponseWriter) { _, _ = io.WriteString(w, "hello") }},
		{"more than anybody needs", "its answer has more than 1048576 bytes",
			func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, mostAnswer+2)) }},
		{"somewhere else", "it answered 302 Found", func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://192.0.2.1/")
			w.WriteHeader(http.StatusFound)
		}},
		{"no answer", "no answer within 1s; can the runner's pod reach that port?",
			func(http.ResponseWriter) { <-hold }},
	} {
		m.set(c.answer)
		newest, reason := await(t, f, c.name, func(_ Reading, _ time.Duration,
			missing string) bool {
			return strings.Contains(missing, c.want)
		})
		if newest.Clock != 2 || !strings.HasPrefix(reason, s.Listener.Addr().String()+" did not answer: ") {
			t.Errorf("%s: %q, and what was told before is %+v", c.name, reason, newest)
		}
	}
	close(hold)
	m.set(encode(Reading{Version: Version, Clock: 4, At: 3}))
	await(t, f, "answering again", func(r Reading, _ time.Duration,
		missing string) bool {
		return missing == "" && r.Clock == 4
	})
	s.Close()
	_, reason := await(t, f, "gone", func(_ Reading, age time.Duration,
		missing string) bool {
		return missing != "" && age > 0
	})
	if !strings.Contains(reason, "refused") && !strings.Contains(reason, "EOF") && !strings.Contains(reason, "reset") {
		t.Error(reason)
	}
}

// A late answer is accepted all the same. Only the next question waits for it.
func TestALateAnswerIsHeard(t *testing.T) {
	var asked atomic.Int64
	m := &nodeStandIn{answer: func(w http.ResponseWriter) {
		asked.Add(1)
		time.Sleep(askTimeout / 2)
		encode(Reading{Version: Version, Clock: time.Duration(asked.Load()), At: 1})(w)
	}}
	s := httptest.NewServer(m)
	defer s.Close()
	f := follow(t, s.Listener.Addr().String())
	if _, _, missing := f.Newest(); !strings.HasSuffix(missing, "it has not answered yet") {
		t.Errorf("who asked waited, missing %q", missing)
	}
	await(t, f, "heard twice", func(r Reading, _ time.Duration,
		missing string) bool {
		return missing == "" && r.Clock == 2
	})
}

// An answer has only the vital signs whose types the question names, as each costs the machine something.
func TestVitalSignsAreToldToWhoAsksForThem(t *testing.T) {
	var wanted atomic.Pointer[[]string]
	wanted.Store(&[]string{})
	f := Follow(t.Context(), serve(t, &Server{}), credential.Key{}, func() []string { return *wanted.Load() })
	t.Cleanup(f.Close)
	if first, _ := await(t, f, "answered", answers); len(first.Signs) != 0 {
		t.Errorf("nobody asked for %+v", first.Signs)
	}
	wanted.Store(&[]string{signs.Memory, "Tea", signs.Load})
	f.Refresh(t.Context()) // without it the next question is due in an eighth of a second
	r, _, missing := f.Newest()
	if !slices.Equal(r.Asked, *wanted.Load()) {
		t.Errorf("the answer is said to be of a question for %q", r.Asked)
	}
	if missing != "" || len(r.Signs) != 2 || r.Signs[0].Type != signs.Memory || len(r.Signs[0].Values) != 2 ||
		r.Signs[1].Type != signs.Load || r.Signs[0].At > r.Clock {
		t.Errorf("%+v, %q; want memory and load, read before %s", r.Signs, missing, r.Clock)
	}
}
