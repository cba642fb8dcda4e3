package calm

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhatDisturbs(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds []second
		ranked  bool
		want    bool
		row     string
	}{
		{"nothing taken", make([]second, 60), true, false, "0.0 % stolen, 0 ms late"},
		{"a fifth of one of two processors in one second", []second{{}, {stolen: time.Second / 5}, {}, {}}, true, true,
			"**disturbed**: 2.5 % stolen, 0 ms late"},
		{"as much as that, but over ten seconds", slices.Repeat([]second{{stolen: time.Second / 50}}, 10), true, false,
			"1.0 % stolen, 0 ms late"},
		{"a beat that came late", []second{{}, {latest: 25 * time.Millisecond}}, true, true,
			"**disturbed**: 0.0 % stolen, 25 ms late"},
		{"a beat that came late where others may come first", []second{{}, {latest: 25 * time.Millisecond}}, false,
			false, "0.0 % stolen"},
	} {
		got := sum(c.seconds, 2, c.ranked)
		if got.Disturbed() != c.want || got.Row() != c.row {
			t.Errorf("%s: disturbed is %v and the row %q, want %v and %q", c.name, got.Disturbed(), got.Row(), c.want,
				c.row)
		}
	}
}

func TestTheResultOfARow(t *testing.T) {
	quiet, disturbed, faults := LostTime{realTime: true}, LostTime{worst: 0.3}, []string{"2 % off"}
	for _, c := range []struct {
		lost   LostTime
		faults []string
		want   Outcome
	}{{quiet, nil, Right}, {disturbed, nil, Right}, {quiet, faults, Wrong}, {disturbed, faults, Disturbed}} {
		if got := c.lost.Outcome(c.faults); got != c.want {
			t.Errorf("with %q while %s: %s, want %s", c.faults, c.lost, got, c.want)
		}
	}
}

func TestTheSentence(t *testing.T) {
	got := sum([]second{{stolen: time.Second / 5, latest: 3 * time.Millisecond}, {}, {}, {}}, 2, true).String()
	if want := "the host took 2.5 % of the processors in 4 s, 5.0 % in the worst 2 s, and the machine ran a " +
		"real-time thread up to 3.0 ms late"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (LostTime{}).String(); !strings.Contains(got, "only root can see") {
		t.Errorf("without real-time threads it says %q", got)
	}
}

// TestAWatchHears that each processor beats.
func TestAWatchHears(t *testing.T) {
	w, err := Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); w.Since(w.begin).latest == 0; time.Sleep(beat) {
		if time.Now().After(end) {
			t.Fatal("there was no beat in a minute")
		}
	}
}
