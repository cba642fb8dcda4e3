// Bench-operator shows what the operator costs a cluster and how fast it is, with many LoadTests at once: a
// real kube-apiserver and etcd, the manager's own program under its own ClusterRole, the runner's own way of
// writing Progress and Report, Kubernetes' own Job controller and garbage collector. Only the scheduler, the
// kubelets, Multus and the traffic are played, by this process.
//
//	go run ./hack/bench-operator                          1000 LoadTests of a minute, two a second; about twelve minutes
//	go run ./hack/bench-operator -tests 30 -duration 20s  a quick look
//	go run ./hack/bench-operator -markdown docs/measured/scale.md     the page's table, too
//	go run ./hack/bench-operator -scarce 50 -rate 25 -duration 10s -yardstick=false   devices for 50: which tests wait, and whether devices are idle
//	go run ./hack/bench-operator -scarce 100 -gather -tests 1100 -rate 10 -yardstick=false   1000 wait at once
//	go run ./hack/bench-operator -suite -scarce 50 -duration 10s -yardstick=false     one LoadTestSuite of 1000 cells
//
//	bench ── applies ─▶ kube-apiserver, etcd ◀── manager            what is measured
//	  ├─ scheduler, kubelets, Multus ─▶ │  ▲  ◀── kube-controller-manager
//	  └─ runners: the real sinks ───────┘  └── the audit log: who asked for what
//
// The yardstick is as many plain Jobs of one pod each, in the same cluster, before. It ends with an error if a
// target is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/linerate-dev/linerate/test/api/operator/kube"
	"github.com/linerate-dev/linerate/test/pages/published"
)

// options are the flags.
type options struct {
	tests    int
	duration time.Duration
	rate     float64
	jobRate  float64
	timeout  time.Duration
	keep     string

	scarce    int
	gather    bool
	suite     bool
	parallel  int
	yardstick bool
	profile   bool
	markdown  string
}

func main() {
	kube.Become()
	runtime.LockOSThread() // what this process started ends with the thread that started it
	var o options
	flag.IntVar(&o.tests, "tests", 1000, "how many LoadTests, and how many Jobs")
	flag.DurationVar(&o.duration, "duration", time.Minute, "how long each runs, about")
	flag.Float64Var(&o.rate, "rate", 2, "how many LoadTests are applied in a second")
	flag.Float64Var(&o.jobRate, "job-rate", 10, "how many Jobs are applied in a second")
	flag.DurationVar(&o.timeout, "timeout", 20*time.Minute, "when to give up")
	flag.StringVar(&o.keep, "keep", "", "keep the programs, logs and metrics in this directory")
	flag.IntVar(&o.scarce, "scarce", 0, "have devices for so many LoadTests at once only, so that the others wait in line; 0: for all")
	flag.BoolVar(&o.gather, "gather", false, "have the first LoadTests hold all devices until all others wait in line: needs -scarce")
	flag.BoolVar(&o.suite, "suite", false, "have one LoadTestSuite make the LoadTests, a cell each: a multiple of 100")
	flag.IntVar(&o.parallel, "parallel", 100, "how many tests of the suite are under way at once: its parallelism")
	flag.BoolVar(&o.yardstick, "yardstick", true, "carry as many plain Jobs before")
	flag.BoolVar(&o.profile, "profile", false,
		"keep CPU profiles of 30 s of the API server and the manager (go tool pprof) with the logs, and the manager's memory profile at the end: needs -keep")
	flag.StringVar(&o.markdown, "markdown", "",
		"write what was measured into its part of this page, too: docs/measured/scale.md")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-operator:", err)
		os.Exit(1)
	}
}

// check says what is wrong with the flags.
func (o options) check() error {
	switch {
	case o.tests < 1 || o.duration < 10*time.Second || o.rate <= 0 || o.jobRate <= 0 || o.scarce < 0 ||
		o.scarce > nodeCount:
		return fmt.Errorf("-tests %d -duration %s -rate %g -job-rate %g: at least one test, of 10 s, at some rate is needed", o.tests, o.duration, o.rate, o.jobRate)
	case o.gather && (o.scarce == 0 || o.scarce >= o.tests):
		return errors.New("-gather needs -scarce, for fewer than there are -tests")
	case o.suite && (o.tests%cellsOfRow != 0 || o.gather || o.parallel < 1):
		return fmt.Errorf("-suite needs -tests to be a multiple of %d, -parallel to be 1 at least, and no -gather",
			cellsOfRow)
	}
	return nil
}

// part is the part of the page that a run of this kind writes.
func (o options) part() string {
	switch {
	case o.suite:
		return "suite"
	case o.gather:
		return "gather"
	case o.scarce > 0:
		return "scarce"
	}
	return "tests"
}

// errMissed is how a run ends that measured everything and found too much.
var errMissed = errors.New("a target is missed")

// run measures all, prints what came out, and says whether it is good enough.
func run(ctx context.Context, o options) error {
	ctrl.SetLogger(logr.Discard()) // errors come back as values
	if err := o.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done after %s", o.timeout))
	defer cancel()
	results, err := measure(ctx, o)
	if err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	if _, err := io.WriteString(os.Stdout, results.text()); err != nil {
		return err
	}
	if o.markdown != "" {
		if err := published.Section(o.markdown, o.part(), published.Provenance(time.Now())+".\n\n"+
			results.text()); err != nil {
			return err
		}
	}
	if results.missed() {
		return errMissed
	}
	return nil
}
