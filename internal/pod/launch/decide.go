package launch

import (
	"cmp"
	"fmt"
	"slices"
)

// TRex's own TCP ports.
const (
	defaultRPCPort       = 4501
	defaultPublisherPort = 4500
)

// virtualFunctionRing is how many receive descriptors a virtual function gets, as TRex's 512 lose bursts.
const virtualFunctionRing = 4096

// Decide makes TRex's configuration from the pod's devices and the test's options, or names all reasons why it can't.
func Decide(o Observed, opts Options) (Config, []Fault) {
	devices, faults := assign(o, opts)
	if len(faults) > 0 {
		return Config{}, faults
	}
	c := Config{
		Devices:       devices,
		Kind:          devices[0].Kind,
		Interfaces:    interfaces(devices),
		MTU:           opts.MTU,
		RPCPort:       cmp.Or(opts.RPCPort, defaultRPCPort),
		PublisherPort: cmp.Or(opts.PublisherPort, defaultPublisherPort),
		Extra:         opts.Extra,
	}
	for _, rule := range []func(*Config, Observed, Options) []Fault{
		oneDriver, oneWireEach, rightsSuffice, deviceFiles, layOutThreads, sizeMemory, reservedSettings,
	} {
		faults = append(faults, rule(&c, o, opts)...)
	}
	if len(faults) > 0 {
		return Config{}, faults
	}
	c.PortInfo = portInfo(opts.Links, devices)
	c.PortSpeedMbps = portSpeed(c.Kind, opts)
	virtual := slices.ContainsFunc(devices, func(d LinkDevice) bool { return d.VirtualFunction })
	if virtual && c.Kind != Kernel {
		c.RXDescriptors = virtualFunctionRing
	}
	c.SoftwareFilter = c.Kind == Kernel || c.Kind == VFIO && virtual
	c.Arguments = append(ownArguments(c), opts.Arguments...)
	return c, nil
}

// interfaces are TRex's names of the ports, an even number of them.
func interfaces(devices []LinkDevice) []string {
	var names []string
	for _, d := range devices {
		names = append(names, portName(d))
	}
	if len(names)%2 == 1 {
		names = append(names, "dummy")
	}
	return names
}

func portName(d LinkDevice) string {
	if d.Kind == Kernel {
		return d.Interface
	}
	return d.PCIAddress
}

// portInfo addresses each port by IPv4 where the link has such addresses, else by MACs. Only a kernel interface
// needs its own MAC there, as TRex itself reads those of PCI devices.
func portInfo(links []Link, devices []LinkDevice) []PortInfo {
	info := make([]PortInfo, len(links))
	for i, l := range links {
		if l.Address.IsValid() && l.Address.Addr().Is4() && l.Gateway.Is4() {
			info[i] = PortInfo{IP: l.Address.Addr().String(), Gateway: l.Gateway.String()}
			continue
		}
		info[i].Destination = cmp.Or(l.DestinationMAC, "00:00:00:00:00:00")
		if devices[i].Kind == Kernel {
			info[i].Source = devices[i].MAC
		}
	}
	return info
}

// afPacketMbps is the speed that TRex takes every kernel interface to have. It refuses more.
const afPacketMbps = 10_000

// portSpeed overrides the speed that ports detect. Kernel interfaces detect none, and get the fastest link's
// rate where that is above TRex's assumption. TRex has one figure for all ports.
func portSpeed(kind Kind, opts Options) int64 {
	if opts.PortSpeed > 0 {
		return megabits(int64(opts.PortSpeed))
	}
	if kind != Kernel {
		return 0
	}
	fastest := int64(0)
	for _, l := range opts.Links {
		if rate := megabits(int64(l.LineRate)); rate > afPacketMbps {
			fastest = max(fastest, rate)
		}
	}
	return fastest
}

// megabits rounds up, as a port that reports less than its line rate would refuse to be driven at it.
func megabits(bitsPerSecond int64) int64 { return (bitsPerSecond + 999_999) / 1_000_000 }

// ownArguments are TRex's, but for the configuration file's name and -c.
func ownArguments(c Config) []string {
	arguments := []string{"--iom", "0", "--no-key", "--no-termio"}
	if c.Kind == MLX5 {
		arguments = append(arguments, "--mlx5-so")
	}
	if c.SoftwareFilter {
		arguments = append(arguments, "--software")
	}
	return arguments
}

// reservedKeys are settings that the mapping of links to ports depends on.
var reservedKeys = []string{"interfaces", "port_limit", "interface_mask", "interfaces_vdevs"}

func reservedSettings(_ *Config, _ Observed, opts Options) []Fault {
	var faults []Fault
	for _, key := range reservedKeys {
		if _, set := opts.Extra[key]; set {
			faults = append(faults, Fault{ReservedSetting, fmt.Sprintf("extra TRex configuration sets %s", key),
				"remove it: the ports are those of the test's links, in their order"})
		}
	}
	return faults
}
