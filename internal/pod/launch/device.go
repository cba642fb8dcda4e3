package launch

import (
	"io/fs"
	"path"

	"github.com/linerate-dev/linerate/internal/host/card"
)

// Interface is a network interface of the kernel, in the pod.
type Interface struct {
	Name       string
	MAC        string
	MTU        int64
	SpeedMbps  int64 // 0 unknown, as of most virtual interfaces
	PCIAddress string
}

func (t tree) interfaces() map[string]Interface {
	found := map[string]Interface{}
	for _, name := range t.names("/sys/class/net") {
		dir := path.Join("/sys/class/net", name)
		i := Interface{Name: name, MAC: t.text(dir + "/address"), MTU: t.number(dir+"/mtu", 0),
			SpeedMbps: card.SpeedMbps(t.FS, name)}
		if address := t.pointsTo(dir + "/device"); card.IsAddress(address) {
			i.PCIAddress = address
		}
		found[name] = i
	}
	return found
}

// DriverOf is the kernel's driver of a PCI device, or, where the address is empty, of an interface's device. It
// is empty where there is none.
func DriverOf(root fs.FS, address, name string) string {
	if card.IsAddress(address) {
		d, _ := card.DeviceOf(root, address)
		return d.Driver
	}
	return tree{root}.pointsTo(path.Join("/sys/class/net", name, "device", "driver"))
}
