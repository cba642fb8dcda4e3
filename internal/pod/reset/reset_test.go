package reset_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod/reset"
)

// serve is a device's address that answers by h.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("POST "+reset.Path, h)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// late is h where the server's own bound for an answer is over, as when a reset took longer.
func late(t *testing.T, h http.Handler) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
		h.ServeHTTP(w, r)
	})
}

func TestADeviceIsResetByWhoHasTheAttemptsKey(t *testing.T) {
	resets, key := 0, credential.New()
	handler := &reset.Handler{Reset: func(context.Context) (string, error) {
		resets++
		return "conntrack -F", nil
	}}
	mux := http.NewServeMux()
	mux.Handle("POST "+reset.Path, late(t, handler))
	s := httptest.NewUnstartedServer(mux)
	address := s.Listener.Addr().String()
	s.Listener = key.Verifier().Listen(s.Listener, credential.Vitals)
	s.Start()
	t.Cleanup(s.Close)
	for name, key := range map[string]credential.Key{"another attempt's": key.Derive("attempt 2"),
		"another run's": credential.New()} {
		if _, err := reset.Ask(t.Context(), address, key); !errors.Is(err, credential.ErrRefused) {
			t.Errorf("%s key: %v", name, err)
		}
	}
	if _, err := reset.Ask(t.Context(), address, credential.Key{}); err == nil {
		t.Error("a client without a key had it reset")
	}
	if resets != 0 {
		t.Errorf("%d resets", resets)
	}
	result, err := reset.Ask(t.Context(), address, key)
	if err != nil || result.Report != "conntrack -F" || result.Took <= 0 || resets != 1 {
		t.Errorf("%+v, %v; %d resets", result, err, resets)
	}
}

func TestWhyAResetFailedIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.Handler
		want    string
	}{
		"the command fails": {&reset.Handler{Reset: func(context.Context) (string,
			error) {
			return "", errors.New("conntrack -F: exit status 1")
		}}, "conntrack -F: exit status 1"},
		"another version": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"version":"linerate.dev/reset.v9"}`)
		}), `it answers in "linerate.dev/reset.v9"`},
		"no JSON": {http.HandlerFunc(func(w http.ResponseWriter,
			_ *http.Request) {
			_, _ = io.WriteString(w, "hello")
		}), "its answer can't be read"},
		"somewhere else":      {http.RedirectHandler("http://192.0.2.1/", http.StatusFound), "it answered 302 Found"},
		"nobody resets there": {http.NotFoundHandler(), "it answered 404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := reset.Ask(t.Context(), serve(t, c.handler), credential.Key{}); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	if _, err := reset.Ask(t.Context(), closed.Listener.Addr().String(), credential.Key{}); err == nil ||
		!strings.Contains(err.Error(), "can the runner's pod reach that port?") {
		t.Error(err)
	}
}

// A device's pod belongs to the test's author. What it answers goes into the Report, and onto a terminal.
func TestWhatADeviceSaysIsBounded(t *testing.T) {
	long := "\x1b[1m" + strings.Repeat("é", 300) + "\n"
	want := "[1m" + strings.Repeat("é", 253) + "…"
	handler := &reset.Handler{Reset: func(context.Context) (string, error) { return long, nil }}
	if result, err := reset.Ask(t.Context(), serve(t, handler), credential.Key{}); err != nil || result.Report != want {
		t.Errorf("%q, %v; want %q", result.Report, err, want)
	}
	handler.Reset = func(context.Context) (string, error) { return "", errors.New(long) }
	if _, err := reset.Ask(t.Context(), serve(t, handler), credential.Key{}); err == nil || err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

func TestOneResetAtATimeAndNoneThatNobodyWaitsFor(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	address := serve(t, &reset.Handler{Reset: func(ctx context.Context) (string, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return "", ctx.Err()
	}})
	ctx, leave := context.WithCancel(t.Context())
	canceled := make(chan error, 1)
	go func() {
		_, err := reset.Ask(ctx, address, credential.Key{})
		canceled <- err
	}()
	<-began
	if _, err := reset.Ask(t.Context(), address, credential.Key{}); err == nil ||
		!strings.Contains(err.Error(), "409 Conflict") {
		t.Errorf("a second one: %v", err)
	}
	leave()
	<-ended
	if err := <-canceled; err == nil {
		t.Error("it was told that the device is reset")
	}
}
