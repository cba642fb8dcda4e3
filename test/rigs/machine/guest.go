package machine

import (
	"fmt"
	"strings"
)

// setUp is the shell script that makes the machine as it is described. The order is what the drivers need: a function
// has no address of its own before the port gave it one, and no answer from a port without a link.
func setUp(index int, d Description) string {
	var script strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&script, format+"\n", args...) }
	say("set -eu")
	say("hostname %s", d.Name)
	for processor := 1; processor < d.Processors; processor++ {
		say("echo 1 >/sys/devices/system/cpu/cpu%d/online", processor)
	}
	say("ip link set lo up")
	for node := range d.NUMANodes {
		say("echo %d >/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/nr_hugepages", d.Hugepages, node)
	}
	say(`named() { # ADDRESS NAME: the interface with the address gets the name
	for each in /sys/class/net/*; do
		[ "$(cat "$each/address")" != "$1" ] || { ip link set "${each##*/}" name "$2"; return; }
	done
	echo "no interface has the address $1" >&2
	return 1
}`)
	if d.HostNetwork {
		say("modprobe virtio_net")
		say("named %s host0", mac(index, hostNetwork, -1))
		say("ip address add 10.0.2.15/24 dev host0; ip link set host0 up; ip route add default via 10.0.2.2")
	}
	if d.Tap != "" {
		say("modprobe virtio_net")
		say("named %s tap0", mac(index, hostTap, -1))
	}
	for _, card := range cards(d) {
		say("modprobe %s", card)
	}
	for i, port := range d.Ports {
		say("named %s %s", mac(index, i, -1), port.Name)
		if port.Queues > 0 {
			say("ethtool -L %s combined %d", port.Name, port.Queues)
		}
		if port.Functions > 0 {
			say("echo %d >/sys/class/net/%s/device/sriov_numvfs", port.Functions, port.Name)
		}
		say("ip link set %s up", port.Name)
		for function := range port.Functions {
			say("ip link set %s vf %d mac %s spoofchk off trust on", port.Name, function, mac(index, i, function))
		}
	}
	for _, port := range d.Ports {
		say("deadline=$(($(date +%%s) + 60))")
		say(`until [ "$(cat /sys/class/net/%s/carrier)" = 1 ]; do`, port.Name)
		say(`	[ "$(date +%%s)" -lt "$deadline" ] || { echo "port %s has no link after 60 s" >&2; exit 1; }`, port.Name)
		say("	sleep 0.1")
		say("done")
	}
	functions(say, d)
	return script.String()
}

// cards are the modules of the ports' drivers.
func cards(d Description) []string {
	var modules []string
	for _, port := range d.Ports {
		module := port.Card
		if strings.HasPrefix(module, "virtio-net") {
			module = "virtio_net"
		}
		modules = append(modules, module)
	}
	return modules
}

// functions gives the functions to their drivers, and names their interfaces.
func functions(say func(string, ...any), d Description) {
	loaded := map[string]bool{}
	for _, port := range d.Ports {
		for function := range port.Functions {
			driver := port.driver(function)
			loaded[driver] = true
			if driver != "igbvf" {
				say("echo %s >/sys/class/net/%s/device/virtfn%d/driver_override", driver, port.Name, function)
			}
		}
	}
	for _, driver := range []string{vfio, "igbvf"} {
		if loaded[driver] {
			say("modprobe %s", driver)
		}
	}
	for _, port := range d.Ports {
		for function := range port.Functions {
			device := fmt.Sprintf("/sys/class/net/%s/device/virtfn%d", port.Name, function)
			switch port.driver(function) {
			case "igbvf":
				say(`ip link set "$(ls %s/net)" name %sv%d`, device, port.Name, function)
			case vfio:
				say(`echo "$(basename "$(readlink %s)")" >/sys/bus/pci/drivers/vfio-pci/bind || [ -e %s/driver ]`, device, device)
			}
		}
	}
}
