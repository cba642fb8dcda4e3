// Bench-search compares our searches with the library MLRsearch, on simulated devices of which the truth is
// known: how long searches take, how far off their bounds are, and how often these are wrong. The devices exist
// once, here; the library runs in a Python of its own, which the program installs into the user's cache. It
// plays the first searches of each row, and where it asks and finds there what our RFC9971 does, which the page
// counts, that stands for it in the others.
//
//	go run ./hack/bench-search -seeds 50                          a first look
//	go run ./hack/bench-search -markdown docs/measured/search-bench.md     the page's tables, too
//	go run ./hack/bench-search -packets 2                         real packets through a limited forwarder, as root
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/test/pages/published"
)

// options are the flags.
type options struct {
	seeds    int
	pattern  string
	library  int
	packets  int
	markdown string
}

func main() {
	var o options
	flag.IntVar(&o.seeds, "seeds", 2000, "searches of each device for each set of goals; all who search have the same devices")
	flag.StringVar(&o.pattern, "only", "", "only devices and sets of goals whose names, as \"goals/device\", contain this")
	flag.IntVar(&o.library, "library", 50, "in so many of these searches the library itself, too; it is held to our RFC9971 without early stops, which stands for it in all others")
	flag.IntVar(&o.packets, "packets", 0, "search with real packets instead, so many devices (as root); each takes four minutes")
	flag.StringVar(&o.markdown, "markdown", "", "write the tables into this page, between its marks, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command := run
	if o.packets > 0 {
		command = runPackets
	}
	if err := command(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-search:", err)
		os.Exit(1)
	}
}

var forever = math.Inf(1)

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
	return goals.Goal{Name: name, LossRatio: loss, ExceedRatio: exceed, Width: 0.005, InitialTrial: time.Second,
		FinalTrial: seconds(final), DurationSum: seconds(sum)}
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

func run(ctx context.Context, o options) error {
	libraries := make([]*library, runtime.GOMAXPROCS(0))
	for i := range libraries {
		if o.library == 0 {
			break
		}
		var err error
		if libraries[i], err = openLibrary(ctx); err != nil {
			return err
		}
		defer libraries[i].close() //nolint:errcheck // all its answers are in
	}
	var cells []cell
	truths := truths{}
	for _, set := range sets {
		for _, device := range devices {
			if name := set.name + "/" + device.name; !strings.Contains(name, o.pattern) {
				continue
			}
			c := newCell(set, device, truths)
			if err := c.measure(ctx, o, libraries); err != nil {
				return fmt.Errorf("%s of %s: %w", set.name, device.name, err)
			}
			fmt.Print(c.text())
			cells = append(cells, c)
		}
	}
	fmt.Print(summary(cells))
	if o.markdown == "" {
		return nil
	}
	return published.Section(o.markdown, "bench-search", markdown(cells, o))
}

// measure has all search the same devices, on all processors, each of which has a library of its own.
func (c *cell) measure(ctx context.Context, o options, libraries []*library) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	seeds := make(chan int)
	contests := make([]contest, o.seeds)
	var workers sync.WaitGroup
	for _, library := range libraries {
		workers.Go(func() {
			for seed := range seeds {
				result, err := c.search(uint64(seed))
				if err == nil && seed < o.library {
					result.library, err = c.searchBy(library, result.capacity, uint64(seed))
				}
				if err != nil {
					stop(fmt.Errorf("seed %d: %w", seed, err))
					return
				}
				contests[seed] = result
			}
		})
	}
	for seed := range contests {
		select {
		case seeds <- seed:
		case <-ctx.Done():
		}
	}
	close(seeds)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for _, result := range contests {
		c.add(result)
	}
	return nil
}

// A contest is what all found of one device.
type contest struct {
	capacity float64
	searches [3]search // in the order of searchers
	library  *search   // what the library itself found, where it searched
}

// A search is how long one took, in seconds, how many trials, and what it found for each goal.
type search struct {
	took   float64
	trials int
	found  []bracket
}

// searchers are the searches that are compared. The first is the library, or, once both were shown to be the
// same, linerate's RFC9971 with all trials played to their end.
var searchers = [3]struct {
	name           string
	classification goals.Classification
	stops          bool
}{{"MLRsearch", goals.RFC9971, false}, {"RFC9971", goals.RFC9971, true}, {"Sequential", goals.Sequential, true}}

// settings are the loads that searches may try, in frames/s: up to 10 Gbit/s of the smallest frames.
func (c cell) settings(classification goals.Classification) goals.Settings {
	return goals.Settings{Classification: classification, Goals: c.set.goals, MinLoad: 1e5, MaxLoad: maxLoad,
		MaxTime: 24 * time.Hour}
}

const maxLoad = 14_880_952

// search is what all searchers find of one device.
func (c cell) search(seed uint64) (contest, error) {
	result := contest{capacity: nominal * math.Exp(rand.New(rand.NewPCG(seed, 2)).Float64()*0.4-0.2)}
	for i, s := range searchers {
		lab := warmSearchBench(c.device, result.capacity, seed)
		found, err := ours(c.settings(s.classification), lab, s.stops)
		if err != nil {
			return result, fmt.Errorf("%s: %w", s.name, err)
		}
		result.searches[i] = search{lab.clock, lab.trials, found}
	}
	return result, nil
}

// searchBy is what the library finds of the same device.
func (c cell) searchBy(library *library, capacity float64, seed uint64) (*search, error) {
	lab := warmSearchBench(c.device, capacity, seed)
	found, err := library.search(c.settings(goals.RFC9971), lab)
	return &search{lab.clock, lab.trials, found}, err
}

// warmSearchBench has a device that was offered the maximum for a second, for all alike.
func warmSearchBench(d device, capacity float64, seed uint64) *searchBench {
	lab := newSearchBench(d, capacity, seed)
	lab.play(maxLoad, 1, forever)
	lab.trials = 0
	return lab
}

// ours is a search by linerate's own code.
func ours(settings goals.Settings, lab *searchBench, stops bool) (found []bracket, err error) {
	var measured []goals.Trial
	settings.Search(func(ask goals.Ask) (goals.Trial, bool) {
		stopAbove := forever
		if stops && ask.StopAbove != nil {
			stopAbove = *ask.StopAbove
		}
		sent, lost, stopped := lab.play(ask.Load, ask.Duration.Seconds(), stopAbove)
		measured = append(measured, goals.Trial{Load: ask.Load, Duration: ask.Duration, Took: ask.Duration +
			seconds(overhead), LossRatio: float64(lost) / float64(sent), Stopped: stopped})
		return measured[len(measured)-1], true
	})
	for _, r := range settings.Conclude(measured) {
		if r.Irregular == goals.Unfinished {
			return nil, fmt.Errorf("unfinished after %d trials: %+v", len(measured), r)
		}
		found = append(found, bracket{loadOf(r.Lower), loadOf(r.Upper)})
	}
	return found, nil
}

func loadOf(b *goals.Bound) float64 {
	if b == nil {
		return 0
	}
	return b.Load
}
