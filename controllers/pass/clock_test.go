package pass

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

// The manager's node is off by hours, or agrees with the server to the second. Tests have the server's times
// all the same.
func TestTheClockIsTheServers(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 400e6, time.UTC)
	for _, off := range []time.Duration{0, 300 * time.Millisecond, -300 * time.Millisecond, 40 * time.Second,
		-6 * time.Minute, 24 * time.Hour} {
		for _, took := range []time.Duration{0, 20 * time.Millisecond, 900 * time.Millisecond} {
			server := start
			c := &Clock{node: func() time.Time { return server.Add(off) }}
			ask := c.Wrap(asking(func(*http.Request) (*http.Response, error) {
				server = server.Add(took / 2)
				date := server.Format(http.TimeFormat)
				server = server.Add(took - took/2)
				return &http.Response{Header: http.Header{"Date": {date}}}, nil
			}))
			for range 20 {
				if _, err := ask.RoundTrip(nil); err != nil {
					t.Fatal(err)
				}
				server = server.Add(137 * time.Millisecond)
			}
			if wrong := c.Now().Sub(server).Abs(); wrong > time.Second+took {
				t.Errorf("a node that is %s ahead, and asks for %s: wrong by %s", off, took, wrong)
			}
			if off.Abs() < time.Second/2 && took == 0 && c.ahead.Abs() > time.Second/2 {
				t.Errorf("a node that is %s ahead is corrected by %s", off, c.ahead)
			}
		}
	}
}

func TestTheClockIsSetByNothingElse(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := &Clock{node: func() time.Time { return now }}
	wrong := now.Add(time.Hour).Format(http.TimeFormat)
	for name, answer := range map[string]asking{
		"an error":                 func(*http.Request) (*http.Response, error) { return nil, errors.New("no") },
		"an answer without a date": func(*http.Request) (*http.Response, error) { return &http.Response{}, nil },
		"a date that is none": func(*http.Request) (*http.Response, error) {
			return &http.Response{Header: http.Header{"Date": {"noon"}}}, nil
		},
		"an answer after a long time": func(*http.Request) (*http.Response, error) {
			now = now.Add(time.Minute)
			return &http.Response{Header: http.Header{"Date": {wrong}}}, nil
		},
		"a clock that was set back": func(*http.Request) (*http.Response, error) {
			now = now.Add(-time.Minute)
			return &http.Response{Header: http.Header{"Date": {wrong}}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _ = c.Wrap(answer).RoundTrip(nil)
			if c.ahead != 0 {
				t.Errorf("it is set by %s", c.ahead)
			}
		})
	}
	if got := (&Clock{}).Now(); time.Since(got).Abs() > time.Minute {
		t.Errorf("the zero clock says %s", got)
	}
}
