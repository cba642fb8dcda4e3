package cni

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// Config is the plugin's network configuration, with what the runtime put in.
type Config struct {
	types.PluginConf
	// DeviceID is put in by Multus, from the devices that kubelet gave the pod.
	DeviceID string `json:"deviceID"`
	// StateDir is where the inventory and the records are. "" means vf.StateDir.
	StateDir string `json:"stateDir"`
	// MAC of the interface in each pod. "" means the function's own. A MAC that the runtime passes
	// (runtimeConfig.mac) comes first.
	MAC     string `json:"mac"`
	Runtime struct {
		DeviceID string   `json:"deviceID"`
		MAC      string   `json:"mac"`
		IPs      []string `json:"ips"`
	} `json:"runtimeConfig"`
}

// Wish is how the pod wants its interface.
type Wish struct {
	DeviceID  string
	MAC       net.HardwareAddr // nil for the function's own
	Addresses []netip.Prefix
}

// ParseConfig reads the configuration, from a plugin's standard input.
func ParseConfig(text []byte) (Config, error) {
	var c Config
	if err := json.Unmarshal(text, &c); err != nil {
		return Config{}, fmt.Errorf("network configuration: %w", err)
	}
	if c.StateDir == "" {
		c.StateDir = vf.StateDir
	}
	if c.IPAM.Type != "" {
		return Config{}, fmt.Errorf("network %s: ipam.type %s: this plugin has no ipam: give addresses with the "+
			"capability ips, or in the pod", c.Name, c.IPAM.Type)
	}
	return c, nil
}

// Wish is what ADD needs, or what is missing for it.
func (c Config) Wish() (Wish, error) {
	w := Wish{DeviceID: c.DeviceID}
	if w.DeviceID == "" {
		w.DeviceID = c.Runtime.DeviceID
	}
	if w.DeviceID == "" {
		return Wish{}, fmt.Errorf("network %s: no deviceID came: has its NetworkAttachmentDefinition the "+
			"annotation k8s.v1.cni.cncf.io/resourceName, and does the pod request one device of it per "+
			"attachment?", c.Name)
	}
	mac := c.Runtime.MAC
	if mac == "" {
		mac = c.MAC
	}
	if mac != "" {
		parsed, err := net.ParseMAC(mac)
		if err != nil || len(parsed) != 6 || parsed[0]&1 != 0 {
			return Wish{}, fmt.Errorf("network %s: mac %q: it must be a unicast MAC of 6 bytes, as in "+
				"02:00:00:00:00:01", c.Name, mac)
		}
		w.MAC = parsed
	}
	for _, text := range c.Runtime.IPs {
		address, err := netip.ParsePrefix(text)
		if err != nil {
			return Wish{}, fmt.Errorf("network %s: ips: %q: say it with its prefix, as in 198.18.0.1/24", c.Name, text)
		}
		w.Addresses = append(w.Addresses, address)
	}
	return w, nil
}
