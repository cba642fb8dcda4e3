package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/test/rigs/built"
)

// Rig is a Lab that runs.
type Rig struct {
	machines []*Machine
}

// Machine is one that runs.
type Machine struct {
	Name    string
	process *process
	shell   *ssh.Client
	monitor *monitor
}

// maxBoot bounds a machine's boot, which takes 10 s of a processor of its own.
const maxBoot = 4 * time.Minute

// Start brings all machines of the lab up, with their functions, and returns when programs can run in them, or with
// the console of one that isn't up after maxBoot. A machine ends with Close, and with this process. What takes long is
// written to progress.
func Start(ctx context.Context, lab Lab, progress io.Writer) (*Rig, error) {
	lab, err := lab.complete()
	if err != nil {
		return nil, err
	}
	p, err := prepare(progress)
	if err != nil {
		return nil, err
	}
	cables, err := lay(lab.Cables)
	if err != nil {
		return nil, err
	}
	rig := &Rig{machines: make([]*Machine, len(lab.Machines))}
	errs := make([]error, len(lab.Machines))
	var booting sync.WaitGroup
	for i, d := range lab.Machines {
		booting.Go(func() {
			rig.machines[i], errs[i] = boot(ctx, p, i, d, cables)
		})
	}
	booting.Wait()
	if err := errors.Join(errs...); err != nil {
		rig.Close()
		return nil, err
	}
	return rig, nil
}

// Machine is the machine of this name, the first if the name is empty, and nil if there is none.
func (r *Rig) Machine(name string) *Machine {
	for _, m := range r.machines {
		if m.Name == name || name == "" {
			return m
		}
	}
	return nil
}

// Close ends all machines at once, as if their power was cut.
func (r *Rig) Close() {
	for _, m := range r.machines {
		if m != nil {
			m.Kill()
		}
	}
}

// prepare finds the programs that machines are made of, and makes what the cache lacks.
func prepare(progress io.Writer) (prepared, error) {
	emulator, err := findEmulator()
	if err != nil {
		return prepared{}, err
	}
	for program, pkg := range map[string]string{"busybox": "busybox-static", "depmod": "kmod", "ip": "iproute2"} {
		if _, err := exec.LookPath(program); err != nil {
			return prepared{}, missing(pkg)
		}
	}
	cache, err := cacheDir()
	if err != nil {
		return prepared{}, err
	}
	k, err := findKernel(cache, progress)
	if err != nil {
		return prepared{}, err
	}
	unlock, err := built.Lock(filepath.Join(cache, "machine.lock"))
	if err != nil {
		return prepared{}, err
	}
	defer unlock()
	p := prepared{emulator: emulator, kernel: k, agent: filepath.Join(cache, "machine-agent"),
		initramfs: filepath.Join(cache, "machine-initramfs-"+k.version)}
	if err := buildAgent(p.agent); err != nil {
		return prepared{}, err
	}
	return p, replace(p.initramfs, func(file string) error { return writeInitramfs(file, k) })
}

// replace writes a file beside the named one, and renames it: another machine may be reading the old one.
func replace(file string, write func(file string) error) error {
	if err := write(file + ".new"); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// buildAgent links the agent, if its sources have changed.
func buildAgent(file string) error {
	project, err := built.Project()
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", file, "./test/rigs/machine/agent")
	build.Dir, build.Env = project, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if output, err := combinedOutput(build); err != nil {
		return fmt.Errorf("build the machine's agent: %w\n%s", err, output)
	}
	return nil
}

// lay makes a pair of sockets for each cable. Nothing of them is in the file system.
func lay(cables []Cable) (map[string]*os.File, error) {
	laid := map[string]*os.File{}
	for _, cable := range cables {
		ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("lay a cable from %s to %s: %w", cable[0], cable[1], err)
		}
		for i, end := range cable {
			laid[end] = os.NewFile(uintptr(ends[i]), end)
		}
	}
	return laid, nil
}

