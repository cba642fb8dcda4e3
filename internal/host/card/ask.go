package card

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Answer is what the kernel says of an interface by netlink and ethtool alone.
type Answer struct {
	State
	Functions map[int]Settings // of a port, by the function's index
}

// State is what programs and people left on an interface, and what its driver can.
type State struct {
	Promiscuous bool
	// XDP is the id of the XDP program on it, 0 for none.
	XDP       uint32
	Addresses []string // IPv4 and IPv6, but link-local ones
	Filters   int      // of tc, at its ingress and egress
	Master    string   // the bridge or bond that it is in
	// Pause says that it sends or obeys pause frames.
	Pause bool
	// Ring is how many received frames wait in the card's memory, of MostRing. Both are 0 if the driver doesn't say.
	Ring, MostRing int
	// Stamps is which received frames the card stamps with its own clock.
	Stamps Stamps
}

// Stamps is which received frames a card stamps.
type Stamps string

// The kinds of stamps.
const (
	NoStamps  Stamps = ""
	PTPStamps Stamps = "PTP frames"
	AllStamps Stamps = "all frames"
)

// Settings are what a port sets for a virtual function. The function's own interface doesn't show them.
type Settings struct {
	MAC               string
	VLAN              int // 0 for none
	SpoofCheck, Trust bool
	Disabled          bool // its link, whatever the port's is
	MaxMbps           int  // 0 for no limit
}

// linkDisabled is IFLA_VF_LINK_STATE_DISABLE of linux/if_link.h.
const linkDisabled = 2

// Ask asks the kernel about the interfaces of the calling thread's network namespace, by name. It needs no right.
func Ask() (map[string]Answer, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list the interfaces: %w", err)
	}
	names := map[int]string{}
	for _, l := range links {
		names[l.Attrs().Index] = l.Attrs().Name
	}
	answers := map[string]Answer{}
	for _, l := range links {
		a := l.Attrs()
		answer := Answer{State: State{Promiscuous: a.RawFlags&unix.IFF_PROMISC != 0, Master: names[a.MasterIndex],
			Addresses: addresses(l), Filters: filters(l), Pause: pauses(a.Name), Stamps: stamps(a.Name)},
			Functions: map[int]Settings{}}
		if a.Xdp != nil && a.Xdp.Attached {
			answer.XDP = a.Xdp.ProgId
		}
		answer.Ring, answer.MostRing = rings(a.Name)
		for _, vf := range a.Vfs {
			answer.Functions[vf.ID] = Settings{MAC: vf.Mac.String(), VLAN: vf.Vlan, SpoofCheck: vf.Spoofchk,
				// a driver that doesn't know trust reports all bits
				Trust: vf.Trust != 0 && vf.Trust != math.MaxUint32, Disabled: vf.LinkState == linkDisabled,
				MaxMbps: int(max(vf.MaxTxRate, uint32(vf.TxRate)))}
		}
		answers[a.Name] = answer
	}
	return answers, nil
}

func addresses(l netlink.Link) (list []string) {
	found, _ := netlink.AddrList(l, netlink.FAMILY_ALL) // unreadable is none
	for _, a := range found {
		if a.IP.IsGlobalUnicast() {
			list = append(list, a.IPNet.String())
		}
	}
	return list
}

func filters(l netlink.Link) (count int) {
	for _, parent := range []uint32{netlink.HANDLE_MIN_INGRESS, netlink.HANDLE_MIN_EGRESS} {
		found, _ := netlink.FilterList(l, parent) // without a queueing discipline there is none
		count += len(found)
	}
	return count
}

// pauses asks the driver (ETHTOOL_GPAUSEPARAM). A driver that can't say sends none.
func pauses(name string) bool {
	parameters := struct{ command, automatic, receive, send uint32 }{command: unix.ETHTOOL_GPAUSEPARAM}
	return netif.Ethtool(name, unsafe.Pointer(&parameters)) == nil && parameters.receive+parameters.send > 0
}

// rings asks the driver (ETHTOOL_GRINGPARAM).
func rings(name string) (ring, capacity int) {
	parameters := struct { // the kernel's struct ethtool_ringparam
		command, capacity, _, _, _ uint32
		ring, _, _, _              uint32
	}{command: unix.ETHTOOL_GRINGPARAM}
	if netif.Ethtool(name, unsafe.Pointer(&parameters)) != nil {
		return 0, 0
	}
	return int(parameters.ring), int(parameters.capacity)
}

// stamps asks the driver (ETHTOOL_GET_TS_INFO) which frames its card stamps.
func stamps(name string) Stamps {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return NoStamps
	}
	defer func() { _ = unix.Close(fd) }()
	info, err := unix.IoctlGetEthtoolTsInfo(fd, name)
	switch {
	case err != nil || info.So_timestamping&unix.SOF_TIMESTAMPING_RX_HARDWARE == 0:
		return NoStamps
	case info.Rx_filters&(1<<unix.HWTSTAMP_FILTER_ALL) != 0:
		return AllStamps
	case info.Rx_filters>>1 != 0: // but HWTSTAMP_FILTER_NONE
		return PTPStamps
	}
	return NoStamps
}

// String is the settings in the words of "ip link show".
func (s Settings) String() string {
	onOff := map[bool]string{true: "on", false: "off"}
	words := []string{"MAC " + s.MAC, "spoof check " + onOff[s.SpoofCheck], "trust " + onOff[s.Trust]}
	if s.VLAN > 0 {
		words = append(words, fmt.Sprintf("VLAN %d", s.VLAN))
	}
	return strings.Join(words, ", ")
}
