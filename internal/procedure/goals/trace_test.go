package goals_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/procedure/goals"
)

// A trace is a search by the library MLRsearch 1.2.1: what it was asked for, what it tried and saw, what it
// concluded. testdata/record.py writes them.
type trace struct {
	MinLoad, MaxLoad float64
	Goals            []struct{ LossRatio, ExceedRatio, Width, InitialTrial, FinalTrial, DurationSum float64 }
	Trials           [][4]float64 // load, duration, duration with overheads, loss ratio
	Results          []struct {
		Lower, Upper          *goals.Bound
		ConditionalThroughput float64
	}
}

func TestTheSameTrialsAsTheLibrary(t *testing.T) {
	files, err := filepath.Glob("testdata/traces/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d traces are recorded: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			recorded := read(t, file)
			settings, trials := recorded.settings(), []goals.Trial{}
			settings.Search(func(ask goals.Ask) (goals.Trial, bool) {
				if len(trials) == len(recorded.Trials) {
					t.Fatalf("the library ends after %d trials, and this goes on with %+v", len(trials), ask)
				}
				want := recorded.Trials[len(trials)]
				if !nearlyEqual(ask.Load, want[0]) || !nearlyEqual(ask.Duration.Seconds(), want[1]) {
					t.Fatalf("trial %d: %+v, but the library asks for %.12g for %.12g s", len(trials), ask, want[0],
						want[1])
				}
				trial := goals.Trial{Load: ask.Load, Duration: ask.Duration, Took: seconds(want[2]), LossRatio: want[3]}
				trials = append(trials, trial)
				return trial, true
			})
			if len(trials) != len(recorded.Trials) {
				t.Fatalf("the search ends after %d trials, and the library after %d", len(trials), len(recorded.Trials))
			}
			for i, got := range settings.Conclude(trials) {
				want := recorded.Results[i]
				if !sameBound(got.Lower, want.Lower) || !sameBound(got.Upper, want.Upper) ||
					!nearlyEqual(got.ConditionalThroughput, want.ConditionalThroughput) {
					t.Errorf("goal %d: %+v, and the library concludes %+v", i, got, want)
				}
			}
		})
	}
}

func read(t *testing.T, file string) (recorded trace) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &recorded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

func (r trace) settings() goals.Settings {
	s := goals.Settings{Classification: goals.RFC9971, MinLoad: r.MinLoad, MaxLoad: r.MaxLoad, MaxTime: 24 * time.Hour}
	for _, g := range r.Goals {
		s.Goals = append(s.Goals, goals.Goal{LossRatio: g.LossRatio, ExceedRatio: g.ExceedRatio, Width: g.Width,
			InitialTrial: seconds(g.InitialTrial), FinalTrial: seconds(g.FinalTrial),
			DurationSum: seconds(g.DurationSum)})
	}
	return s
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

func nearlyEqual(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func sameBound(a, b *goals.Bound) bool {
	if a == nil || b == nil {
		return a == b
	}
	return nearlyEqual(a.Load, b.Load) && slices.Equal(a.Trials, b.Trials)
}
