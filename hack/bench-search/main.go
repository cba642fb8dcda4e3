// Bench-search compares our searches with the library MLRsearch, on simulated devices of which the truth is known: how long searches take, how far off their bounds are, and how often these are wrong.
// The devices exist once, here; the library runs in a Python of its own, which the program installs into the user's cache.
//
//	go run ./hack/bench-search -seeds 50                          a first look
//	go run ./hack/bench-search -markdown docs/search-bench.md     the page's tables, too
//	go run ./hack/bench-search -packets 2                         real packets through a limited forwarder, as root
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/linerate-dev/linerate/internal/goals"
	"github.com/linerate-dev/linerate/test/published"
)

// options are the flags.
type options struct {
	seeds    int
	only     string
	library  bool
	packets  int
	markdown string
}

func main() {
	var o options
	flag.IntVar(&o.seeds, "seeds", 2000, "searches of each device for each set of goals; all who search have the same devices")
	flag.StringVar(&o.only, "only", "", "only devices and sets of goals whose names, as \"goals/device\", contain this")
	flag.BoolVar(&o.library, "library", true, "also search with the library")
	flag.IntVar(&o.packets, "packets", 0, "search with real packets instead, so many devices (as root); each takes four minutes")
	flag.StringVar(&o.markdown, "markdown", "", "write the tables into this page, between its marks, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := run
	if o.packets > 0 {
		do = runPackets
	}
	if err := do(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-search:", err)
		os.Exit(1)
	}
}

var errorsJoin = errors.Join

var never = math.Inf(1)

// A bracket is the two bounds that a search found for a goal, in frames/s; 0: there is none.
type bracket struct{ lower, upper float64 }

// A set is goals that are searched for together.
type set struct {
	name  string
	goals []goals.Goal
}

var sets = []set{
	{"1 s", []goals.Goal{trials("NDR", 0, 0.5, 1, 21), trials("PDR", 0.005, 0.5, 1, 21)}},
	{"60 s", []goals.Goal{trials("NDR", 0, 0.5, 60, 120), trials("PDR", 0.005, 0.5, 60, 120)}},
	{"TST009", []goals.Goal{trials("NDR", 0, 0.5, 60, 120)}},
	{"RFC2544", []goals.Goal{trials("NDR", 0, 0, 60, 60)}},
}

func trials(name string, loss, exceed, final, sum float64) goals.Goal {
	return goals.Goal{Name: name, LossRatio: loss, ExceedRatio: exceed, Width: 0.005, InitialTrial: time.Second, FinalTrial: seconds(final), DurationSum: seconds(sum)}
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// searcher is who searches: it has a lab, and returns a bracket for each goal.
type searcher struct {
	name   string
	search func(goals.Settings, *lab) ([]bracket, error)
}

func run(ctx context.Context, o options) error {
	searchers := []searcher{{"RFC9971", ours(goals.RFC9971)}, {"Sequential", ours(goals.Sequential)}}
	if o.library {
		library, err := openLibrary(ctx)
		if err != nil {
			return err
		}
		defer library.close() //nolint:errcheck // all its answers are in
		searchers = append([]searcher{{"MLRsearch", library.search}}, searchers...)
	}
	var cells []cell
	for _, set := range sets {
		for _, device := range devices {
			if name := set.name + "/" + device.name; !strings.Contains(name, o.only) {
				continue
			}
			c, err := measure(ctx, set, device, searchers, o.seeds)
			if err != nil {
				return err
			}
			fmt.Print(c.text())
			cells = append(cells, c)
		}
	}
	fmt.Print(summary(cells))
	if o.markdown == "" {
		return nil
	}
	return published.Section(o.markdown, "bench-search", markdown(cells, o.seeds))
}

// The loads that searches may try, in frames/s: up to 10 Gbit/s of the smallest frames.
const minLoad, maxLoad = 1e5, 14_880_952

// measure has each searcher search the same devices.
func measure(ctx context.Context, set set, device device, searchers []searcher, seeds int) (cell, error) {
	c := newCell(set, device, searchers)
	for seed := range seeds {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		capacity := nominal * math.Exp(rand.New(rand.NewPCG(uint64(seed), 2)).Float64()*0.4-0.2)
		for i, s := range searchers {
			lab := newLab(device, capacity, uint64(seed))
			lab.play(maxLoad, 1, never) // the warm-up, for all alike
			found, err := s.search(goals.Settings{Goals: set.goals, MinLoad: minLoad, MaxLoad: maxLoad, MaxTime: 24 * time.Hour}, lab)
			if err != nil {
				return c, fmt.Errorf("%s of %s: %w", s.name, device.name, err)
			}
			c.add(i, lab.clock, capacity, found)
		}
	}
	return c, nil
}

// ours is a search by this repository's rules.
func ours(classification goals.Classification) func(goals.Settings, *lab) ([]bracket, error) {
	return func(settings goals.Settings, lab *lab) (found []bracket, err error) {
		settings.Classification = classification
		var so []goals.Trial
		for {
			ask, done := settings.Next(so)
			if done {
				break
			}
			stopAbove := never
			if ask.StopAbove != nil {
				stopAbove = *ask.StopAbove
			}
			sent, lost, stopped := lab.play(ask.Load, ask.Duration.Seconds(), stopAbove)
			so = append(so, goals.Trial{Load: ask.Load, Duration: ask.Duration, Took: ask.Duration + seconds(overhead), LossRatio: float64(lost) / float64(sent), Stopped: stopped})
		}
		for _, r := range settings.Conclude(so) {
			if r.Irregular == goals.Unfinished {
				return nil, fmt.Errorf("unfinished after %d trials: %+v", len(so), r)
			}
			found = append(found, bracket{at(r.Lower), at(r.Upper)})
		}
		return found, nil
	}
}

func at(b *goals.Bound) float64 {
	if b == nil {
		return 0
	}
	return b.Load
}
