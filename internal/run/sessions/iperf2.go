package sessions

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
)

// iperf 2 is a program of this machine's, in the ends' namespaces. The receiver runs a server and the sender a
// client, whose output is read line by line. iperf 2 connects and sends in one step, so the path is proven before by
// connections of linerate's own, which end before iperf's begin.

const (
	iperf2Program = "iperf"
	iperf2Port    = 5001
	// iperf2Every is how often iperf prints its counters.
	iperf2Every = 500 * time.Millisecond
	// iperf2Late is how much longer than its client a server may go on.
	iperf2Late = 30 * time.Second
)

// iperf2Path is where the program is.
func iperf2Path() (string, error) {
	path, err := exec.LookPath(iperf2Program)
	if err != nil {
		return "", fmt.Errorf("traffic.sessions.application: iperf 2 isn't installed on this machine: install it "+
			"(Debian: apt install iperf), or use iperf3, which needs no program: %w", err)
	}
	return path, nil
}

// iperf2Arguments are the arguments that client and server share.
func (s socket) iperf2Arguments() []string {
	message := s.shape.MessageBytes
	if !s.shape.Datagrams {
		message = iperf3.Paced(message, s.shape.BitsPerSecond)
	}
	a := []string{"-p", strconv.Itoa(iperf2Port), "-i", fmt.Sprint(iperf2Every.Seconds()), "-e", "-f", "b", "-B",
		s.local.String() + "%" + s.iface, "-l", strconv.FormatInt(message, 10)}
	if s.shape.Datagrams {
		a = append(a, "-u")
	}
	if s.local.Is6() {
		a = append(a, "-V")
	}
	if s.shape.WindowBytes != 0 {
		a = append(a, "-w", strconv.FormatInt(s.shape.WindowBytes, 10))
	}
	return a
}

// iperf2Process is a running iperf process. It is safe for concurrent use.
type iperf2Process struct {
	output *iperf2Output
	kill   context.CancelFunc
	ended  chan struct{} // closed when the process sends and receives no more
	course
}

