// Bench compares the software engine with other packet senders on the same machine, in one run: the same veths, the same Linux
// forwarder, the same 64-byte frames. What counts is what comes back after the forwarder, read from the receiving interface's own
// counters, the same for all.
//
//	go run ./hack/bench        (as root; two network namespaces that vanish with the process)
//
// Contenders take turns, and the median of their turns is reported, so that a slow moment of a shared machine hits all alike.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/linerate-dev/linerate/test/published"
)

// options are the flags; the defaults take less than three minutes.
type options struct {
	rounds   int
	window   time.Duration
	pacing   time.Duration
	markdown string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 5, "turns of each contender")
	flag.DurationVar(&o.window, "window", 1500*time.Millisecond, "length of a turn's measurement")
	flag.DurationVar(&o.pacing, "pacing", 20*time.Second, "how long the pace is watched at 80 % of capacity")
	flag.StringVar(&o.markdown, "markdown", "", "write the tables as Markdown to this file too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures all and prints what came out.
func run(ctx context.Context, o options) error {
	if err := ready(); err != nil {
		return err
	}
	measured := "\n" + published.Provenance(time.Now()) + ".\n"
	results, err := measureAll(ctx, o)
	if err != nil {
		return err
	}
	if err := print(os.Stdout, results.text()+measured); err != nil || o.markdown == "" {
		return err
	}
	return os.WriteFile(o.markdown, []byte(results.markdown()+measured), 0o644) // a document for anyone to read
}

func print(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// ready checks what a run needs.
func ready() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("must be root, for network namespaces and eBPF: sudo -E go run ./hack/bench")
	}
	for tool, debian := range map[string]string{"trafgen": "netsniff-ng", "hping3": "hping3"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s isn't installed: apt-get install %s", tool, debian)
		}
	}
	return nil
}
