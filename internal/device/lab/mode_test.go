package lab_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/device/tunnel"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

func inMode(m plan.Mode) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.DUT.Forwarding, p.DUT.Reference = m.Forwarding(), &plan.Reference{Mode: &m}
	}
}

// Each device takes from the TTL what its routers do.
func TestRealDevicesOfALab(t *testing.T) {
	modes := []plan.Mode{{Router: &plan.RouterMode{Routes: 100}}, {XDP: &plan.XDPMode{}},
		{Tunnel: &plan.TunnelMode{Kind: plan.TunnelWireGuard, FarLink: "east"}}}
	if _, _, err := tunnel.FindIPsec(); err == nil {
		for _, cipher := range []string{plan.CipherAES128GCM, plan.CipherAES256GCM, plan.CipherAES256CBC,
			plan.CipherChaCha20} {
			modes = append(modes, plan.Mode{Tunnel: &plan.TunnelMode{Kind: plan.TunnelIPsec, Cipher: cipher,
				FarLink: "east"}})
		}
	}
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			p := planOf([]string{"west", "east"}, inMode(m))
			l := start(t, topologyOf(t, p, lab.Options{}))
			var ttl int
			ask(t, l, "through", &ttl)
			if want := 64 - p.DUT.Routers(); ttl != want {
				t.Errorf("a packet with a TTL of 64 arrived with %d, want %d (0: it did not)", ttl, want)
			}
		})
	}
}

// A lab of one direction has its gateways on all processors but the first, and on a machine with one processor
// on that one.
func TestGatewaysStayOffTheProcessorThatSends(t *testing.T) {
	processors, err := machine.OwnProcessors()
	if err != nil {
		t.Fatal(err)
	}
	want := machine.ListProcessors(processors)
	if len(want) > 1 {
		want = want[1:]
	}
	p := planOf([]string{"west", "east"}, inMode(plan.Mode{Tunnel: &plan.TunnelMode{Kind: plan.TunnelWireGuard,
		FarLink: "east"}}))
	p.Directions = p.Directions[:1]
	l := start(t, topologyOf(t, p, lab.Options{}))
	threads, err := procfs.AllThreads(aGateway(t, l))
	if err != nil || len(threads) < 2 {
		t.Fatalf("%d threads (%v)", len(threads), err)
	}
	for _, thread := range threads {
		var affinity unix.CPUSet
		if err := unix.SchedGetaffinity(thread.PID, &affinity); err != nil {
			t.Fatal(err)
		}
		if got := machine.ListProcessors(&affinity); !slices.Equal(got, want) {
			t.Errorf("thread %d may run on %v, want %v", thread.PID, got, want)
		}
	}
}

// TestALabEndsWithItsDevice kills a gateway's process, without which there is nothing to measure.
func TestALabEndsWithItsDevice(t *testing.T) {
	l := start(t, topologyOf(t, planOf([]string{"west", "east"},
		inMode(plan.Mode{Tunnel: &plan.TunnelMode{Kind: plan.TunnelWireGuard, FarLink: "east"}})), lab.Options{}))
	if !l.Forwards(aGateway(t, l)) || l.Forwards(l.PID()) || l.Forwards(os.Getpid()) {
		t.Error("the lab doesn't know which processes forward")
	}
	if err := syscall.Kill(aGateway(t, l), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-l.Done()
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), "the device's process WireGuard of gateway") {
		t.Errorf("it ended as %v", err)
	}
}

// A signal to the lab's process is no fault of the gateways, which end with it.
func TestALabThatIsStoppedDoesNotBlameItsDevice(t *testing.T) {
	l := start(t, topologyOf(t, planOf([]string{"west", "east"},
		inMode(plan.Mode{Tunnel: &plan.TunnelMode{Kind: plan.TunnelWireGuard, FarLink: "east"}})), lab.Options{}))
	if err := syscall.Kill(l.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-l.Done()
	if err := l.Err(); err == nil || !strings.HasSuffix(err.Error(),
		"its last words: stopped by a signal: terminated signal received") {
		t.Errorf("it ended as %v", err)
	}
}

// aGateway is one of the lab's children.
func aGateway(t *testing.T, l *lab.Lab) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(l.PID()) + "/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		children, err := os.ReadFile("/proc/" + strconv.Itoa(l.PID()) + "/task/" + task.Name() + "/children")
		if err != nil {
			continue
		}
		if pids := strings.Fields(string(children)); len(pids) > 0 {
			pid, err := strconv.Atoi(pids[0])
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("the lab has no process that forwards")
	return 0
}
