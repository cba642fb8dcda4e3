package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// The test binary plays all parts, the lab's child under lab.Verb, and a parent to be killed under "lab-parent".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case lab.Verb:
			ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM) // as the verb does
			defer stop()
			exit(lab.HostMain(ctx, openFake))
		case lab.TunnelVerb:
			exit(lab.TunnelMain(context.Background()))
		case "lab-parent":
			exit(parent())
		}
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// fake is an engine that reports what it sees. A client that connects gets one line of JSON.
type fake struct{ view view }

// view is what the engine's process sees of its namespace.
type view struct {
	PID        int
	Namespace  string
	Interfaces []string
	MACs       []string
	MTU        int
	Speeds     []int64
}

func openFake(_ context.Context, _ plan.Sender, bench lab.Bench) (lab.Engine, error) {
	ports := bench.Ports
	if os.Getenv("LAB_TEST_ENGINE") == "broken" {
		return nil, errors.New("the engine is broken")
	}
	ns, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return nil, err
	}
	v := view{PID: os.Getpid(), Namespace: ns}
	for _, p := range ports {
		link, err := netlink.LinkByName(p.Interface)
		if err != nil {
			return nil, err
		}
		v.Interfaces = append(v.Interfaces, p.Interface)
		v.MACs = append(v.MACs, link.Attrs().HardwareAddr.String())
		v.MTU = link.Attrs().MTU
		v.Speeds = append(v.Speeds, int64(p.Speed))
	}
	return &fake{v}, nil
}

func (f *fake) Serve(ctx context.Context, l net.Listener) error {
	if os.Getenv("LAB_TEST_ENGINE") == "crashing" {
		go panic("the engine crashed")
	}
	if os.Getenv("LAB_TEST_ENGINE") == "stuck" {
		select {}
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		request, _ := bufio.NewReader(c).ReadString('\n')
		switch request {
		case "view\n":
			_ = json.NewEncoder(c).Encode(f.view)
		case "collect\n":
			// What nobody holds is collected, and finalizers close its descriptors.
			for range 3 {
				runtime.GC()
			}
			_ = json.NewEncoder(c).Encode(f.view)
		case "through\n":
			_ = json.NewEncoder(c).Encode(f.forwardedTTL())
		case "ping\n":
			_ = json.NewEncoder(c).Encode(f.ping())
		}
		_ = c.Close()
	}
}

// forwardedTTL sends an IPv4 packet with a TTL of 64 from the first port's network to the second's, by the
// device, and says which TTL it arrives with; 0: it doesn't within two seconds.
func (f *fake) forwardedTTL() int {
	var sockets [2]int
	for i := range sockets {
		link, err := netlink.LinkByName(f.view.Interfaces[i])
		if err != nil {
			return 0
		}
		if sockets[i], err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); err != nil {
			return 0
		}
		defer func() { _ = unix.Close(sockets[i]) }()
		const protocol = unix.ETH_P_ALL << 8
		if err := unix.Bind(sockets[i], &unix.SockaddrLinklayer{Protocol: protocol,
			Ifindex: link.Attrs().Index}); err != nil {
			return 0
		}
	}
	frame := packetTo(net.HardwareAddr{2, 0x6c, 0x72, 0, 0, 1})
	copy(frame[30:], []byte{16, 1, 0, 1})
	mendHeader(frame)
	if _, err := unix.Write(sockets[0], frame); err != nil {
		return 0
	}
	if err := unix.SetsockoptTimeval(sockets[1], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return 0
	}
	buffer := make([]byte, 2048)
	for {
		n, _, err := unix.Recvfrom(sockets[1], buffer, 0)
		if err != nil {
			return 0
		}
		if n >= 34 && bytes.Equal(buffer[26:34], frame[26:34]) {
			return int(buffer[22])
		}
	}
}

// ping sends a broadcast frame out of the first port and says how many frames each port has received a moment later.
func (f *fake) ping() []uint64 {
	link, err := netlink.LinkByName(f.view.Interfaces[0])
	if err != nil {
		return nil
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	frame := make([]byte, 60)
	copy(frame, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	_ = unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: link.Attrs().Index})
	var received []uint64
	for _, name := range f.view.Interfaces {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return nil
		}
		received = append(received, link.Attrs().Statistics.RxPackets)
	}
	return received
}

// ask sends a fake engine one word and decodes its answer.
func ask(t *testing.T, l *lab.Lab, word string, result any) {
	t.Helper()
	c, err := l.Key().Dial(t.Context(), credential.Control, l.Address())
	if err != nil {
		t.Fatal(err)
	}
	if err := answerQuestions(c, word, result); err != nil {
		t.Fatal(err)
	}
}

func answerQuestions(c net.Conn, word string, result any) error {
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, word+"\n"); err != nil {
		return err
	}
	return json.NewDecoder(c).Decode(result)
}

// parent starts the lab that its standard input describes, says where it is, and does nothing until it is killed.
func parent() error {
	var t lab.Topology
	if err := json.NewDecoder(os.Stdin).Decode(&t); err != nil {
		return err
	}
	l, err := lab.Start(context.Background(), t, lab.Host{})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(started{l.Address(), l.Key(), l.Info().Missing}); err != nil {
		return err
	}
	select {}
}

// started is what parent reports of its lab, which is its address and what could not be set up.
type started struct {
	Address string
	Key     credential.Key
	Missing []string
}

// parentCommand is parent in a process of its own, under the command that wrap is.
func parentCommand(t *testing.T, wrap ...string) *exec.Cmd {
	t.Helper()
	args := append(slices.Clone(wrap), executable(t), "lab-parent")
	return exec.Command(args[0], args[1:]...)
}

// startParent runs a parent in a namespace, nil for our own, and returns where its lab's engine answers.
func startParent(t *testing.T, cmd *exec.Cmd, ns *netif.Namespace, topology lab.Topology) started {
	t.Helper()
	order, err := json.Marshal(topology)
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := ns.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := stdin.Write(append(order, '\n')); err != nil {
		t.Fatal(err)
	}
	var s started
	if err := json.NewDecoder(stdout).Decode(&s); err != nil {
		t.Fatalf("the parent said nothing: %v", err)
	}
	return s
}

// executable is the test binary in a place where every user may run it.
func executable(t *testing.T) string {
	t.Helper()
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "lab-test-") //nolint:usetesting // the parents of t.TempDir are closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := dir + "/lab.test"
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// failingParent runs a parent whose lab can't start and returns what it said.
func failingParent(t *testing.T, cmd *exec.Cmd, ns *netif.Namespace, topology lab.Topology) string {
	t.Helper()
	order, err := json.Marshal(topology)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(order), &stderr
	if err := ns.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it succeeded")
	}
	return stderr.String()
}