// startIperf2 starts the program in a namespace, for so many streams. It ends with this process, however that ends.
func (s socket) startIperf2(arguments []string) (*iperf2Process, error) {
	path, err := iperf2Path()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &iperf2Process{output: newIperf2Output(s.shape), kill: cancel, ended: make(chan struct{})}
	cmd := exec.CommandContext(ctx, path, arguments...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	err = s.namespace.Start(cmd, func() {
		s.program.starts(cmd.Process.Pid)
		defer s.program.ends(cmd.Process.Pid)
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			r.output.parse(lines.Text())
		}
		awaitExit(cmd.Process.Pid)
		close(r.ended)
		r.exited(cmd.Wait())
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return r, nil
}

// awaitExit waits until a process of ours has ended, its sockets with it (waitid(2), WNOWAIT). To take its entry out
// of the process table, too, as cmd.Wait does, the kernel waits for everybody who looks at it in /proc. On a busy
// machine another program's look takes seconds, and the caller that stops the traffic would wait for it.
func awaitExit(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}

// exited records why the process ended.
func (r *iperf2Process) exited(err error) {
	reason := "iperf ended in the middle of the test"
	if err != nil {
		reason += ": " + err.Error()
	}
	if complaint := r.output.complaint(); complaint != "" {
		reason += ": it says " + strconv.Quote(complaint)
	}
	r.breakWith(errors.New(reason))
}

func (r *iperf2Process) close() {
	r.finish()
	r.kill()
	<-r.ended
}

// iperf2Sender is a direction's client. Until it sends, it has connections of linerate's own. It is safe for
// concurrent use.
type iperf2Sender struct {
	socket
	remote  netip.Addr
	proof   *sender
	watched *watched // nil with UDP, and before it sends

	mu      sync.Mutex
	process *iperf2Process // nil until it sends
}

func connectIperf2(ctx context.Context, s socket, token string, remote netip.Addr) (*iperf2Sender, *Opened, error) {
	proof, opened, err := connect(ctx, s, token, remote)
	if err != nil {
		return nil, nil, err
	}
	if opened.Application = "iperf 2, after connections of linerate's own"; s.shape.Datagrams {
		opened.DatagramBytes = s.shape.MessageBytes
		if opened.FramesEach, err = s.framesEach(); err != nil {
			proof.close()
			return nil, nil, err
		}
	}
	return &iperf2Sender{socket: s, remote: remote, proof: proof}, opened, nil
}

func (w *iperf2Sender) send(lasts time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil {
		return errTwice
	}
	w.proof.close()
	seconds := int64((lasts + time.Second - 1) / time.Second)
	a := append(w.iperf2Arguments(), "-c", w.remote.String(), "-t", strconv.FormatInt(seconds, 10), "-P",
		strconv.Itoa(w.shape.Connections))
	if w.shape.BitsPerSecond > 0 {
		a = append(a, "-b", strconv.FormatInt(w.shape.BitsPerSecond, 10))
		if !w.shape.Datagrams {
			a = append(a, "-N") // as iperf3Test has it
		}
	}
	if w.shape.CongestionControl != "" {
		a = append(a, "-Z", w.shape.CongestionControl)
	}
	process, err := w.startIperf2(a)
	if err != nil {
		return err
	}
	w.process = process
	if !w.shape.Datagrams {
		w.watched = watch(w.diagnose)
	}
	return nil
}

// diagnose reads TCP_INFO of iperf's connections, which are another process's, by sock_diag(7). Without it,
// what the connections wait for is unknown.
func (w *iperf2Sender) diagnose() (infos []unix.TCPInfo, err error) {
	family := uint8(unix.AF_INET)
	if w.local.Is6() {
		family = unix.AF_INET6
	}
	err = w.namespace.Do(func() error {
		sockets, err := netlink.SocketDiagTCPInfo(family)
		for _, s := range sockets {
			if t := s.TCPInfo; t != nil && s.InetDiagMsg.ID.DestinationPort == iperf2Port &&
				s.InetDiagMsg.ID.Destination.Equal(w.remote.AsSlice()) {
				infos = append(infos, unix.TCPInfo{Ca_state: t.Ca_state, Snd_mss: t.Snd_mss, Unacked: t.Unacked,
					Sacked: t.Sacked, Lost: t.Lost, Retrans: t.Retrans, Rtt: t.Rtt, Snd_cwnd: t.Snd_cwnd,
					Total_retrans: t.Total_retrans, Bytes_acked: t.Bytes_acked, Min_rtt: t.Min_rtt,
					Data_segs_out: t.Data_segs_out, Busy_time: t.Busy_time, Rwnd_limited: t.Rwnd_limited,
					Sndbuf_limited: t.Sndbuf_limited, Bytes_sent: t.Bytes_sent, Bytes_retrans: t.Bytes_retrans})
			}
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("what the kernel says of iperf's connections (sock_diag): load its module tcp_diag, or use "+
			"application Iperf3: %w", err)
	}
	return infos, err
}

func (w *iperf2Sender) read(clock func() time.Duration) *measure.Sending {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process == nil {
		return &measure.Sending{At: clock(), Connections: w.shape.Connections}
	}
	counted := w.process.output.read()
	r := measure.Sending{At: counted.end}
	if w.watched != nil {
		r = w.watched.read(clock)
	}
	r.Connections, r.WrittenBytes, r.Broken = w.shape.Connections, counted.bytes, cmp.Or(w.process.brokenBy(), r.Broken)
	if w.shape.Datagrams {
		r.SentBytes = counted.bytes
		r.Datagrams = []int64{counted.bytes / w.shape.MessageBytes}
	}
	return &r
}

func (w *iperf2Sender) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.proof.close()
	if w.watched != nil {
		w.watched.close()
		w.watched = nil
	}
	if w.process != nil {
		w.process.close()
	}
}

// iperf2Receiver is a direction's server, with a server of linerate's own by which the path is proven. It is
// safe for concurrent use.
type iperf2Receiver struct {
	socket
	proof   *receiver
	process *iperf2Process
}

func listenIperf2(s socket, token string) (*iperf2Receiver, error) {
	if err := s.free(); err != nil {
		return nil, err
	}
	proof, err := listen(s, token, faults{})
	if err != nil {
		return nil, err
	}
	process, err := s.startIperf2(append(s.iperf2Arguments(), "-s", "-t",
		strconv.FormatInt(int64((s.shape.Lasts+iperf2Late)/time.Second), 10)))
	if err != nil {
		proof.close()
		return nil, err
	}
	return &iperf2Receiver{s, proof, process}, nil
}

// free is an error where iperf's port is taken, because iperf itself reports that only as text.
func (s socket) free() error {
	return s.namespace.Do(func() error {
		address := netip.AddrPortFrom(s.local, iperf2Port).String()
		var listener interface{ Close() error }
		var err error
		if s.shape.Datagrams {
			listener, err = net.ListenPacket("udp", address)
		} else {
			listener, err = net.Listen("tcp", address)
		}
		if errors.Is(err, unix.EADDRINUSE) {
			return fmt.Errorf("listen on %s: %w: end the program that has it (ss -lntup 'sport = :%d' names it)",
				address, iperf3.ErrTaken, iperf2Port)
		}
		if err != nil {
			return fmt.Errorf("listen on %s: %w", address, err)
		}
		return listener.Close()
	})
}

// awaitAll waits for all connections by which the path is proven, and for iperf to listen, because its client gives
// up at the first refusal.
func (r *iperf2Receiver) awaitAll(ctx context.Context) (*Opened, error) {
	opened, err := r.proof.awaitAll(ctx)
	if err != nil {
		return nil, err
	}
	r.process.output.expect(opened.Remote)
	for {
		listens, err := r.listens()
		if err != nil || listens {
			return opened, err
		}
		if reason := r.process.brokenBy(); reason != "" {
			return nil, errors.New(reason)
		}
		if err := bounded.Pause(ctx, listenPoll); err != nil {
			return nil, fmt.Errorf("iperf did not listen on port %d: %w", iperf2Port, err)
		}
	}
}

// listenPoll is how often the kernel is asked whether iperf listens, which it does a few milliseconds after its start.
const listenPoll = 5 * time.Millisecond

// listens says whether iperf's port is in use. It was free before iperf started.
func (r *iperf2Receiver) listens() (bool, error) {
	table, err := r.sockets()
	return len(ofPort(table, iperf2Port)) > 0, err
}

// sockets is the kernel's table of sockets of iperf's protocol, in the end's namespace (proc(5), net/tcp and net/udp).
func (r *iperf2Receiver) sockets() (table string, err error) {
	file := "/proc/thread-self/net/tcp"
	if r.shape.Datagrams {
		file = "/proc/thread-self/net/udp"
	}
	if r.local.Is6() {
		file += "6"
	}
	err = r.namespace.Do(func() error {
		text, err := os.ReadFile(file)
		table = string(text)
		return err
	})
	return table, err
}

func (r *iperf2Receiver) read(func() time.Duration) *measure.Receiving {
	counted := r.process.output.read()
	reading := &measure.Receiving{At: counted.end, Connections: r.shape.Connections, Bytes: counted.bytes,
		Broken: cmp.Or(r.process.brokenBy(), r.process.output.stranger())}
	if !r.shape.Datagrams {
		return reading
	}
	reading.Streams = []measure.Arrivals{{Highest: counted.total, Distinct: counted.total - counted.lost}}
	reading.OutOfOrder, reading.Jitter = counted.late, counted.jitter
	dropped, err := r.dropped()
	if err != nil {
		reading.Broken = cmp.Or(reading.Broken, err.Error())
	}
	reading.Dropped = dropped
	return reading
}

// dropped is how many packets found no room in iperf's own sockets, by the kernel's table of sockets.
func (r *iperf2Receiver) dropped() (int64, error) {
	table, err := r.sockets()
	if err != nil {
		return 0, fmt.Errorf("what iperf's sockets dropped: %w", err)
	}
	return udpDrops(table, iperf2Port), nil
}

// udpDrops adds up the last column (drops) of the sockets on a port.
func udpDrops(table string, port int) (sum int64) {
	for _, fields := range ofPort(table, port) {
		n, _ := strconv.ParseInt(fields[len(fields)-1], 10, 64)
		sum += n
	}
	return sum
}

// ofPort are the sockets in a table that are on a local port, each as its columns.
func ofPort(table string, port int) (sockets [][]string) {
	suffix := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.HasSuffix(fields[1], suffix) {
			sockets = append(sockets, fields)
		}
	}
	return sockets
}

func (r *iperf2Receiver) close() {
	r.proof.close()
	r.process.close()
}
