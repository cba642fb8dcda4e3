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

	"github.com/linerate-dev/linerate/internal/reset"
)

// serve is a device's address that answers by h, with bounds as short as those of whoever else answers there.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("POST "+reset.Path, h)
	s := httptest.NewUnstartedServer(mux)
	s.Config.ReadTimeout, s.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestADeviceIsResetByWhoHasTheToken(t *testing.T) {
	resets := 0
	address := serve(t, &reset.Handler{Token: "secret", Reset: func(ctx context.Context) (string, error) {
		select { // longer than the server's own bounds
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(150 * time.Millisecond):
		}
		resets++
		return "conntrack -F", nil
	}})
	done, err := reset.Ask(t.Context(), address, "secret")
	if err != nil || done.Did != "conntrack -F" || done.Took < 150*time.Millisecond || resets != 1 {
		t.Errorf("%+v, %v; %d resets", done, err, resets)
	}
	for _, token := range []string{"", "secre", "secrets"} {
		if _, err := reset.Ask(t.Context(), address, token); err == nil || !strings.Contains(err.Error(), "401 Unauthorized") {
			t.Errorf("token %q: %v", token, err)
		}
	}
	if resets != 1 {
		t.Errorf("%d resets", resets)
	}
}

func TestWithoutATokenNobodyIsServed(t *testing.T) {
	address := serve(t, &reset.Handler{Reset: func(context.Context) (string, error) { t.Error("it was reset"); return "", nil }})
	if _, err := reset.Ask(t.Context(), address, ""); err == nil {
		t.Error("it was served")
	}
}

func TestWhyAResetFailedIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.Handler
		want    string
	}{
		"the command fails": {&reset.Handler{Token: "t", Reset: func(context.Context) (string, error) { return "", errors.New("conntrack -F: exit status 1") }}, "conntrack -F: exit status 1"},
		"another version": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"version":"linerate.dev/reset.v9"}`)
		}), `it answers in "linerate.dev/reset.v9"`},
		"no JSON":             {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }), "its answer can't be read"},
		"somewhere else":      {http.RedirectHandler("http://192.0.2.1/", http.StatusFound), "it answered 302 Found"},
		"nobody resets there": {http.NotFoundHandler(), "it answered 404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := reset.Ask(t.Context(), serve(t, c.handler), "t"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	if _, err := reset.Ask(t.Context(), gone.Listener.Addr().String(), "t"); err == nil || !strings.Contains(err.Error(), "may the runner's pod reach that port?") {
		t.Error(err)
	}
}

func TestOneResetAtATimeAndNoneThatNobodyWaitsFor(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	address := serve(t, &reset.Handler{Token: "t", Reset: func(ctx context.Context) (string, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return "", ctx.Err()
	}})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := reset.Ask(ctx, address, "t")
		left <- err
	}()
	<-began
	if _, err := reset.Ask(t.Context(), address, "t"); err == nil || !strings.Contains(err.Error(), "409 Conflict") {
		t.Errorf("a second one: %v", err)
	}
	leave()
	<-ended
	if err := <-left; err == nil {
		t.Error("it was told that the device is reset")
	}
}
