//go:build trex

package realtrex

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

var moments = flag.Int("moments", 10, "how often a run is killed that TRex can keep up with, and one that it can't")

// killing is a run that is killed.
type killing struct {
	name string
	// procedure is a LoadTest's, with {rate}; empty: the verb ramp.
	procedure string
}

// killings are of loads that TRex can send, and of all that a line carries, which it can't on kernel interfaces.
var killings = map[string][]killing{
	"calm": {
		{"ramp, the verb", ""},
		{"Ramp", "{ramp: {warmupRate: {low}, warmupDuration: 1s, targetRate: {rate}, rampDuration: 6s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 2s, holdDuration: 2s}}"},
		{"FrameLoss", "{type: FrameLoss, frameLoss: {maxRate: {rate}, to: {low}, step: {low}, warmupDuration: 0s, trialDuration: 2s, cleanTrials: 0}}"},
		{"Search", "{type: Search, search: {maxRate: {rate}, minRate: {low}, warmupDuration: 0s}}"},
	},
	"overloaded": {
		{"ramp, the verb", ""},
		{"Ramp", "{ramp: {warmupRate: {low}, warmupDuration: 1s, targetRate: {rate}, rampDuration: 6s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 2s, holdDuration: 2s}}"},
		{"MaximumOfferedLoad", "{type: MaximumOfferedLoad, maximumOfferedLoad: {rate: {rate}, warmupDuration: 0s, trialDuration: 2s, trials: 5}}"},
		{"Search", "{type: Search, search: {maxRate: {rate}, minRate: {low}, warmupDuration: 0s}}"},
	},
}

// TestKilledRuns: a run that is killed at any moment leaves a TRex behind that sends on, and no longer than the run had last said.
func TestKilledRuns(t *testing.T) {
	watch, err := calm.Begin(t.Context())
	must(t, err)
	for _, load := range []string{"calm", "overloaded"} {
		t.Run(load, func(t *testing.T) {
			for n := range *moments {
				k := killings[load][n%len(killings[load])]
				t.Run(fmt.Sprintf("%d %s", n+1, k.name), func(t *testing.T) {
					begun := time.Now()
					row := k.kill(t, load, n+1)
					row.settle(t, watch.Since(begun))
				})
			}
		})
	}
	publish(t)
}

// kill starts the run, kills it at a moment that is drawn, and waits until TRex sends nothing more.
func (k killing) kill(t *testing.T, load string, number int) *row {
	t.Helper()
	b := newBench(t, 0)
	b.device.limit(t, *most, 10*time.Millisecond)
	b.silence(t)
	cmd := b.command(t, k.arguments(t, b, load)...)
	stderr, err := cmd.StderrPipe()
	must(t, err)
	begun := time.Now()
	must(t, b.space.Do(cmd.Start))
	var talk promises
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			talk.hear(lines.Text())
		}
	}()
	for talk.last() == "" {
		select {
		case <-ended:
			_ = cmd.Wait()
			t.Fatalf("the run ended before it promised anything:\n%s", talk.all())
		case <-time.After(10 * time.Millisecond):
		}
	}
	select {
	case <-ended:
		t.Fatalf("the run ended before it could be killed:\n%s", talk.all())
	case <-time.After(time.Duration(rand.Int64N(int64(8 * time.Second)))):
	}
	must(t, cmd.Process.Kill())
	killed := time.Now()
	<-ended
	_ = cmd.Wait()
	promise, err := promised(talk.last(), killed)
	must(t, err)
	// By the clock that frames still came after, and by the one that they no longer did.
	still, silent, sent := b.awaitSilence(t, promise.Add(20*time.Second))
	t.Logf("the last promise: %s\nkilled at %s, promised %s; still sending at %s, silent by %s", talk.last(), clock(killed), clock(promise), clock(still), clock(silent))
	row := &row{Question: killedName(load), Number: number, Took: time.Since(begun).Round(time.Second).String(),
		Said: fmt.Sprintf("%s, %.1f s after it began; TRex sent %d frames more, until %.1f s later", k.name, killed.Sub(begun).Seconds(), sent, max(0, still.Sub(killed).Seconds())),
		Off:  fmt.Sprintf("%+.1f s", silent.Sub(promise).Seconds())}
	if still.After(promise) {
		row.Faults = []string{fmt.Sprintf("TRex still sent %.1f s after the end that was promised", still.Sub(promise).Seconds())}
		b.silence(t)
	}
	return row
}

