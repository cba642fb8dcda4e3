package collect_test

import (
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/collect"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// inNamespace names a variable that this test's program has where it runs in a namespace of its own.
const inNamespace = "LINERATE_TEST_IN_NAMESPACE"

// inOwnNamespace runs a test in a network namespace of its own, whose loopback interface is nobody else's, and
// says whether it is in there.
func inOwnNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNamespace) == t.Name() {
		loopback, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(loopback)
		}
		if err != nil {
			t.Fatal(err)
		}
		return true
	}
	namespace := netnstest.New(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v") //nolint:gosec // itself
	cmd.Env = append(os.Environ(), inNamespace+"="+t.Name())
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	ended := make(chan error, 1)
	if err := namespace.Start(cmd, func() { ended <- cmd.Wait() }); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || !strings.Contains(output.String(), "--- PASS: "+t.Name()) {
		t.Fatalf("in its namespace: %v\n%s", err, output.String())
	}
	t.Log(output.String())
	return false
}

// kernel is what the kernel's counters of the loopback interface were over time, by the column of /proc/net/dev.
type kernel struct {
	moments  []time.Duration
	counters [][]float64
}

func (k *kernel) look(t *testing.T, moment time.Duration) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(text), "lo:")
	line, _, _ = strings.Cut(line, "\n")
	var counters []float64
	for _, field := range strings.Fields(line) {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		counters = append(counters, n)
	}
	k.moments, k.counters = append(k.moments, moment), append(k.counters, counters)
}

// interpolate is a counter at a moment, if it grew evenly between the readings around it.
func (k *kernel) interpolate(column int, moment time.Duration) float64 {
	i, _ := slices.BinarySearch(k.moments, moment)
	if i == 0 || i == len(k.moments) {
		return math.NaN()
	}
	share := float64(moment-k.moments[i-1]) / float64(k.moments[i]-k.moments[i-1])
	return k.counters[i-1][column] + share*(k.counters[i][column]-k.counters[i-1][column])
}

// netSNMP starts net-snmp's agent at an address.
func netSNMP(t *testing.T, address, config, state string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "snmpd", "-f", "-Lo", "-C", "-c", config, "udp:"+address)
	cmd.Env = append(os.Environ(), "SNMP_PERSISTENT_DIR="+state, "MIBS=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// busy is how late a machine wakes a sleeper whose processors others have. Answers take so long there that
// questions lie too far apart to tell when an agent took its numbers.
const busy = 20 * time.Millisecond

// Debian's agent keeps its interfaces' counters for 3 s, and tells 0 for as long after a start. Whatever
// becomes of it, a number that an observer has is what the kernel counted. Where the machine is not busy, each
// series of an agent that stays has one.
func TestNetSNMPsCountersAreTheKernels(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("snmpd"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test wants snmpd itself: hack/ci-packages installs it")
		}
		t.Skip("needs snmpd itself: apt-get install snmpd")
	}
	if !inOwnNamespace(t) {
		return // in there it passed
	}
	const window, rate = 25 * time.Second, time.Millisecond
	var counters kernel
	traffic(t, rate)
	config := filepath.Join(t.TempDir(), "snmpd.conf")
	if err := os.WriteFile(config, []byte("rocommunity lab\ncreateUser sha SHA longpassword AES "+
		"otherpassword\nrouser sha authpriv\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	credentials := secrets(t, map[string]string{"community/community": "lab", "user/username": "sha",
		"user/authPassword": "longpassword", "user/privPassword": "otherpassword", "user/authProtocol": "SHA"})
	const octets, received, sent, discards = "1.3.6.1.2.1.31.1.1.1.6.1", "1.3.6.1.2.1.31.1.1.1.7.1",
		"1.3.6.1.2.1.31.1.1.1.11.1", "1.3.6.1.2.1.2.2.1.13.1"
	agents := map[string]struct {
		address string
		cmd     *exec.Cmd
	}{}
	columns := map[string]int{} // of the kernel's counters, by the observers' names
	var observers []plan.Observer
	for i, agent := range []string{"steady", "restarted", "stalled"} {
		address := fmt.Sprintf("127.0.0.1:%d", 10161+i)
		agents[agent] = struct {
			address string
			cmd     *exec.Cmd
		}{address, netSNMP(t, address, config, filepath.Join(t.TempDir(), agent))}
		for _, o := range []struct {
			name, oid, secret string
			column            int
		}{{"received", received, "community", 1}, {"octets", octets, "user", 0}, {"sent", sent, "community", 9},
			{"discards", discards, "user", 3}} {
			name := agent + "-" + o.name
			observers = append(observers, plan.Observer{Name: name, Observed: plan.OfDUT, Type: plan.ObserveSNMP,
				Interval: plan.Duration(5 * time.Second),
				SNMP:     &plan.SNMPObject{Address: address, OID: "." + o.oid, Unit: "1", Scale: "1", Secret: o.secret}})
			columns[name] = o.column
		}
	}
	began := time.Now()
	collector := collect.Start(t.Context(), observers, credentials)
	defer collector.Close()
	log := observe.NewLog(observers, observe.Setup{})
	var late time.Duration // how long a sleep of 10 ms was beyond that, at most
	look := func(end time.Duration) {
		for time.Since(began) < end {
			counters.look(t, time.Since(began))
			log.Add(observe.Moment{At: time.Since(began), Collected: new(collector.Newest())})
			asleep := time.Now()
			time.Sleep(10 * time.Millisecond)
			late = max(late, time.Since(asleep)-10*time.Millisecond)
		}
	}
	var windows []report.Window
	hold := func(start time.Duration, disturb func()) {
		disturb()
		look(start + window)
		windows = append(windows, report.Window{Start: plan.Duration(start), Duration: plan.Duration(window),
			Observed: log.Window(start, start+window)})
	}
	look(2 * time.Second)
	hold(2*time.Second, func() {
		look(14 * time.Second)
		signal(t, agents["stalled"].cmd, syscall.SIGSTOP)
		look(17 * time.Second)
		signal(t, agents["stalled"].cmd, syscall.SIGCONT)
		look(2*time.Second + window - 500*time.Millisecond) // the window's first reading is the new agent's 0
		signal(t, agents["restarted"].cmd, syscall.SIGKILL)
		_ = agents["restarted"].cmd.Wait()
		netSNMP(t, agents["restarted"].address, config, filepath.Join(t.TempDir(), "restarted"))
	})
	hold(2*time.Second+window, func() {})
	look(2*time.Second + 2*window + 6*time.Second)
	log.Complete(windows)
	compared := 0
	for i, w := range windows {
		for _, o := range w.Observed {
			agent, _, _ := strings.Cut(o.Observer, "-")
			switch {
			case o.Mean == nil && agent == "steady" && late < busy:
				t.Errorf("window %d: %s is missing: %s", i+1, o.Observer, o.Missing)
			case o.Mean == nil:
				t.Logf("window %d: %s is missing, on a machine that woke a sleeper %s late: %s", i+1, o.Observer, late,
					o.Missing)
			default:
				compared++
				compareWithKernel(t, i+1, o, log,
					func(moment time.Duration) float64 { return counters.interpolate(columns[o.Observer], moment) }, w)
			}
		}
	}
	if compared == 0 {
		t.Error("no observer has a number")
	}
}

