//go:build trex

package realtrex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

var (
	limitCommand   = flag.String("limit", "", "shell command that makes the device drop, in each direction, what is above {pps} packets/s once {burst} packets that it saved up have passed")
	counterCommand = flag.String("counters", "", "shell command that prints how many frames the device's port at TRex's port 0 has received and sent, and on the next line the same of the one at port 1")
	most           = flag.Int64("most", 10_000, "the highest limit that is drawn, in packets/s and direction; the lowest is four tenths of it")
	lineRate       = flag.String("line-rate", "", "the ports' line rate where they have no speed of their own; kernel interfaces of -trex-root have 1gbps")
	given          = flag.Int64("at", 0, "the limit to set, instead of one that is drawn")
)

// bench is a TRex with a device between its ports 0 and 1.
type bench struct {
	server string
	space  *netif.Namespace // where programs reach the server; nil: where the test is
	device device
	// forwarding is what a LoadTest says of the device.
	forwarding string
	// delay is for how long the device is known to hold each frame. 0: unknown.
	delay time.Duration
}

// device is what a TRex sends through. Whoever measures isn't told its limit.
type device interface {
	// limit makes the device drop what is above so many packets/s in each direction. What it doesn't forward it saves up for so long, if it can be told to.
	limit(t *testing.T, packetsPerSecond int64, saves time.Duration)
	// saves says whether it saves up just as limit asks.
	saves() bool
	// count has the counters of the ports at TRex's ports; false: they can't be read.
	count(t *testing.T) ([ports]counters, bool)
}

// counters are the frames that a port of the device received and sent.
type counters struct{ received, sent int64 }

// commanded is a device that is limited and read by the caller's commands.
type commanded struct{}

func (commanded) limit(t *testing.T, packetsPerSecond int64, saves time.Duration) {
	t.Helper()
	shell(t, strings.NewReplacer("{pps}", fmt.Sprint(packetsPerSecond), "{burst}", fmt.Sprint(bucket(packetsPerSecond, saves))).Replace(*limitCommand))
}

// bucket is how many packets are saved up.
func bucket(packetsPerSecond int64, saves time.Duration) int64 {
	return max(1, packetsPerSecond*int64(saves)/int64(time.Second))
}

func (commanded) saves() bool { return strings.Contains(*limitCommand, "{burst}") }

func (commanded) count(t *testing.T) (all [ports]counters, known bool) {
	t.Helper()
	if *counterCommand == "" {
		return all, false
	}
	numbers := strings.Fields(shell(t, *counterCommand))
	if len(numbers) != 2*ports {
		t.Fatalf("-counters printed %q, want received and sent of two ports", numbers)
	}
	for i, to := range []*int64{&all[0].received, &all[0].sent, &all[1].received, &all[1].sent} {
		var err error
		*to, err = strconv.ParseInt(numbers[i], 10, 64)
		must(t, err)
	}
	return all, true
}

func shell(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

// newBench is the TRex and the device that the flags name. A device of the test's own holds each frame for the delay.
func newBench(t *testing.T, delay time.Duration) *bench {
	t.Helper()
	if *root != "" {
		*lineRate = cmp.Or(*lineRate, "1gbps")
		return ownBench(t, delay)
	}
	if *server == "" || *limitCommand == "" {
		t.Fatal("either -server and -limit are missing, the address of a TRex that runs and the shell command that limits its device; or -trex-root, the folder of a TRex to start")
	}
	return &bench{server: *server, device: commanded{}, forwarding: "L3"}
}

// command is linerate, started where it reaches the server.
func (b *bench) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), *program, args...)
}

// run runs linerate to its end.
func (b *bench) run(t *testing.T, args ...string) (code int, out []byte, talk string) {
	t.Helper()
	cmd := b.command(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must(t, b.space.Do(cmd.Start))
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.String()
}

// dial greets the bench's server.
func (b *bench) dial(ctx context.Context, o trex.Options) (*trex.Client, error) {
	o.Timeout = 10 * time.Second
	o.Dial = func(ctx context.Context, address string) (conn net.Conn, err error) {
		err = b.space.Do(func() error {
			conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
			return err
		})
		return conn, err
	}
	return trex.Dial(ctx, b.server, o)
}

// silence takes the ports from whoever had them, and leaves them idle.
func (b *bench) silence(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	c, err := b.dial(ctx, trex.Options{User: "realtrex"})
	must(t, err)
	defer func() { _ = c.Close() }()
	for port := range ports {
		must(t, c.Acquire(ctx, port, true))
		must(t, errors.Join(c.Reset(ctx, port), c.RemoveCaptures(ctx, port), c.SetService(ctx, port, false), c.Release(ctx, port)))
	}
}
