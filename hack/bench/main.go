// Bench compares the software engine with other packet senders on the same machine, in one run: the same veths,
// the same device, the same frames, and one sink for all, which counts what arrives. Contenders take turns,
// forwards and backwards, and the median of their turns is reported with the least and the most, so that a slow
// moment of a shared machine hits all alike. Then it watches how evenly the engine sends: the rate of each
// second, and when each single frame arrives.
//
//	go run ./hack/bench                             the main comparisons, 5 minutes (as root; network namespaces that vanish with the process)
//	go run ./hack/bench -all                        all axes: sizes, flows, both ways, costs, and 100 s of pace at each load, an hour
//	go run ./hack/bench -all -paced live -only "64-byte frames, 254 flows, one way, into a sink"     the pace and bursts of live frames alone, and through nothing, 7 minutes
//	go run ./hack/bench -markdown docs/measured/speed.md     the page's tables, too
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/test/pages/published"
)

// options are the flags; the defaults take five minutes.
type options struct {
	allScenes bool
	pattern   string
	paced     string
	rounds    int
	window    time.Duration
	pacing    time.Duration // how long each pace is watched
	recording time.Duration // for how long arrivals are recorded
	shares    []float64     // of what a sender reached, at which its pace and its bursts are watched
	trex      string
	markdown  string
}

func main() {
	o := options{shares: []float64{0.8}}
	flag.BoolVar(&o.allScenes, "all", false, "all axes, and 100 s of pace at 20, 50 and 80 % (an hour)")
	flag.StringVar(&o.pattern, "only", "", "only the tables whose titles contain this; pace and bursts are of the tables of 64-byte frames, 254 flows, one way, that are among them")
	flag.StringVar(&o.paced, "paced", "", "the pace and bursts only of our senders whose names contain this")
	flag.IntVar(&o.rounds, "rounds", 4, "turns of each contender; an even number")
	flag.DurationVar(&o.window, "window", 800*time.Millisecond, "length of a turn's measurement")
	flag.DurationVar(&o.pacing, "pacing", 0, "how long each pace is watched, whole seconds; 0: 10, and 100 with -all")
	flag.DurationVar(&o.recording, "recording", 0, "for how long arrivals are recorded; 0: 4 s, and 20 s with -all")
	flag.StringVar(&o.trex, "trex", "", "folder of a TRex that takes part")
	flag.StringVar(&o.markdown, "markdown", "", "write the tables into this page, between its marks, too")
	flag.Parse()
	pacing, recording := 10*time.Second, 4*time.Second
	if o.allScenes {
		pacing, recording, o.shares = 100*time.Second, 20*time.Second, []float64{0.2, 0.5, 0.8}
	}
	o.pacing, o.recording = cmp.Or(o.pacing, pacing), cmp.Or(o.recording, recording)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures everything, and prints the tables. It returns an error if a row of linerate's own failed.
func run(ctx context.Context, o options) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("must be root, for network namespaces and eBPF: sudo -E go run ./hack/bench")
	}
	if o.rounds < 2 || o.rounds%2 != 0 {
		return fmt.Errorf("-rounds %d: use an even number, as turns go forwards and backwards", o.rounds)
	}
	request, err := machine.KeepAwake() // as linerate run does
	if err != nil {
		fmt.Fprintln(os.Stderr, "what is measured may be late:", err)
	}
	defer request.Close() //nolint:errcheck // the process ends here
	measured := published.Provenance(time.Now()) + ".\n"
	r, err := measure(ctx, o)
	if err != nil {
		return err
	}
	measured += r.disturbed()
	if _, err := io.WriteString(os.Stdout, r.text()+"\n"+measured); err != nil {
		return err
	}
	if o.markdown != "" {
		if err := published.Section(o.markdown, "bench", measured+"\n"+r.markdown()); err != nil {
			return err
		}
	}
	if failed := r.failures(); len(failed) > 0 {
		return fmt.Errorf("the engine failed: %s", strings.Join(failed, "; "))
	}
	return nil
}

func measure(ctx context.Context, o options) (r results, err error) {
	directory, err := os.MkdirTemp("", "linerate-bench")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(directory) //nolint:errcheck // a temporary directory
	for _, s := range scenes(takePart(directory, o.trex), o.allScenes) {
		if !strings.Contains(s.title, o.pattern) {
			continue
		}
		fmt.Fprintln(os.Stderr, s.title)
		outcomes, err := compete(ctx, o, s)
		if err != nil {
			return r, fmt.Errorf("%s: %w", s.title, err)
		}
		r.scenes, r.outcomes = append(r.scenes, s), append(r.outcomes, outcomes)
	}
	return r, r.watch(ctx, o)
}

// watch has our senders keep shares of what they reached with the base load, through each device that they had
// it through.
func (r *results) watch(ctx context.Context, o options) error {
	for i, s := range r.scenes {
		if s.title != words(s.dut, base()) {
			continue
		}
		reachedBy := reached{s.dut, r.outcomes[i]}
		paces, err := watchPace(ctx, o, reachedBy)
		if err != nil {
			return err
		}
		bursts, err := watchBursts(ctx, o, reachedBy, len(r.bursts) == 0)
		if err != nil {
			return err
		}
		r.pace, r.bursts = append(r.pace, paces...), append(r.bursts, bursts...)
	}
	return nil
}