// boot starts one machine, and waits until it is as described.
func boot(ctx context.Context, p prepared, index int, d Description, cables map[string]*os.File) (*Machine, error) {
	var a arguments
	a.hardware(p, index, d, cables)
	a.add("device", "virtio-serial-pci,bus=pcie.0")
	serial, err := a.channel("linerate")
	if err != nil {
		return nil, err
	}
	a.add("device", "virtserialport,chardev=linerate,name=linerate")
	control, err := a.channel("monitor")
	if err != nil {
		return nil, err
	}
	a.add("mon", "chardev=monitor,mode=control")
	process, err := launch(p.emulator, a)
	if err != nil {
		return nil, err
	}
	m := &Machine{Name: d.Name, process: process, monitor: &monitor{conn: control, answers: json.NewDecoder(control)}}
	ctx, cancel := context.WithTimeoutCause(ctx, maxBoot, fmt.Errorf("it isn't up after %s", maxBoot))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = process.cmd.Process.Kill() })
	defer stop()
	if err := m.bringUp(ctx, serial, index, d); err != nil {
		m.Kill()
		return nil, errors.Join(fmt.Errorf("machine %s didn't come up: %w; its console:\n%s", d.Name, err, m.Console()),
			context.Cause(ctx))
	}
	return m, nil
}

func (m *Machine) bringUp(ctx context.Context, serial net.Conn, index int, d Description) error {
	if err := m.monitor.open(); err != nil {
		return err
	}
	conn, channels, requests, err := ssh.NewClientConn(serial, "machine", &ssh.ClientConfig{
		User: "root", HostKeyCallback: ssh.InsecureIgnoreHostKey(), // nobody else has an end of this pair of sockets
	})
	if err != nil {
		return fmt.Errorf("wait for its agent: %w", err)
	}
	m.shell = ssh.NewClient(conn, channels, requests)
	var words strings.Builder
	script := m.Command("/bin/sh", "-c", setUp(index, d))
	script.Stdout, script.Stderr = &words, &words
	if err := script.Run(ctx); err != nil {
		return fmt.Errorf("set up its ports: %w: %s", err, words.String())
	}
	return nil
}

// Console is the last of what the machine's kernel printed.
func (m *Machine) Console() string { return m.process.console.String() }

// Kill cuts the machine's power.
func (m *Machine) Kill() {
	m.process.kill()
	if m.shell != nil {
		_ = m.shell.Close()
	}
	_ = m.monitor.conn.Close()
}

// Dial connects to a server in the machine by TCP, e.g. 127.0.0.1:6443.
func (m *Machine) Dial(ctx context.Context, address string) (net.Conn, error) {
	return m.shell.DialContext(ctx, "tcp", address)
}

// SetLink pulls the cable of a port, or plugs it in again.
func (m *Machine) SetLink(port string, up bool) error {
	return m.monitor.execute("set_link", map[string]any{"name": port, "up": up})
}

// monitor is QEMU's own (QEMU Machine Protocol).
type monitor struct {
	mu      sync.Mutex
	conn    net.Conn
	answers *json.Decoder
}

func (m *monitor) open() error {
	var greeting struct{ QMP json.RawMessage }
	if err := m.answers.Decode(&greeting); err != nil {
		return fmt.Errorf("wait for QEMU: %w", err)
	}
	return m.execute("qmp_capabilities", nil)
}

func (m *monitor) execute(command string, args map[string]any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	request := map[string]any{"execute": command}
	if args != nil {
		request["arguments"] = args
	}
	if err := json.NewEncoder(m.conn).Encode(request); err != nil {
		return err
	}
	for {
		var answer struct {
			Return json.RawMessage
			Error  *struct{ Desc string }
		}
		if err := m.answers.Decode(&answer); err != nil {
			return err
		}
		switch {
		case answer.Error != nil:
			return fmt.Errorf("QEMU refuses %s: %s", command, answer.Error.Desc)
		case answer.Return != nil: // all else are events
			return nil
		}
	}
}
