package lab_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

func start(t *testing.T, topology lab.Topology, env ...string) *lab.Lab {
	t.Helper()
	netnstest.Root(t)
	l, err := lab.Start(t.Context(), topology, lab.Host{Path: "/proc/self/exe", Args: []string{lab.Verb},
		Env: append(os.Environ(), env...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Any user of this machine reaches the engine's port on loopback, which drives a process of root's.
func TestAnotherUserOfTheMachineDrivesNoLab(t *testing.T) {
	l := start(t, topologyOf(t, planOf([]string{"west", "east"}), lab.Options{}))
	var v view
	ask(t, l, "view", &v)
	for name, key := range map[string]credential.Key{"no key": {}, "a key of its own": credential.New()} {
		var got string
		asNobody(t, func() error {
			conn, err := key.Dial(t.Context(), credential.Control, l.Address())
			if err != nil {
				got = err.Error()
				return nil
			}
			defer func() { _ = conn.Close() }()
			if _, err := io.WriteString(conn, strings.Repeat("view\n", 20)); err != nil {
				return err
			}
			heard, _ := io.ReadAll(conn)
			got = string(heard)
			return nil
		})
		if strings.Contains(got, "west") || key.IsZero() != strings.HasPrefix(got, "LRCRED1\n") {
			t.Errorf("a user with %s heard %q", name, got)
		}
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", l.PID()))
	environment, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/environ", l.PID()))
	secret, _ := l.Key().MarshalText()
	if err := errors.Join(err, err2); err != nil || bytes.Contains(append(command, environment...), secret) {
		t.Errorf("the key is in the child's arguments or variables (%v)", err)
	}
}

// asNobody runs fn with the rights of user 65534, in a thread of its own that ends with it, as the raw system
// call changes that thread alone.
func asNobody(t *testing.T, fn func() error) {
	t.Helper()
	finished := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			finished <- errno
			return
		}
		if os.WriteFile("/proc/sys/kernel/hostname", nil, 0) == nil {
			finished <- errors.New("it still has root's rights, so that this test proves nothing")
			return
		}
		finished <- fn()
	}()
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
}

func TestALab(t *testing.T) {
	t.Run("has an engine on the generator's ends, in another namespace", func(t *testing.T) {
		l := start(t, topologyOf(t, planOf([]string{"west", "east"}), lab.Options{}))
		var v view
		ask(t, l, "view", &v)
		if session, err := unix.Getsid(v.PID); err != nil || session != v.PID {
			t.Errorf("the engine's process %d is in session %d (%v), which is not its own", v.PID, session, err)
		}
		namespace, err := os.Readlink("/proc/self/ns/net")
		if err != nil {
			t.Fatal(err)
		}
		if v.Namespace == namespace {
			t.Error("the engine is in our namespace")
		}
		if !slices.Equal(v.Interfaces, []string{"west", "east"}) ||
			!slices.Equal(v.Speeds, []int64{10_000_000_000, 10_000_000_000}) {
			t.Errorf("ports %v with speeds %v", v.Interfaces, v.Speeds)
		}
		if got := l.PortOfLink(); got["west"] != 0 || got["east"] != 1 {
			t.Errorf("ports of links: %v", got)
		}
		if slices.Contains(v.MACs, l.DUTMACs()["west"]) || l.DUTMACs()["west"] == l.DUTMACs()["east"] {
			t.Errorf("MACs of the generator %v and of the forwarder %v", v.MACs, l.DUTMACs())
		}
		if len(l.Info().Missing) > 0 {
			t.Errorf("not set up: %q", l.Info().Missing)
		}
	})
	t.Run("cables a Loopback's ports to each other", func(t *testing.T) {
		l := start(t, topologyOf(t, planOf([]string{"a", "b", "c", "d"}, dutType("Loopback")), lab.Options{}))
		var received []uint64
		ask(t, l, "ping", &received)
		if !slices.Equal(received, []uint64{0, 1, 0, 0}) {
			t.Errorf("a frame from the first port made the ports receive %v", received)
		}
	})
	for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
		t.Run("sets up a forwarder with eight links for "+string(mode), func(t *testing.T) {
			p := planOf([]string{"a", "b", "c", "d", "e", "f", "g", "h"}, func(p *plan.Plan) {
				p.DUT.Forwarding = mode
				p.DUT.Reference = &plan.Reference{Limit: &plan.Limit{PacketsPerSecond: 1000}}
			})
			l := start(t, topologyOf(t, p, lab.Options{}))
			if len(l.Info().Missing) > 0 || len(l.Info().Applied) < 8 {
				t.Errorf("set up: %q, not set up: %q", l.Info().Applied, l.Info().Missing)
			}
		})
	}
	t.Run("tells what its limits took, by link, as often as it is asked", func(t *testing.T) {
		p := planOf([]string{"lo", "east"},
			func(p *plan.Plan) { p.DUT.Reference = &plan.Reference{Limit: &plan.Limit{PacketsPerSecond: 1000}} })
		l := start(t, topologyOf(t, p, lab.Options{}))
		want := []forwarder.LimitCounters{{From: "lo", To: "east"}, {From: "east", To: "lo"}}
		var askers sync.WaitGroup
		for range 3 {
			askers.Go(func() {
				if counters, err := l.LimitCounters(t.Context()); err != nil || !slices.Equal(counters, want) {
					t.Errorf("got %+v (%v), want %+v", counters, err, want)
				}
			})
		}
		askers.Wait()
		late, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.LimitCounters(late); !errors.Is(err, context.Canceled) {
			t.Errorf("who doesn't wait got %v", err)
		}
		if counters, err := l.LimitCounters(t.Context()); err != nil || !slices.Equal(counters, want) {
			t.Errorf("after a question that nobody waited for: %+v (%v)", counters, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := l.LimitCounters(t.Context()); err == nil {
			t.Error("a lab that was closed answers")
		}
	})
	t.Run("resets its Reference, and nothing else", func(t *testing.T) {
		l := start(t, topologyOf(t, planOf([]string{"west", "east"}), lab.Options{}))
		if report, err := l.Reset(t.Context()); err != nil ||
			!strings.HasPrefix(report, "removed 0 neighbours, 0 learned addresses, ") {
			t.Errorf("%q, %v", report, err)
		}
		l = start(t, topologyOf(t, planOf([]string{"a", "b"}, dutType("Loopback")), lab.Options{}))
		if report, err := l.Reset(t.Context()); err == nil {
			t.Errorf("a Loopback was reset: %q", report)
		}
	})
	t.Run("has nothing to tell without a limit", func(t *testing.T) {
		l := start(t, topologyOf(t, planOf([]string{"west", "east"}), lab.Options{}))
		if counters, err := l.LimitCounters(t.Context()); err != nil || counters != nil {
			t.Errorf("got %+v (%v)", counters, err)
		}
	})
	t.Run("is still there when memory has been collected", func(t *testing.T) {
		l := start(t, topologyOf(t, planOf([]string{"west", "east"}), lab.Options{}))
		var v view
		ask(t, l, "collect", &v)
		time.Sleep(500 * time.Millisecond) // the kernel takes a namespace down in the background
		var received []uint64
		ask(t, l, "ping", &received)
		if len(received) != 2 {
			t.Errorf("the engine sees %d interfaces of 2", len(received))
		}
	})
	t.Run("ends with Close, and again", func(t *testing.T) {
		l := start(t, topologyOf(t, planOf([]string{"west", "east"}), lab.Options{}))
		if err := errors.Join(l.Close(), l.Close(), l.Err()); err != nil {
			t.Error(err)
		}
		<-l.Done()
	})
	t.Run("ends with Close although the engine doesn't stop", func(t *testing.T) {
		l := start(t, topologyOf(t, planOf([]string{"west", "east"}), lab.Options{}), "LAB_TEST_ENGINE=stuck")
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-l.Done()
	})
	t.Run("tells the last words of an engine that crashed", func(t *testing.T) {
		l := start(t, topologyOf(t, planOf([]string{"west", "east"}), lab.Options{}), "LAB_TEST_ENGINE=crashing")
		<-l.Done()
		wantFault(t, l.Err(), lab.Died, "panic: the engine crashed")
		if strings.Contains(l.Err().Error(), "goroutine") {
			t.Errorf("the message has a stack trace: %v", l.Err())
		}
	})
}

func wantFault(t *testing.T, err error, reason lab.Reason, words string) {
	t.Helper()
	fault, ok := errors.AsType[*lab.Fault](err)
	if !ok || fault.Reason != reason || !strings.Contains(fault.Sentence, words) {
		t.Errorf("got %#v (%v), want %s that says %q", err, err, reason, words)
	}
}

func TestALabThatCannotStartSaysWhy(t *testing.T) {
	netnstest.Root(t)
	device := func(ports ...string) lab.Topology {
		return topologyOf(t, planOf([]string{"west", "east"}, dutType("Device")), lab.Options{Ports: ports})
	}
	reference := topologyOf(t, planOf([]string{"west", "east"}), lab.Options{})
	for name, c := range map[string]struct {
		topology lab.Topology
		host     lab.Host
		reason   lab.Reason
		words    string
	}{
		"an engine that can't open its ports": {reference, lab.Host{Path: "/proc/self/exe", Args: []string{lab.Verb},
			Env: []string{"LAB_TEST_ENGINE=broken"}}, lab.Failed, "the engine is broken"},
		"a process that isn't a lab": {reference,
			lab.Host{Path: "/bin/sh", Args: []string{"-c", "echo oh no >&2; exit 3"}}, lab.Died,
			"exit status 3; its last words: oh no"},
		"a program that isn't there": {reference, lab.Host{Path: "/nonexistent"}, lab.Failed, "no such file"},
		"an interface that doesn't exist": {device("nosuch0", "nosuch1"), lab.Host{}, lab.BadInput,
			"there is no interface nosuch0 on this machine (link west)"},
		"an interface that isn't Ethernet": {device("lo", "nosuch1"), lab.Host{}, lab.BadInput,
			"lo (link west) is not an Ethernet interface"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := lab.Start(t.Context(), c.topology, c.host)
			if err == nil {
				_ = l.Close()
			}
			wantFault(t, err, c.reason, c.words)
		})
	}
	t.Run("a start that is cancelled", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := lab.Start(ctx, reference, lab.Host{Path: "/bin/sh",
			Args: []string{"-c", "read order; exec sleep 60"}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// The MTU is compared before anything is sent, and the command in the message mends it. So does the command for
// a loopback interface that is down.
func TestFramesThatDoNotFitAnInterface(t *testing.T) {
	netnstest.Root(t)
	runtime.LockOSThread() // the namespace ends with the thread
	if _, err := netns.New(); err != nil {
		t.Fatal(err)
	}
	topology := topologyOf(t, planOf([]string{"west", "east"}, dutType("Device")),
		lab.Options{Ports: []string{"west", "east"}})
	for _, name := range []string{"west", "east"} {
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name, MTU: 1500}, PeerName: name +
			"-far"}); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{name, name + "-far"} {
			l, err := netlink.LinkByName(end)
			if err = errors.Join(err, netlink.LinkSetUp(l)); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := lab.Start(t.Context(), topology, lab.Host{Path: "/nonexistent"})
	wantFault(t, err, lab.BadInput, `the loopback interface lo is down, over which the software engine is reached: `+
		`set it up with "ip link set lo up"`)
	lo, err := netlink.LinkByName("lo")
	if err = errors.Join(err, netlink.LinkSetUp(lo)); err != nil {
		t.Fatal(err)
	}
	const unfit = `frames of 9000 bytes don't fit interface west (link west), whose MTU is 1500: set it with "ip ` +
		`link set west mtu 8982"`
	for largest, c := range map[int]struct {
		reason lab.Reason
		words  string
	}{1514: {lab.Failed, "no such file"}, 8996: {lab.BadInput, unfit}} {
		topology.Largest = largest
		// which is looked at when all else is right
		_, err := lab.Start(t.Context(), topology, lab.Host{Path: "/nonexistent"})
		wantFault(t, err, c.reason, c.words)
	}
}

// TestNothingOutlivesAKilledParent kills a process that runs a lab, as nothing can be done about, and looks for
// what it left.
func TestNothingOutlivesAKilledParent(t *testing.T) {
	netnstest.Root(t)
	for name, wrap := range map[string][]string{
		"of root":             nil,
		"of an ordinary user": {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []*plan.Limit{nil, {PacketsPerSecond: 1000}, {Layer2BitsPerSecond: 1_000_000}} {
				// Kernel threads are of no namespace, and named after their interface: no other lab on this machine may
				// have a link of this name.
				west := fmt.Sprintf("w%d", os.Getpid())
				p := planOf([]string{west, "east"},
					func(p *plan.Plan) { p.DUT.Reference = &plan.Reference{Limit: limit} })
				ns := netnstest.New(t) // in which nobody else adds an interface meanwhile
				setUp(t, ns, "lo")
				interfaces := interfaceNames(t, ns)
				cmd := parentCommand(t, wrap...)
				started := startParent(t, cmd, ns, topologyOf(t, p, lab.Options{}))
				if len(started.Missing) > 0 {
					t.Errorf("not set up: %q", started.Missing)
				}
				var v view
				netnstest.RunIn(t, ns, func() error {
					c, err := started.Key.Dial(t.Context(), credential.Control, started.Address)
					if err != nil {
						return err
					}
					return answerQuestions(c, "view", &v)
				})
				initial := holders(t, v.Namespace)
				if len(initial) == 0 {
					t.Fatal("nobody holds the generator's namespace")
				}
				// only a Reference without a limit has threads of its own
				if threaded := napiThread(t, west); threaded != (limit == nil) {
					t.Errorf("a kernel thread serves %s: %t", west, threaded)
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				eventually(t, "its processes are gone",
					func() bool { return len(processes(t, cmd.Args[len(cmd.Args)-2])) == 0 })
				eventually(t, "its namespace is gone",
					func() bool { return !slices.ContainsFunc(holders(t, v.Namespace), contains(initial)) })
				eventually(t, "its kernel threads are gone", func() bool { return !napiThread(t, west) })
				if current := interfaceNames(t, ns); !slices.Equal(current, interfaces) {
					t.Errorf("interfaces before %v, after %v", interfaces, current)
				}
			}
		})
	}
}

func eventually(t *testing.T, condition string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 5 s: %s", condition)
		}
	}
}

func exists(proc string, pid int) bool {
	_, err := os.Stat(filepath.Join(proc, strconv.Itoa(pid)))
	return err == nil
}

// processes are those that run a program.
func processes(t *testing.T, program string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(links, func(link string) bool {
		target, err := os.Readlink(link)
		return err != nil || target != program
	})
}

// contains says whether a list has an element. The kernel gives a namespace's number to the next one, so new
// holders hold something else.
func contains(list []string) func(string) bool {
	return func(element string) bool { return slices.Contains(list, element) }
}

// holders are the processes in a network namespace, or with a descriptor of it.
func holders(t *testing.T, namespace string) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"/proc/[0-9]*/ns/net", "/proc/[0-9]*/fd/*"} {
		links, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil && target == namespace {
				found = append(found, link)
			}
		}
	}
	return found
}

func napiThread(t *testing.T, link string) bool {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		comm, err := os.ReadFile(name)
		return err == nil && strings.HasPrefix(string(comm), "napi/"+link+"-")
	})
}

func interfaceNames(t *testing.T, ns *netif.Namespace) (names []string) {
	t.Helper()
	netnstest.RunIn(t, ns, func() error {
		links, err := netlink.LinkList()
		for _, l := range links {
			names = append(names, l.Attrs().Name)
		}
		return err
	})
	return names
}
