package machine

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	emulator   = "qemu-system-x86_64"
	minVersion = 8 // the first with Intel's 82576
)

// MissingPackage says that this host lacks a program, and which package has it.
type MissingPackage struct{ Package string }

func missing(name string) error { return MissingPackage{Package: name} }

func (m MissingPackage) Error() string {
	return fmt.Sprintf("this host lacks Debian's package %s: as root, type: hack/ci-packages machine", m.Package)
}

// findEmulator is the path of a QEMU that has the card.
func findEmulator() (string, error) {
	path, err := exec.LookPath(emulator)
	if err != nil {
		return "", missing("qemu-system-x86")
	}
	output, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	version := regexp.MustCompile(`version (\d+)\.`).FindSubmatch(output)
	if version == nil {
		return "", fmt.Errorf("%s --version doesn't say its version: %q", path, output)
	}
	if major, err := strconv.Atoi(string(version[1])); err != nil || major < minVersion {
		return "", fmt.Errorf("%s is version %s, and a network card with virtual functions came with version %d: as root, "+
			"type: hack/ci-packages machine", path, version[1], minVersion)
	}
	return path, nil
}

// arguments are QEMU's command line, and the files that it inherits.
type arguments struct {
	list  []string
	files []*os.File
}

func (a *arguments) add(option, format string, values ...any) {
	a.list = append(a.list, "-"+option, fmt.Sprintf(format, values...))
}

// inherit adds a file, and returns its number in QEMU.
func (a *arguments) inherit(file *os.File) int {
	a.files = append(a.files, file)
	return 2 + len(a.files)
}

// prepared is what all machines are started from.
type prepared struct {
	emulator, initramfs, agent string
	kernel                     kernel
}

// hardware describes the machine to QEMU. Cables are one end for each port that has one.
func (a *arguments) hardware(p prepared, index int, d Description, cables map[string]*os.File) {
	a.list = append(a.list, "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot", "-no-user-config")
	a.add("machine", "q35")
	a.add("cpu", "max")
	a.add("accel", "tcg,thread=multi")
	a.add("smp", "%d,sockets=%d,cores=1,threads=1", d.Processors, d.Processors)
	a.add("m", "%dM", d.MemoryMiB/d.NUMANodes*d.NUMANodes)
	for node := range d.NUMANodes {
		a.add("object", "memory-backend-ram,id=memory%d,size=%dM", node, d.MemoryMiB/d.NUMANodes)
		a.add("numa", "node,nodeid=%d,memdev=memory%d", node, node)
	}
	for processor := range d.Processors {
		a.add("numa", "cpu,node-id=%d,socket-id=%d", processor%d.NUMANodes, processor)
	}
	a.add("kernel", "%s", p.kernel.image)
	a.add("initrd", "%s", p.initramfs)
	options := "console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off tsc=reliable" +
		" no_timer_check" + // on a busy host the first ticks come late, and the kernel would panic
		" maxcpus=1" // setUp starts the other processors: the booting kernel patches its code, and QEMU's threads race over that
	if !d.WithoutIOMMU {
		a.add("device", "intel-iommu")
		options += " intel_iommu=on iommu=pt"
	}
	a.add("append", "%s linerate.agent=%s linerate.modules=%s", options, p.agent, p.kernel.modules)
	a.add("fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap")
	a.add("device", "virtio-9p-pci,bus=pcie.0,fsdev=host,mount_tag=host")
	a.add("device", "virtio-rng-pci,bus=pcie.0")
	if d.HostNetwork {
		a.add("netdev", "user,id=host0")
		a.add("device", "virtio-net-pci,bus=pcie.0,netdev=host0,romfile=,mac=%s", mac(index, hostNetwork, -1))
	}
	if d.Tap != "" {
		a.add("netdev", "tap,id=tap0,ifname=%s,script=no,downscript=no", d.Tap)
		a.add("device", "virtio-net-pci,netdev=tap0,romfile=,mac=%s", mac(index, hostTap, -1))
	}
	for node := range d.NUMANodes {
		if d.NUMANodes > 1 {
			a.add("device", "pxb-pcie,id=node%d,bus=pcie.0,bus_nr=%d,numa_node=%d", node, 32*(node+1), node)
		}
	}
	for i, port := range d.Ports {
		a.port(index, i, d, port, cables[d.Name+"/"+port.Name])
	}
}

// hostNetwork is the number of the interface host0 among the machine's ports.
const hostNetwork = 255

// hostTap is that of tap0.
const hostTap = 254

func (a *arguments) port(machine, index int, d Description, port Port, cable *os.File) {
	bus := "pcie.0"
	if d.NUMANodes > 1 {
		bus = fmt.Sprintf("node%d", port.NUMANode)
	}
	if cable != nil {
		a.add("netdev", "dgram,id=cable%d,local.type=fd,local.str=%d", index, a.inherit(cable))
	} else {
		a.add("netdev", "hubport,id=cable%d,hubid=%d", index, index)
	}
	slot := fmt.Sprintf("slot%d", index)
	if card, function, found := strings.Cut(port.Address, ":00."); found {
		slot = fmt.Sprintf("card%s,addr=0.%s", card, function)
		if function == "0" {
			bus = a.expander(card, port.NUMANode)
			// without the property the kernel looks for no second function of a card with ARI
			slot += ",multifunction=on,x-pcie-ari-nextfn-1=on"
			a.add("device", "pcie-root-port,id=card%s,bus=%s,chassis=%d,slot=%d", card, bus, index+1, index+1)
		}
	} else {
		a.add("device", "pcie-root-port,id=%s,bus=%s,chassis=%d,slot=%d", slot, bus, index+1, index+1)
	}
	a.add("device", "%s,id=%s,netdev=cable%d,bus=%s,romfile=,mac=%s", port.Card, port.Name, index, slot,
		mac(machine, index, -1))
}

// expander adds a root bus whose only port leads to the bus of this hexadecimal number.
func (a *arguments) expander(bus string, node int) string {
	number, _ := strconv.ParseInt(bus, 16, 0) // checked with the description
	a.add("device", "pxb-pcie,id=bus%s,bus=pcie.0,bus_nr=%d,numa_node=%d", bus, number-1, node)
	return "bus" + bus
}

// channel adds a serial port or a monitor that only we hold the other end of.
func (a *arguments) channel(name string) (net.Conn, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours := os.NewFile(uintptr(ends[0]), name)
	defer func() { _ = ours.Close() }()
	a.add("chardev", "socket,id=%s,fd=%d", name, a.inherit(os.NewFile(uintptr(ends[1]), name)))
	return net.FileConn(ours)
}

// process is a QEMU that runs.
type process struct {
	cmd     *exec.Cmd
	console *console
	ended   chan struct{} // closed
}

// launch starts QEMU. It ends with this process, however that ends: the kernel kills it with the thread that started
// it, so that thread waits.
func launch(path string, a arguments) (*process, error) {
	p := &process{cmd: exec.Command(path, a.list...), console: &console{}, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = p.console, p.console, a.files
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL, Setpgid: true}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
		close(p.ended)
	}()
	err := <-started
	for _, file := range a.files {
		_ = file.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// console keeps the last of what the machine's kernel and QEMU print.
type console struct {
	mu   sync.Mutex
	text []byte
}

const consoleBytes = 64 << 10

func (c *console) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, text...)
	if len(c.text) > 2*consoleBytes {
		c.text = bytes.Clone(c.text[len(c.text)-consoleBytes:])
	}
	return len(text), nil
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.ToValidUTF8(string(c.text), "?")
}