func killedName(load string) string { return "killed, TRex " + load }

func clock(at time.Time) string { return at.UTC().Format("15:04:05.000") }

func (k killing) arguments(t *testing.T, b *bench, load string) []string {
	t.Helper()
	if k.procedure == "" {
		line := map[string]string{"calm": fmt.Sprintf("%dbps", int64(float64(*most)/4*imixBits)), "overloaded": cmp.Or(*lineRate, "10gbps")}[load]
		return []string{"ramp", "-v", "-s", b.server, "-p", "imix.py", "-o", filepath.Join(t.TempDir(), "viz.json"), "-wm", rate(0.01), "-wd", "1", "-rt", "100", "-rd", "6", "-hd", "3", "--line-rate", line}
	}
	top, low := rate(0.25), rate(0.01)
	if load == "overloaded" {
		top, low = "100%", "0.1%"
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	procedure := strings.NewReplacer("{rate}", top, "{low}", low).Replace(k.procedure)
	must(t, os.WriteFile(file, b.loadTest(procedure), 0o600))
	return []string{"run", file, "-v", "--save", "", "--force"}
}

// awaitSilence waits until TRex counts nothing more for a second and no port sends: still is the last time at which it surely sent, silent the first at which it had ended, sent how many frames that were.
func (b *bench) awaitSilence(t *testing.T, latest time.Time) (still, silent time.Time, sent int64) {
	t.Helper()
	c, err := b.dial(context.WithoutCancel(t.Context()), trex.Options{User: "watcher"})
	must(t, err)
	defer func() { _ = c.Close() }()
	look := func() (frames int64, sending bool) {
		shot, err := c.Snapshot(t.Context(), []int{0, 1}, trex.Detail{Status: true})
		must(t, err)
		for port := range ports {
			status, err := c.PortStatus(t.Context(), port)
			must(t, err)
			frames, sending = frames+int64(shot.Ports[port].SentPackets), sending || status.State == "TX"
		}
		return frames, sending
	}
	first, _ := look()
	was, before := first, time.Now()
	silent = before
	for time.Since(silent) < time.Second && before.Before(latest) {
		time.Sleep(50 * time.Millisecond)
		asked := time.Now()
		frames, sending := look()
		if frames != was || sending {
			still, silent = before, time.Now()
		}
		was, before = frames, asked
	}
	return still, silent, was - first
}

// promises are what a run says on stderr, as far as it is about the end of the traffic if the run dies.
type promises struct {
	mu    sync.Mutex
	lines []string
}

func (p *promises) hear(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
}

func (p *promises) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// last is the last promise; empty: there was none.
func (p *promises) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.lines) - 1; i >= 0; i-- {
		if _, err := promised(p.lines[i], time.Now()); err == nil {
			return p.lines[i]
		}
	}
	return ""
}

// within is what a run promises of the end of its traffic, whatever ends the run.
var within = regexp.MustCompile(`stop(?:ped|s TRex) within (\S+?)[;,.]`)

// promised is the end of the traffic that the words promise of a run that was killed at that time.
func promised(words string, killed time.Time) (time.Time, error) {
	m := within.FindStringSubmatch(words)
	if m == nil {
		return time.Time{}, fmt.Errorf("no promise of the end of the traffic: %q", words)
	}
	d, err := time.ParseDuration(m[1])
	return killed.Add(d), err
}
