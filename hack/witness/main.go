// Command witness runs go test, and watches the machine meanwhile.
//
//	go run ./hack/witness [-rows TestA,TestB] -- -count=1 -timeout 30m ./test/realpackets
//
// A test that measures needs its processors when it needs them. A virtual machine may lose them to its neighbours for seconds, and then a generator
// sends late, a device forwards late, and a test that knows the answer fails, rightly, with nothing at fault that is here. So that both can be told from
// each other, and neither from memory:
//
//	go test ──▶ events ──▶ what failed, and from when to when ──┐
//	                                                             ├──▶ stands, or is played again (see judge)
//	beats, stolen time ──▶ what the machine took in each second ┘
//
// What fails on a calm machine has failed. What fails while the machine took processors away is played again, at most three times, when it is calm; all of it
// is printed. The witness measures nothing of linerate's, and knows nothing of it: a fault of ours doesn't make it say that the machine was busy. Panics,
// data races, and what doesn't compile are never played again.
//
// While it watches, processors don't sleep where it may ask for that (internal/awake): one that does is lent to the neighbours, and most of what is taken
// is taken then.
//
// Everything after -- are arguments of go test, packages last, each beginning with "./". -rows names tests whose subtests can be played without each other.
// Output and exit code are those of go test (0 passed, 1 failed), 2 is for wrong usage.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/linerate-dev/linerate/internal/awake"
)

func main() {
	rows := flag.String("rows", "", "tests whose subtests can be played without each other, with commas between them")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/witness [-rows TestA,TestB] -- ARGUMENTS of go test, packages last, as ./test/realpackets")
		flag.PrintDefaults()
	}
	flag.Parse()
	options, packages := splitArguments(flag.Args())
	if len(packages) == 0 {
		fmt.Fprintf(os.Stderr, "witness: there is no package among %q: name them last, each beginning with ./\n", flag.Args())
		os.Exit(2)
	}
	// An interrupt goes to the tests, too, which clean up: their end is waited for, and nothing is played again.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	w, err := watch(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "witness:", err)
		os.Exit(1)
	}
	request, err := awake.Keep()
	if err != nil {
		fmt.Fprintln(os.Stdout, "witness: more of this machine will be taken than need be:", err)
	}
	defer func() { _ = request.Close() }()
	p := play{ended: func() bool { return ctx.Err() != nil }, options: options, rows: strings.Split(*rows, ","), run: goTest, took: w.between, calm: w.awaitCalm, out: os.Stdout}
	passed := p.all(packages)
	fmt.Fprintf(os.Stdout, "witness: all in all, %s\n", w.whole())
	if !passed {
		os.Exit(1) // which ends the request, too
	}
}

// splitArguments tells go test's packages from what comes before them.
func splitArguments(arguments []string) (options, packages []string) {
	for i, a := range arguments {
		if strings.HasPrefix(a, "./") {
			return arguments[:i], arguments[i:]
		}
	}
	return arguments, nil
}
