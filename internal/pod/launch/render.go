package launch

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Render is the configuration as TRex reads it, which in version 2 of its format is a list that holds one map.
// The same Config always gives the same text.
func Render(c Config) ([]byte, error) {
	body, err := yaml.Marshal([]any{merged(c.document(), c.Extra)})
	if err != nil {
		return nil, fmt.Errorf("render TRex's configuration: %w", err)
	}
	return append([]byte(c.comment()), body...), nil
}

func (c Config) comment() string {
	names := make([]string, len(c.Devices))
	for i, d := range c.Devices {
		names[i] = fmt.Sprintf("%d %s", i, d.Link)
	}
	return "# Written by linerate trex-launch. Ports: " + strings.Join(names, ", ") + "\n"
}

func (c Config) document() map[string]any {
	d := map[string]any{
		"version":      2,
		"interfaces":   c.Interfaces,
		"port_info":    ports(c.PortInfo),
		"c":            c.Cores,
		"prefix":       "linerate",
		"zmq_rpc_port": c.RPCPort,
		"zmq_pub_port": c.PublisherPort,
	}
	if c.Threads != nil {
		d["platform"] = c.Threads.document()
	} else {
		d["low_end"], d["low_end_core"] = true, c.OneThread
	}
	optional := map[string]int64{"rx_desc": int64(c.RXDescriptors), "port_mtu": int64(c.MTU),
		"port_speed": c.PortSpeedMbps}
	for key, value := range optional {
		if value > 0 {
			d[key] = value
		}
	}
	if c.MemoryMiB > 0 {
		d["limit_memory"] = strconv.FormatInt(c.MemoryMiB, 10) // TRex wants text
	}
	return d
}

func (t *Threads) document() map[string]any {
	pairs := make([]any, len(t.Pairs))
	for i, p := range t.Pairs {
		pairs[i] = map[string]any{"socket": p.Socket, "threads": p.CPUs}
	}
	return map[string]any{"master_thread_id": t.Master, "latency_thread_id": t.Latency, "dual_if": pairs}
}

func ports(info []PortInfo) []any {
	ports := make([]any, len(info))
	for i, p := range info {
		port := map[string]any{}
		for key, value := range map[string]string{"ip": p.IP, "default_gw": p.Gateway, "dest_mac": p.Destination,
			"src_mac": p.Source} {
			if value != "" {
				port[key] = value
			}
		}
		ports[i] = port
	}
	return ports
}

// merged is base with overrides, in maps key by key, everything else as a whole.
func merged(base, overrides map[string]any) map[string]any {
	result := maps.Clone(base)
	for key, value := range overrides {
		lower, lowerIsMap := result[key].(map[string]any)
		upper, upperIsMap := value.(map[string]any)
		if lowerIsMap && upperIsMap {
			value = merged(lower, upper)
		}
		result[key] = value
	}
	return result
}

// CommandLine is TRex's arguments, given the configuration's file.
func (c Config) CommandLine(file string) []string {
	return append([]string{"-i", "--cfg", file, "-c", strconv.Itoa(c.Cores)}, c.Arguments...)
}

// RPC is the TCP port on which this configuration answers, extra settings included.
func (c Config) RPC() int {
	switch port := c.Extra["zmq_rpc_port"].(type) {
	case int:
		return port
	case int64:
		return int(port)
	case float64:
		return int(port)
	}
	return c.RPCPort
}
