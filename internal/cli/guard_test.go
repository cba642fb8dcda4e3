package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// A run's guard stops its traffic when the run is gone without a word, and nothing of others: neither does a
// run that has ended by itself need it.
func TestAGuardStopsTheTrafficOfARunThatDied(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		stolen  bool
		sends   []int
		owners  map[int]string
	}{
		"":                               {owners: map[int]string{0: "", 1: ""}},
		"and whose last line was cut":    {message: "do", owners: map[int]string{0: "", 1: ""}},
		"and had lost a port to another": {stolen: true, sends: []int{1}, owners: map[int]string{0: "", 1: "eve"}},
		"not of one that ended": {message: guardDone + "\n", sends: []int{0, 1},
			owners: map[int]string{0: trex.DefaultUser, 1: trex.DefaultUser}},
	} {
		t.Run(name, func(t *testing.T) {
			g := trextest.NewGenerator(trextest.TwoPorts()...)
			server := trextest.Serve(t, g)
			run, err := trex.Dial(t.Context(), server.Address(), trex.Options{Session: 77})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = run.Close() })
			udp := stream.Stream{Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
				Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}},
				Packet: stream.Packet{Binary: make([]byte, 60)}}
			for port := range 2 {
				for _, err := range []error{run.Acquire(t.Context(), port, false), run.AddStreams(t.Context(), port,
					[]stream.Stream{udp})} {
					if err != nil {
						t.Fatal(err)
					}
				}
				if _, err := run.StartTraffic(t.Context(), trex.Start{Port: port, Multiplier: trex.PPS(1000),
					Duration: time.Hour}); err != nil {
					t.Fatal(err)
				}
			}
			if c.stolen {
				g.Steal(1, "eve")
			}
			reader, writer := io.Pipe()
			go func() {
				text, _ := credential.Key{}.MarshalText()
				_, _ = fmt.Fprintf(writer, "%s\n%s", text, c.message)
				_ = writer.Close()
			}()
			stop := func(ctx context.Context, key credential.Key) error {
				return stopSession(ctx, server.Address(), key, 77, 2)
			}
			if err := standGuard(t.Context(), reader, stop); err != nil {
				t.Fatal(err)
			}
			if sends := g.Sending(); !slices.Equal(sends, c.sends) {
				t.Errorf("ports %v send, want %v", sends, c.sends)
			}
			for port, owner := range g.Owners() {
				if owner != c.owners[port] {
					t.Errorf("port %d is owned by %q, want %q", port, owner, c.owners[port])
				}
			}
		})
	}
}

func TestAGuardGivesUpAServerThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		silent := func(ctx context.Context, _ credential.Key) error {
			ctx, cancel := context.WithTimeout(ctx, guardStops)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		}
		err := standGuard(t.Context(), strings.NewReader(strings.Repeat("A", 43)+"\n"), silent)
		if took := time.Since(start); err == nil || took < 9*time.Minute || took > 10*time.Minute {
			t.Errorf("after %v it said %v", took, err)
		}
	})
}
