package machine

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/card"
)

// Machine is what a machine is.
type Machine struct {
	CPUModel   string `json:"cpuModel,omitempty"`
	Processors int    `json:"processors,omitempty"` // of the whole machine, also where a container has fewer
	Kernel     string `json:"kernel,omitempty"`     // its release
	// Hypervisor is whose virtual machine it is, by its firmware, or "none" where the processors say that they are
	// real.
	Hypervisor string `json:"hypervisor,omitempty"`
	// Tuning is how the machine is set up, as far as figures depend on it and the kernel tells, such as "frequency
	// governor performance; isolated processors 2-15; NUMA nodes 0-1; kernel command line …".
	Tuning string `json:"tuning,omitempty"`
	// Allowed are the processors that this process may run on by its cpuset and affinity, such as "2-7". A pod may
	// have others at each start.
	Allowed string `json:"allowed,omitempty"`
}

// Local is the machine that the process runs on.
func Local() Machine {
	m := Machine{Kernel: kernel(), Tuning: tuning(os.DirFS("/")), Allowed: allowed(os.DirFS("/"))}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return m
	}
	processors, err := proc.CPUInfo()
	if err != nil || len(processors) == 0 {
		return m
	}
	m.CPUModel, m.Processors = processors[0].ModelName, len(processors)
	m.Hypervisor = hypervisor(os.DirFS("/"), processors[0].Flags)
	return m
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// mostOfCommandLine is how many bytes of the kernel's command line are kept, because the words of a pod's init
// container must fit into a status.
const mostOfCommandLine = 1024

// tuning says how the machine is set up. It leaves out what the kernel doesn't tell, and names each governor of the
// processors once.
func tuning(root fs.FS) string {
	var words []string
	say := func(aspect, word string) {
		if word != "" {
			words = append(words, aspect+" "+word)
		}
	}
	say("frequency governor", strings.Join(Governors(root), " and "))
	say("isolated processors", text(root, "sys/devices/system/cpu/isolated"))
	switch nodes := text(root, "sys/devices/system/node/online"); nodes {
	case "", "0": // one, as each machine has
	default:
		say("NUMA nodes", nodes)
	}
	line := text(root, "proc/cmdline")
	if len(line) > mostOfCommandLine {
		line = strings.ToValidUTF8(line[:mostOfCommandLine], "") + "…"
	}
	say("kernel command line", line)
	return strings.Join(words, "; ")
}

// Governors are the frequency governors of all processors, each once.
func Governors(root fs.FS) (names []string) {
	files, _ := fs.Glob(root, "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor") // the pattern is well-formed
	for _, file := range files {
		if word := text(root, file); word != "" && !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	slices.Sort(names)
	return names
}

// allowed are the processors that this process may run on by its cpuset and affinity, such as "0-1".
func allowed(root fs.FS) string {
	for line := range strings.Lines(text(root, "proc/self/status")) {
		if list, found := strings.CutPrefix(line, "Cpus_allowed_list:"); found {
			return strings.TrimSpace(list)
		}
	}
	return ""
}

// unnamed is a hypervisor that doesn't say whose it is.
const unnamed = "unnamed"

// hypervisor is whose virtual machine this is. A processor without flags is of another architecture than x86, and
// says nothing of it.
func hypervisor(root fs.FS, flags []string) string {
	switch {
	case len(flags) == 0:
		return ""
	case !slices.Contains(flags, "hypervisor"):
		return "none"
	}
	var words []string
	for _, file := range []string{"sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"} {
		if word := text(root, file); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return unnamed
	}
	return strings.Join(words, " ")
}

// NIC is the network card behind an interface.
type NIC struct {
	// Driver is the name that the interface's driver gives itself.
	Driver string
	// Model is the card's PCI ids, such as "8086:1593". It is empty where the interface is on no PCI device, as
	// virtual ones are.
	Model    string
	Firmware string
	// Port is the PCI address of the port that the card is a virtual function of. It is empty for whole ports.
	Port string
}

// NICOf asks the driver of an interface, in the calling thread's namespace, what card it drives.
func NICOf(name string) NIC {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return NIC{}
	}
	defer unix.Close(fd) //nolint:errcheck // a socket that nothing was written to
	info, err := unix.IoctlGetEthtoolDrvinfo(fd, name)
	if err != nil {
		return NIC{}
	}
	address := unix.ByteSliceToString(info.Bus_info[:])
	device, _ := card.DeviceOf(os.DirFS("/"), address)
	return NIC{
		Driver: unix.ByteSliceToString(info.Driver[:]), Model: Model(os.DirFS("/"), address),
		Firmware: firmware(unix.ByteSliceToString(info.Fw_version[:])), Port: device.PhysicalFunction,
	}
}

// firmware is the version that a driver gives. Drivers without a version say so in words of their own.
func firmware(text string) string {
	text = strings.TrimSpace(text)
	if text == "N/A" || text == "n/a" {
		return ""
	}
	return text
}

// Model are the PCI ids of the device at this address, such as "8086:1593". It is empty where the address has no
// device.
func Model(root fs.FS, address string) string {
	if address == "" || strings.Contains(address, "/") {
		return ""
	}
	dir := path.Join("sys/bus/pci/devices", address)
	vendor, device := text(root, dir+"/vendor"), text(root, dir+"/device")
	if vendor == "" || device == "" {
		return ""
	}
	return strings.TrimPrefix(vendor, "0x") + ":" + strings.TrimPrefix(device, "0x")
}

// text is what a small file of the kernel's says.
func text(root fs.FS, file string) string {
	content, err := fs.ReadFile(root, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}
