package launch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

func contains(err error, words string) bool {
	return err != nil && strings.Contains(err.Error(), words)
}

// runWatch runs a watch in the bubble, and records when it stopped the traffic.
func runWatch(t *testing.T, stop func(n int) error) (s *HeartbeatWatch, stops *[]time.Duration, ended *error) {
	t.Helper()
	began := time.Now()
	stops, ended = new([]time.Duration), new(error)
	s = NewHeartbeatWatch(10*time.Second, func(context.Context) error {
		*stops = append(*stops, time.Since(began))
		return stop(len(*stops))
	}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	finished := make(chan struct{})
	go func() { defer close(finished); *ended = s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-finished })
	return s, stops, ended
}

func TestHeartbeatWatch(t *testing.T) {
	fine := func(int) error { return nil }
	t.Run("nothing happens before the first beat", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, stops, _ := runWatch(t, fine)
			time.Sleep(time.Hour)
			synctest.Wait()
			if len(*stops) != 0 {
				t.Errorf("stopped at %v", *stops)
			}
		})
	})
	t.Run("silence after a beat stops, once, until the next beat arms it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, stops, _ := runWatch(t, fine)
			for range 60 {
				s.Record()
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
			s.Record()
			time.Sleep(time.Minute)
			synctest.Wait()
			if want := []time.Duration{69 * time.Second, 130 * time.Second}; !slices.Equal(*stops, want) {
				t.Errorf("stopped at %v, want %v", *stops, want)
			}
		})
	})
	t.Run("a stop that fails is tried again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, stops, ended := runWatch(t, func(n int) error {
				if n < 3 {
					return errors.New("busy")
				}
				return nil
			})
			s.Record()
			time.Sleep(time.Minute)
			synctest.Wait()
			if want := []time.Duration{10 * time.Second, 11 * time.Second, 12 * time.Second}; !slices.Equal(*stops,
				want) || *ended != nil {
				t.Errorf("stopped at %v, want %v; %v", *stops, want, *ended)
			}
		})
	})
	t.Run("one that never works is an error that ends the process", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, stops, ended := runWatch(t, func(int) error { return errors.New("dead") })
			s.Record()
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(*stops) != stopAttempts || !contains(*ended, "can't be stopped") {
				t.Errorf("%d attempts, error %v", len(*stops), *ended)
			}
		})
	})
}

// sending starts traffic on ports for an hour, as a runner would.
func sending(t *testing.T, dial trex.Options, address string, ports ...int) {
	t.Helper()
	client, err := trex.Dial(t.Context(), address, dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for _, port := range ports {
		if err := client.Acquire(t.Context(), port, false); err != nil {
			t.Fatal(err)
		}
		if err := client.AddStreams(t.Context(), port, []stream.Stream{plainStream()}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.StartTraffic(t.Context(), trex.Start{Port: port, Multiplier: trex.PPS(1000),
			Duration: time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStopTraffic(t *testing.T) {
	generator := trextest.NewGenerator(trextest.TwoPorts()...)
	server := trextest.Serve(t, generator)
	sending(t, trex.Options{User: "runner"}, server.Address(), 0)
	if got := generator.Sending(); !slices.Equal(got, []int{0}) {
		t.Fatalf("ports %v send before", got)
	}
	stopped, err := StopTraffic(t.Context(), server.Address(), trex.Options{User: "launcher"})
	if err != nil || !slices.Equal(stopped, []int{0}) {
		t.Errorf("stopped %v, %v", stopped, err)
	}
	if got := generator.Sending(); len(got) > 0 {
		t.Errorf("ports %v still send", got)
	}
	if owner := generator.Owners()[0]; owner != "" {
		t.Errorf("port 0 was left to %q", owner)
	}
	if acquired := server.Calls("acquire"); len(acquired) != 2 || acquired[1].Port() != 0 {
		t.Errorf("acquired %v: a port that doesn't send must be left alone", acquired)
	}
}

// Paused traffic may go on at any time, and a recording is played in a state of its own. Neither is left to the
// next runner.
func TestPortsThatArePausedOrPlayARecordingAreStopped(t *testing.T) {
	for _, state := range []string{"PAUSE", "PCAP_TX"} {
		generator := trextest.NewGenerator(trextest.TwoPorts()...)
		server := trextest.Serve(t, generator)
		server.Script("get_port_status", func(c trextest.Call) (any, error) {
			answer, err := generator.Answer(c)
			if status, ok := answer.(map[string]any); ok && c.Port() == 1 {
				status["state"] = state
			}
			return answer, err
		})
		if stopped, err := StopTraffic(t.Context(), server.Address(), trex.Options{User: "launcher"}); err != nil ||
			!slices.Equal(stopped, []int{1}) {
			t.Errorf("of port 1 in state %s stopped are %v, %v", state, stopped, err)
		}
	}
}

// A port that can't be stopped keeps no other port sending.
func TestAPortThatRefusesDoesNotKeepOthersSending(t *testing.T) {
	generator := trextest.NewGenerator(trextest.TwoPorts()...)
	server := trextest.Serve(t, generator)
	sending(t, trex.Options{User: "runner"}, server.Address(), 0, 1)
	server.Script("acquire", func(c trextest.Call) (any, error) {
		if c.Port() == 0 {
			return nil, errors.New("not now")
		}
		return generator.Answer(c)
	})
	stopped, err := StopTraffic(t.Context(), server.Address(), trex.Options{User: "launcher"})
	if got := generator.Sending(); err == nil || !slices.Equal(stopped, []int{1}) || !slices.Equal(got, []int{0}) {
		t.Errorf("stopped %v, %v; ports %v still send", stopped, err, got)
	}
}