// compareWithKernel holds a rate against what a kernel counted between the same two readings.
func compareWithKernel(t *testing.T, window int, o report.Observed, log *observe.Log,
	kernel func(time.Duration) float64, w report.Window) {
	t.Helper()
	for _, observation := range log.Observations() {
		if observation.Observer != o.Observer {
			continue
		}
		samples := observation.Series[0].Samples
		for i, first := range samples {
			for _, second := range samples[i+1:] {
				if second.Time-first.Time != o.Over || first.Time < w.Start || second.Time > w.Start+w.Duration {
					continue
				}
				truth := (kernel(second.Time.Std()) - kernel(first.Time.Std())) / o.Over.Std().Seconds()
				deviation := math.Abs(*o.Mean - truth)
				t.Logf("window %d: %s %.1f/s ± %.1f over %s, kernel %.1f (%+.2f %%)", window, o.Observer, *o.Mean,
					o.Unsure, o.Over.Std(), truth, 100*(*o.Mean-truth)/truth)
				if deviation > o.Unsure+truth/1000 {
					t.Errorf("window %d: %s is %g/s ± %g, and the kernel counted %g", window, o.Observer, *o.Mean,
						o.Unsure, truth)
				}
				if o.Unsure <= truth/100 && deviation > truth/100 {
					t.Errorf("window %d: %s is %g/s, and the kernel counted %g: more than 1 %% off", window, o.Observer,
						*o.Mean, truth)
				}
				return
			}
		}
	}
	t.Errorf("window %d: no two readings of %s are %s apart", window, o.Observer, o.Over.Std())
}

func signal(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// traffic sends a packet over the loopback interface each so often, to nobody, until the test ends.
func traffic(t *testing.T, interval time.Duration) {
	t.Helper()
	conn, err := net.Dial("udp", "127.0.0.1:9") //nolint:noctx // nobody is dialed
	if err != nil {
		t.Fatal(err)
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		next := time.Now()
		for t.Context().Err() == nil {
			_, _ = conn.Write(make([]byte, 100)) // an answer that nobody is there is an error of the next
			next = next.Add(interval)
			time.Sleep(time.Until(next))
		}
	})
	t.Cleanup(func() { sending.Wait(); _ = conn.Close() })
}
